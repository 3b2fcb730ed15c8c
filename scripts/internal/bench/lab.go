package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A lab is the environment of the measurements: the programs, and the server of all clients.
type lab struct {
	dir            string
	ws, unix, http string // the endpoints of the server
	ends           []func()
}

// newLab builds the programs, starts the server and checks it.
func newLab(profiled bool) (*lab, error) {
	dir, err := os.MkdirTemp("", "rpcx-bench-")
	if err != nil {
		return nil, err
	}
	l := &lab{dir: dir, ends: []func(){func() { os.RemoveAll(dir) }}}
	err = l.build(profiled)
	if err == nil {
		err = l.listen()
	}
	if err == nil {
		err = l.verify()
	}
	if err != nil {
		l.clear()
		return nil, err
	}
	return l, nil
}

// clear ends all processes and removes all files.
func (l *lab) clear() {
	for i := len(l.ends) - 1; i >= 0; i-- {
		l.ends[i]()
	}
}

func (l *lab) at(name string) string { return filepath.Join(l.dir, name) }

// rpcx returns a job that runs rpcx.
func (l *lab) rpcx(words ...string) job { return job{args: append([]string{l.at("rpcx")}, words...)} }

// build builds all programs, except rpcx if RPCX is the path of a binary.
func (l *lab) build(profiled bool) error {
	cmds := [][]string{{"scripts/build", l.at("rpcx")}}
	if built := os.Getenv("RPCX"); built != "" && !profiled {
		cmds = [][]string{{"cp", built, l.at("rpcx")}}
	}
	for _, name := range []string{"hello", "linked", "raw", "tuned", "server"} {
		cmds = append(cmds, []string{
			"go", "build", "-tags", "urfave_cli_no_template", "-trimpath", "-ldflags", "-s -w",
			"-o", l.at(name), "./scripts/internal/bench/" + name,
		})
	}
	for _, words := range cmds {
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if profiled {
			cmd.Env = append(cmd.Env, "RPCX_MAIN=scripts/internal/bench/profiled")
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(words, " "), err, out)
		}
	}
	return nil
}

// listen starts the server on a port and a Unix socket.
func (l *lab) listen() error {
	cmd := exec.Command(l.at("server"), l.at("s"))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	l.ends = append(l.ends, func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return fmt.Errorf("the server did not start: %w", err)
	}
	host := "127.0.0.1:" + strings.TrimSpace(port) + "/"
	l.ws, l.http, l.unix = "ws://"+host, "http://"+host, "unix:"+l.at("s")
	return nil
}

// verify checks the output of rpcx, to prove that the measured work is done.
func (l *lab) verify() error {
	requests, err := l.requests(1000)
	if err != nil {
		return err
	}
	for _, args := range [][]string{
		{"subscribe", l.ws, "ticks", "[1000,216]", "--count", "1000"},
		{"call", l.ws, "--batch", "--jobs", "64"},
	} {
		in, err := os.Open(requests)
		if err != nil {
			return err
		}
		cmd := exec.Command(l.at("rpcx"), args...)
		cmd.Stdin = in
		out, err := cmd.Output()
		in.Close()
		if err != nil {
			return fmt.Errorf("rpcx %s: %w", strings.Join(args, " "), err)
		}
		if n := bytes.Count(out, []byte("\n")); n != 1000 {
			return fmt.Errorf("rpcx %s printed %d lines, not 1000", strings.Join(args, " "), n)
		}
	}
	return nil
}

// requests returns a file with n lines for --batch.
func (l *lab) requests(n int) (string, error) {
	name := l.at(fmt.Sprintf("requests-%d", n))
	if _, err := os.Stat(name); err == nil {
		return name, nil
	}
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, `{"method":"echo","params":[%d]}`+"\n", i+1)
	}
	return name, os.WriteFile(name, b.Bytes(), 0o600)
}

// found reports whether a program of that name is installed.
func found(name string) bool {
	_, err := exec.LookPath(name)
	return !errors.Is(err, exec.ErrNotFound)
}
