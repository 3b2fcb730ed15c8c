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
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A bench has the state that all cells share.
type bench struct {
	rpcx    string
	self    string
	dir     string
	cacert  string
	key     string
	timeout time.Duration // timeout of each command
	slack   time.Duration // how much later than the timeout a command may end
	seed    uint64
	verbose bool
	number  atomic.Int64
	usual   sync.Map // a process's resources without a fault, by command and transport
}

// maxMessage is the value for --max-message, and mostMessage the same number in bytes.
const (
	maxMessage  = "64K"
	mostMessage = 64 << 10
)

// mostRSS bounds the memory of a command in KiB.
const mostRSS = 300 << 10

// A step is the result of one command line.
type step struct {
	args           []string
	stdout, stderr string
	status         int
	took           time.Duration
	rss            int64 // in KiB
	killed         bool  // the command did not end in time
}

// A verdict is the result of a cell.
type verdict struct {
	cell     cell
	occurred phase
	steps    []step
	faults   []string // the mistakes
	slow     bool     // a mistake could be due to a busy machine
	took     time.Duration
	holds    string // the resources of the process that continues
}

func (v *verdict) wrong(format string, args ...any) {
	v.faults = append(v.faults, fmt.Sprintf(format, args...))
}

// try runs a cell.
func (b *bench) try(c cell) (v verdict) {
	v.cell = c
	begun := time.Now()
	defer func() { v.took = time.Since(begun) }()
	if c.run.own {
		b.faultyClient(&v)
		return v
	}
	b.faultyPeer(&v)
	if c.run.stays && !c.holdsOn() {
		b.compare(&v, func(c cell, still time.Duration) *held { return b.stays(&v, c, still) })
	}
	return v
}

// A room is the environment of a cell's commands: a directory, and a mark for their processes.
type room struct{ dir, id string }

// room returns a new room that contains the cell's files.
func (b *bench) room(c cell) room {
	r := room{id: fmt.Sprintf("%d-%d", os.Getpid(), b.number.Add(1))}
	r.dir = filepath.Join(b.dir, r.id)
	for _, sub := range []string{"run", "tmp", "home", "work"} {
		must(os.MkdirAll(filepath.Join(r.dir, sub), 0o700))
	}
	for name, text := range c.run.files {
		must(os.WriteFile(filepath.Join(r.dir, "work", name), []byte(text), 0o600))
	}
	return r
}

func (r room) leave() { os.RemoveAll(r.dir) }

// faultyPeer runs a cell's commands with a faulty peer.
func (b *bench) faultyPeer(v *verdict) {
	c := v.cell
	r := b.room(c)
	defer r.leave()
	var occurred atomic.Value
	h, err := c.open(r, b.self, c.luck(b.seed), func(at phase) { occurred.Store(at) })
	if err != nil {
		v.wrong("no peer: %v", err)
		return
	}
	at := places{peer: h.endpoint, listen: c.over.listen, room: r}
	var s *server
	if c.run.listens != nil {
		s = b.server(b.arguments(c.run.listens, c, at), r)
		must(s.listen(""))
		defer s.kill()
		at.at = s.at
	}
	for i, words := range c.run.steps {
		stdin := ""
		if i == 0 {
			stdin = c.run.stdin
		}
		if i == len(c.run.steps)-1 && i > 0 {
			for _, p := range marked(r.id) {
				if kib := p.peak(); kib > mostRSS {
					v.wrong("%s used %d MB", p.name, kib>>10)
				}
			}
		}
		v.steps = append(v.steps, b.step(b.arguments(words, c, at), stdin, r))
	}
	if at, ok := occurred.Load().(phase); ok {
		v.occurred = at
	} else if text, err := os.ReadFile(filepath.Join(r.dir, "occurred")); err == nil {
		v.occurred = phase(text)
	}
	if c.over.child && c.fault.kind == refused {
		v.occurred = head
	}
	b.judge(v)
	if s != nil {
		s.cmd.Process.Signal(syscall.SIGTERM)
		b.ended(v, s, true)
	}
	v.taped(r)
	v.leftovers(b, r) // while the peer still runs, because its end must not be needed
	h.end()
}

// places has the values of placeholders.
type places struct {
	peer   string // endpoint of the peer
	listen string // listen address
	at     string // address of the listener
	room   room
}

