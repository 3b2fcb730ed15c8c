//go:build linux

package main

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"syscall"
	"time"
)

// asker returns the behaviour of a client on the transport.
func (t *transport) asker() func(*peer, *link) error {
	switch {
	case t.ws:
		return asksWS
	case t.http:
		return asksHTTP
	}
	return asksLines
}

// faultyClient connects a faulty client to a server. Correct clients must be served at the same time and afterwards, and the server must
// not keep resources for the faulty client.
func (b *bench) faultyClient(v *verdict) {
	b.serveClient(v, v.cell, syscall.SIGTERM, 0)
	if v.cell.over.child { // the server has ended with its client
		return
	}
	b.compare(v, func(c cell, still time.Duration) *held { return b.serveClient(v, c, syscall.SIGQUIT, still) })
}

// serveClient connects a cell's client to a server, and ends the server with a signal when all clients have closed. For SIGQUIT, it
// waits until the server is idle and returns its resources.
func (b *bench) serveClient(v *verdict, c cell, end syscall.Signal, still time.Duration) *held {
	r := b.room(c)
	defer r.leave()
	other, err := correctPeer(c, r)
	if err != nil {
		v.wrong("%v", err)
		return nil
	}
	defer other.end()
	args := b.arguments(c.run.listens, c, places{peer: other.endpoint, listen: c.listenAddress(r), room: r})
	s := b.server(args, r)
	if err := s.start(c.over); err != nil {
		v.wrong("%v", err)
		return nil
	}
	defer s.kill()
	alone := c.over.child // a child has only one client
	open := 0
	honest := func(when string) {
		if alone {
			return
		}
		if err := b.correctClient(s, c); err != nil {
			v.wrong("%s the fault: %v", when, err)
			v.slow = true
		}
	}
	if honest("before"); !alone {
		open = s.self().settled(0, b.slack/2)
	}
	leave, ok := b.performFault(v, s, c)
	if !ok {
		return nil
	}
	honest("beside")
	stays := c.fault.staysOpen && end == syscall.SIGTERM // a client must not keep the server running
	if !stays {
		if leave(); !alone {
			b.awaitRelease(v, s, r, open)
		}
	}
	honest("after")
	if end == syscall.SIGQUIT {
		return s.holds(v, still)
	}
	told := !alone || stays
	if told {
		s.cmd.Process.Signal(end)
	}
	b.ended(v, s, told)
	v.taped(r)
	if stays {
		leave()
	}
	v.leftovers(b, r)
	return nil
}

// performFault lets a cell's client perform its fault, for at most half of a command's timeout. The returned function closes the client.
func (b *bench) performFault(v *verdict, s *server, c cell) (leave func(), ok bool) {
	var err error
	conn := s.conn
	if conn == nil {
		if conn, err = net.Dial(network(c), s.at); err != nil {
			v.wrong("%v", err)
			return nil, false
		}
	}
	occurred := make(chan phase, 1)
	p := c.newPeer(c.luck(b.seed), func(at phase) { occurred <- at })
	over := make(chan error, 1)
	go func() { over <- p.playClient(conn) }()
	select {
	case err = <-over:
	case <-time.After(b.timeout / 2):
		err = errOver
	}
	hit := never
	select {
	case hit = <-occurred:
	default:
	}
	if c == v.cell {
		v.occurred = hit
	}
	if c.fault.kind == harmless && !c.fault.anyOutput && hit != never && err != nil && err != errOver {
		v.wrong("the client: %v", err)
	}
	return func() {
		close(p.done)
		conn.Close()
	}, true
}

// awaitRelease waits until a server has no more file descriptors than before and no child processes.
func (b *bench) awaitRelease(v *verdict, s *server, r room, open int) {
	limit := b.timeout + b.slack + patience
	if now := s.self().settled(open, limit); now > open {
		v.wrong("descriptors: %d before, %d after: %q", open, now, s.self().descriptors())
		v.slow = true
	}
	var others []process
	for deadline := time.Now().Add(limit); ; time.Sleep(lookEvery) {
		others = nil
		for _, p := range marked(r.id) {
			if p.pid != s.cmd.Process.Pid {
				others = append(others, p)
			}
		}
		if len(others) == 0 {
			return
		}
		if time.Now().After(deadline) {
			break
		}
	}
	v.slow = true
	for _, p := range others {
		v.wrong("it still has process %d, %s", p.pid, p.name)
	}
}

func network(c cell) string {
	if c.over.name == "unix" {
		return "unix"
	}
	return "tcp"
}

// playClient plays a client on a connection.
func (p *peer) playClient(conn io.ReadWriteCloser) error {
	raw, _ := conn.(net.Conn)
	if p.fault.at == atDial {
		p.recordFault(head)
		p.fault.clientDial(p, raw)
		return nil
	}
	if p.over.tls {
		conn = tls.Client(raw, &tls.Config{InsecureSkipVerify: true})
	}
	l := newLink(conn, raw)
	p.masks = true
	err := p.over.asker()(p, l)
	if !p.fault.staysOpen {
		l.close()
	}
	return err
}

// correctClient sends the requests of a correct client.
func (b *bench) correctClient(s *server, c cell) error {
	over := *c.over
	over.events = false
	p := cell{c.run, &over, faults()[0]}.newPeer(1, func(phase) {})
	conn, err := net.Dial(network(c), s.at)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer close(p.done)
	return p.playClient(conn)
}

// correctPeer opens the peer to which a recorder passes on its clients' messages.
func correctPeer(c cell, r room) (host, error) {
	if !c.run.passes {
		return host{end: func() {}}, nil
	}
	for _, over := range transports {
		if over.name == "tcp" {
			honest := *c.run
			honest.peer = adder
			return cell{&honest, over, faults()[0]}.open(r, "", 1, func(phase) {})
		}
	}
	return host{}, errors.New("no tcp")
}

// ended waits for the end of a server and checks it.
func (b *bench) ended(v *verdict, s *server, told bool) {
	begun := time.Now()
	limit := b.timeout + b.slack + patience
	inTime := s.wait(limit)
	r := step{args: s.cmd.Args[1:], stderr: s.errs.String(), status: s.cmd.ProcessState.ExitCode(), took: time.Since(begun)}
	if usage, ok := s.cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.rss = int64(usage.Maxrss)
	}
	v.steps = append(v.steps, r)
	signal := s.cmd.ProcessState.Sys().(syscall.WaitStatus).Signal()
	switch {
	case !inTime:
		v.wrong("it did not end within %v", limit)
		v.slow = true
	case told && signal != syscall.SIGTERM && r.status != 143:
		v.wrong("status %d after SIGTERM", r.status)
	case !told && r.status == 4 && v.cell.run.name == "replay-client": // it got a request that is not on its tape
	case !told && r.status != 0 && r.status != 5 && r.status != 7:
		v.wrong("status %d at the end of its connection", r.status)
	}
	if tooMuch(r.rss) {
		v.wrong("it took %d MB", r.rss>>10)
	}
	if trace.MatchString(r.stderr) {
		v.wrong("stderr has a stack trace")
	}
}
