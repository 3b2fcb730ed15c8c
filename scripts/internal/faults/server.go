//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A server is rpcx as serve, record, replay or a named session, a process that must outlive a faulty client or peer.
type server struct {
	cmd  *exec.Cmd
	out  *bufio.Reader
	errs bytes.Buffer
	conn io.ReadWriteCloser // the client, if the server has only one
	at   string             // listen address
}

// server starts rpcx with args in a room.
func (b *bench) server(args []string, r room) *server {
	unlessSignalled()
	s := &server{cmd: exec.Command(b.rpcx, args...)}
	s.cmd.Env, s.cmd.Dir, s.cmd.Stderr = environment(r), filepath.Join(r.dir, "work"), &s.errs
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	s.cmd.WaitDelay = time.Second
	return s
}

// self returns the server's process.
func (s *server) self() process { return process{pid: s.cmd.Process.Pid} }

// listen waits until the server prints its listen address. scheme is the scheme of its endpoint.
func (s *server) listen(scheme string) error {
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	s.out = bufio.NewReader(out)
	line, err := s.out.ReadBytes('\n')
	var says struct{ Listening string }
	if err != nil || json.Unmarshal(line, &says) != nil {
		s.kill()
		return fmt.Errorf("it did not listen: %q %s", line, s.errs.String())
	}
	s.at = strings.TrimSuffix(strings.TrimPrefix(says.Listening, scheme), "/")
	return nil
}

// start starts the server of a cell with a faulty client.
func (s *server) start(over *transport) error {
	switch over.name {
	case "exec":
		in, err := s.cmd.StdinPipe()
		if err != nil {
			return err
		}
		out, err := s.cmd.StdoutPipe()
		if err != nil {
			return err
		}
		s.conn = pipes{out, in}
		return s.cmd.Start()
	case "ipc":
		fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		ours, theirs := os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
		defer theirs.Close()
		defer ours.Close()
		if s.conn, err = net.FileConn(ours); err != nil {
			return err
		}
		s.cmd.ExtraFiles = []*os.File{theirs}
		s.cmd.Env = append(s.cmd.Env, "NODE_CHANNEL_FD=3", "NODE_CHANNEL_SERIALIZATION_MODE=json")
		return s.cmd.Start()
	}
	return s.listen(over.scheme)
}

// daemon starts a session's process as rpcx connect does, but with a stderr, and waits until it is ready. It returns false if the
// process ends first.
func (s *server) daemon(name string, words []string) bool {
	ordersIn, ordersOut, err := os.Pipe()
	must(err)
	newsIn, newsOut, err := os.Pipe()
	must(err)
	s.cmd.Args = []string{"rpcx", "session:", name}
	s.cmd.ExtraFiles = []*os.File{ordersIn, newsOut}
	err = s.cmd.Start()
	ordersIn.Close()
	newsOut.Close()
	must(err)
	defer ordersOut.Close()
	defer newsIn.Close()
	must(json.NewEncoder(ordersOut).Encode(map[string]any{"words": words}))
	for lines := bufio.NewScanner(newsIn); lines.Scan(); {
		var news struct{ Live bool }
		if json.Unmarshal(lines.Bytes(), &news) == nil && news.Live {
			return true
		}
	}
	s.kill()
	return false
}

func (s *server) kill() {
	s.cmd.Process.Kill()
	s.cmd.Wait()
}

// wait waits for the server's end, at most for limit, and reports whether it has ended.
func (s *server) wait(limit time.Duration) bool {
	late := time.AfterFunc(limit, func() { s.cmd.Process.Kill() })
	if s.out != nil {
		io.Copy(io.Discard, s.out)
	}
	s.cmd.Wait()
	return late.Stop()
}

// pipes has a child's stdin and stdout.
type pipes struct {
	io.ReadCloser
	in io.WriteCloser
}

func (p pipes) Write(b []byte) (int, error) { return p.in.Write(b) }
func (p pipes) CloseWrite() error           { return p.in.Close() }
func (p pipes) CloseRead() error            { return p.ReadCloser.Close() }
func (p pipes) Close() error                { return errors.Join(p.in.Close(), p.ReadCloser.Close()) }
