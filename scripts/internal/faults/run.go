//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// A bench is what all cells have in common.
type bench struct {
	rpcx    string
	self    string
	dir     string
	cacert  string
	key     string
	timeout time.Duration // of each command
	slack   time.Duration // how much later it may end
	seed    uint64
	verbose bool
	number  atomic.Int64
}

// maxMessage is what is given as --max-message.
const maxMessage = "64K"

// mostRSS is how much memory a command may take, in KiB.
const mostRSS = 300 << 10

// A step is what came of one command line.
type step struct {
	args           []string
	stdout, stderr string
	status         int
	took           time.Duration
	rss            int64 // in KiB
	killed         bool  // it did not end in time
}

// A verdict is what came of a cell.
type verdict struct {
	cell   cell
	struck phase
	steps  []step
	faults []string // what is wrong
	slow   bool     // of that, something took too long
	took   time.Duration
}

func (v *verdict) wrong(format string, args ...any) {
	v.faults = append(v.faults, fmt.Sprintf(format, args...))
}

// try runs a cell.
func (b *bench) try(c cell) (v verdict) {
	v.cell = c
	begun := time.Now()
	defer func() { v.took = time.Since(begun) }()
	id := fmt.Sprintf("%d-%d", os.Getpid(), b.number.Add(1))
	dir := filepath.Join(b.dir, id)
	for _, sub := range []string{"run", "tmp", "home", "work"} {
		must(os.MkdirAll(filepath.Join(dir, sub), 0o700))
	}
	defer os.RemoveAll(dir)
	for name, text := range c.run.files {
		must(os.WriteFile(filepath.Join(dir, "work", name), []byte(text), 0o600))
	}
	if c.run.own {
		b.tryServe(&v, dir, id)
		return v
	}
	var struck atomic.Value
	h, err := c.open(dir, b.self, c.luck(b.seed), func(at phase) { struck.Store(at) })
	if err != nil {
		v.wrong("no peer: %v", err)
		return v
	}
	for i, words := range c.run.steps {
		stdin := ""
		if i == 0 {
			stdin = c.run.stdin
		}
		if i == len(c.run.steps)-1 && i > 0 {
			for _, p := range marked(id) {
				if kib := p.peak(); kib > mostRSS {
					v.wrong("%s has taken %d MB", p.name, kib>>10)
				}
			}
		}
		v.steps = append(v.steps, b.step(b.words(words, c, h.endpoint, dir), stdin, dir, id))
	}
	if at, ok := struck.Load().(phase); ok {
		v.struck = at
	} else if text, err := os.ReadFile(filepath.Join(dir, "struck")); err == nil {
		v.struck = phase(text)
	}
	if c.over.child && c.fault.kind == refused {
		v.struck = head
	}
	b.judge(&v)
	v.leftovers(b, dir, id) // before the peer goes: nothing may depend on that
	h.end()
	return v
}

// words fills in a command line.
func (b *bench) words(words []string, c cell, endpoint, dir string) []string {
	var args []string
	for _, w := range words {
		switch w {
		case "{E}":
			w = endpoint
		case "{rpcx}":
			w = b.rpcx
		case "{timeout}":
			w = b.timeout.String()
		case "{time}":
			args = append(args, "--timeout", b.timeout.String())
			continue
		case "{dial}":
			args = append(args, "--max-message", maxMessage)
			if c.over.tls {
				args = append(args, "--cacert", b.cacert)
			}
			continue
		case "{listen}":
			w = c.over.listen
		}
		args = append(args, strings.ReplaceAll(w, "{dir}", filepath.Join(dir, "work")))
	}
	if i := c.luck(b.seed) % 2; i == 1 { // failures as text in one half, as JSON in the other
		return args
	}
	for i, w := range args {
		if w == "--" {
			return append(append(append([]string{}, args[:i]...), "--errors", "json"), args[i:]...)
		}
	}
	return append(args, "--errors", "json")
}

// environment is that of a cell's processes.
func environment(dir, id string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "FAULTS_CELL=" + id, "NO_PROXY=*",
		"HOME=" + filepath.Join(dir, "home"), "XDG_RUNTIME_DIR=" + filepath.Join(dir, "run"), "TMPDIR=" + filepath.Join(dir, "tmp"),
	}
}

// step runs rpcx.
func (b *bench) step(args []string, stdin, dir, id string) step {
	ctx, cancel := context.WithTimeout(context.Background(), b.timeout+b.slack+5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.rpcx, args...)
	cmd.Env = environment(dir, id)
	cmd.Dir = filepath.Join(dir, "work")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = time.Second
	begun := time.Now()
	err := cmd.Run()
	s := step{args: args, stdout: out.String(), stderr: errs.String(), took: time.Since(begun), killed: ctx.Err() != nil}
	if cmd.ProcessState != nil {
		s.status = cmd.ProcessState.ExitCode()
		if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			s.rss = int64(usage.Maxrss) // of another width on other machines
		}
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		s.stderr += "\nfaults: something holds its stdout or stderr open\n"
		s.killed = true
	}
	return s
}
