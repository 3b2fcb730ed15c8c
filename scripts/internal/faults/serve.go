//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
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

// A server is rpcx serve, whose client is at fault.
type server struct {
	cmd    *exec.Cmd
	out    *bufio.Reader
	errs   bytes.Buffer
	conn   io.ReadWriteCloser // of one that has one client alone
	at     string             // where it listens
	secure *tls.Config
	begun  time.Time
}

// asker is what a client does on each transport.
func (t *transport) asker() func(*peer, *link) error {
	switch {
	case t.ws:
		return asksWS
	case t.http:
		return asksHTTP
	}
	return asksLines
}

// tryServe has a faulty client come to a server: beside it and after it, honest
// ones have to be served, and nothing of it may stay.
func (b *bench) tryServe(v *verdict, dir, id string) {
	s, err := b.serve(v.cell, dir, id)
	if err != nil {
		v.wrong("%v", err)
		return
	}
	defer s.cmd.Process.Kill()
	self := process{pid: s.cmd.Process.Pid}
	alone := v.cell.over.child
	open := 0
	if !alone {
		if err := b.honest(s, v.cell); err != nil {
			v.wrong("before the fault: %v", err)
		}
		open = self.settled(0, b.slack/2)
	}

	p := v.cell.newPeer(v.cell.luck(b.seed), func(at phase) { v.struck = at })
	over := make(chan error, 1)
	conn := s.conn
	if !alone {
		if conn, err = net.Dial(network(v.cell), s.at); err != nil {
			v.wrong("%v", err)
			return
		}
	}
	go func() { over <- p.come(conn, s.secure) }()
	select {
	case err = <-over:
	case <-time.After(b.timeout / 2):
		err = errOver
	}
	if v.cell.fault.kind == harmless && !v.cell.fault.loose && v.struck != never && err != nil && err != errOver {
		v.wrong("the client: %v", err)
	}
	if !alone {
		if err := b.honest(s, v.cell); err != nil {
			v.wrong("beside the fault: %v", err)
			v.slow = true
		}
	}
	if !v.cell.fault.clings {
		close(p.done)
		conn.Close()
	}
	if !alone {
		if now := self.settled(open, b.timeout+b.slack+patience); now > open && !v.cell.fault.clings {
			v.wrong("descriptors: %d before, %d after: %q", open, now, self.descriptors())
			v.slow = true
		}
		if err := b.honest(s, v.cell); err != nil {
			v.wrong("after the fault: %v", err)
			v.slow = true
		}
	}
	told := !alone || v.cell.fault.clings
	if told {
		s.cmd.Process.Signal(syscall.SIGTERM)
	}
	b.ended(v, s, told)
	if v.cell.fault.clings {
		close(p.done)
		conn.Close()
	}
	v.leftovers(b, dir, id)
}

func network(c cell) string {
	if c.over.name == "unix" {
		return "unix"
	}
	return "tcp"
}

// settled is how many descriptors a process has when that is want, or when it
// does not change any more.
func (p process) settled(want int, limit time.Duration) int {
	deadline := time.Now().Add(limit)
	n := len(p.descriptors())
	for time.Now().Before(deadline) && n > want {
		time.Sleep(limit / 50)
		n = len(p.descriptors())
	}
	return n
}

// serve starts the server of a cell.
func (b *bench) serve(c cell, dir, id string) (*server, error) {
	listen := c.over.scheme + "127.0.0.1:0"
	switch {
	case c.over.name == "unix":
		listen = "unix:" + filepath.Join(dir, "work", "near")
	case c.over.name == "exec":
		listen = "stdio:"
	case c.over.name == "ipc":
		listen = "ipc:"
	case c.over.http || c.over.ws:
		listen += "/"
	}
	args := []string{"serve", listen, "--on", "add=jq:.[0] + .[1]", "--on", "ticks=lines:while :; do echo 1; sleep 0.05; done", "--max-message", maxMessage}
	s := &server{begun: time.Now()}
	if c.over.tls {
		args = append(args, "--cert", b.cacert, "--key", b.key)
		s.secure = &tls.Config{InsecureSkipVerify: true}
	}
	s.cmd = exec.Command(b.rpcx, args...)
	s.cmd.Env, s.cmd.Dir, s.cmd.Stderr = environment(dir, id), filepath.Join(dir, "work"), &s.errs
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	s.cmd.WaitDelay = time.Second
	return s, s.start(c)
}

func (s *server) start(c cell) error {
	switch c.over.name {
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
		s.cmd.Process.Kill()
		s.cmd.Wait()
		return fmt.Errorf("serve did not listen: %q %s", line, s.errs.String())
	}
	s.at = strings.TrimSuffix(strings.TrimPrefix(says.Listening, c.over.scheme), "/")
	return nil
}

// pipes are a child's stdin and stdout.
type pipes struct {
	io.ReadCloser
	in io.WriteCloser
}

func (p pipes) Write(b []byte) (int, error) { return p.in.Write(b) }
func (p pipes) CloseWrite() error           { return p.in.Close() }
func (p pipes) CloseRead() error            { return p.ReadCloser.Close() }
func (p pipes) Close() error                { return errors.Join(p.in.Close(), p.ReadCloser.Close()) }

// come is what a client does on a connection.
func (p *peer) come(conn io.ReadWriteCloser, secure *tls.Config) error {
	raw, _ := conn.(net.Conn)
	if p.fault.at == atDial {
		p.strikeNow(head)
		p.fault.came(p, raw)
		return nil
	}
	if secure != nil {
		conn = tls.Client(raw, secure)
	}
	l := newLink(conn, raw)
	p.masks = true
	err := p.over.asker()(p, l)
	if !p.fault.clings {
		l.close()
	}
	return err
}

// honest asks what an honest client asks.
func (b *bench) honest(s *server, c cell) error {
	over := *c.over
	over.events = false
	p := cell{c.run, &over, faults()[0]}.newPeer(1, func(phase) {})
	conn, err := net.Dial(network(c), s.at)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer close(p.done)
	return p.come(conn, s.secure)
}

// ended waits for the server's end and judges it.
func (b *bench) ended(v *verdict, s *server, told bool) {
	begun := time.Now()
	limit := b.timeout + b.slack + patience
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { s.cmd.Process.Kill() })
	if s.out != nil {
		io.Copy(io.Discard, s.out)
	}
	s.cmd.Wait()
	stop()
	r := step{args: s.cmd.Args[1:], stderr: s.errs.String(), status: s.cmd.ProcessState.ExitCode(), took: time.Since(begun)}
	if usage, ok := s.cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.rss = int64(usage.Maxrss)
	}
	v.steps = append(v.steps, r)
	signal := s.cmd.ProcessState.Sys().(syscall.WaitStatus).Signal()
	switch {
	case ctx.Err() != nil:
		v.wrong("it did not end within %v", limit)
		v.slow = true
	case told && signal != syscall.SIGTERM && r.status != 143:
		v.wrong("status %d after SIGTERM", r.status)
	case !told && r.status != 0 && r.status != 5 && r.status != 7:
		v.wrong("status %d at the end of its connection", r.status)
	}
	if r.rss > mostRSS {
		v.wrong("it took %d MB", r.rss>>10)
	}
	if trace.MatchString(r.stderr) {
		v.wrong("stderr has a stack trace")
	}
}