// arguments replaces the placeholders in a command line.
func (b *bench) arguments(words []string, c cell, at places) []string {
	flags := map[string][]string{
		"{E}": {at.peer}, "{rpcx}": {b.rpcx}, "{listen}": {at.listen}, "{at}": {at.at},
		"{timeout}": {b.timeout.String()},
		"{time}":    {"--timeout", b.timeout.String()},
		"{connect}": {"--connect-timeout", b.timeout.String()},
		"{dial}":    {"--max-message", maxMessage},
		"{guard}":   {"--max-message", maxMessage},
	}
	if c.over.child { // without a connection, rpcx rejects the flag
		flags["{connect}"] = []string{}
	}
	if c.over.tls {
		flags["{dial}"] = append(flags["{dial}"], "--cacert", b.cacert)
		flags["{guard}"] = append(flags["{guard}"], "--cert", b.cacert, "--key", b.key)
	}
	if c.run.tapes && (c.over.http || c.over.ws) {
		flags["{dial}"] = append(flags["{dial}"], "-H", "Authorization: Bearer "+secretWord)
	}
	var args []string
	for _, w := range words {
		into, ok := flags[w]
		if !ok {
			into = []string{w}
		}
		for _, w := range into {
			args = append(args, strings.ReplaceAll(w, "{dir}", filepath.Join(at.room.dir, "work")))
		}
	}
	if i := c.luck(b.seed) % 2; i == 1 { // half of the runs print errors as text, the others as JSON
		return args
	}
	for i, w := range args {
		if w == "--" {
			return append(append(append([]string{}, args[:i]...), "--errors", "json"), args[i:]...)
		}
	}
	return append(args, "--errors", "json")
}

// listenAddress returns the listen address of a cell's server.
func (c cell) listenAddress(r room) string {
	switch {
	case c.over.name == "unix":
		return "unix:" + filepath.Join(r.dir, "work", "listen")
	case c.over.name == "exec":
		return "stdio:"
	case c.over.name == "ipc":
		return "ipc:"
	case c.over.http || c.over.ws:
		return c.over.scheme + "127.0.0.1:0/"
	}
	return c.over.scheme + "127.0.0.1:0"
}

// environment returns the environment for a room's processes.
func environment(r room) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "FAULTS_CELL=" + r.id, "NO_PROXY=*",
		"HOME=" + filepath.Join(r.dir, "home"), "XDG_RUNTIME_DIR=" + filepath.Join(r.dir, "run"), "TMPDIR=" + filepath.Join(r.dir, "tmp"),
	}
}

// An output is a process's output, without the middle of a flood: the system counts this program's memory for its children, too.
type output struct {
	first, last []byte
	cut         bool // lines in the middle are missing
}

const mostOutput = 256 << 10 // size of each of the two parts in bytes

func (o *output) Write(b []byte) (int, error) {
	n := min(len(b), mostOutput-len(o.first))
	o.first = append(o.first, b[:n]...)
	o.last = append(o.last, b[n:]...)
	if len(o.last) > 2*mostOutput {
		o.last, o.cut = bytes.Clone(o.last[len(o.last)-mostOutput:]), true
	}
	return len(b), nil
}

// String returns whole lines.
func (o *output) String() string {
	if !o.cut {
		return string(o.first) + string(o.last)
	}
	return string(o.first[:bytes.LastIndexByte(o.first, '\n')+1]) + string(o.last[bytes.IndexByte(o.last, '\n')+1:])
}

// step runs rpcx.
func (b *bench) step(args []string, stdin string, r room) step {
	unlessSignalled()
	ctx, cancel := context.WithTimeout(context.Background(), b.timeout+b.slack+5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.rpcx, args...)
	cmd.Env = environment(r)
	cmd.Dir = filepath.Join(r.dir, "work")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs output
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = time.Second
	begun := time.Now()
	err := cmd.Run()
	s := step{args: args, stdout: out.String(), stderr: errs.String(), took: time.Since(begun), killed: ctx.Err() != nil}
	if cmd.ProcessState != nil {
		s.status = cmd.ProcessState.ExitCode()
		if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			s.rss = int64(usage.Maxrss) // the type differs on other platforms
		}
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		s.stderr += "\nfaults: something holds its stdout or stderr open\n"
		s.killed = true
	}
	return s
}
