package child

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"rpcx/wire"
	"rpcx/wire/transport"
)

// These constants limit how long rpcx waits when a child ends.
const (
	exitTimeout   = time.Second            // from the end of the child's stdout to its exit
	quietTimeout  = time.Second            // from the child's exit to the end of its stdout, which a grandchild may keep open
	stderrTimeout = 250 * time.Millisecond // from the child's exit to the last lines on its stderr
)

// childPipes are the local ends of a child's pipes.
type childPipes struct {
	in interface {
		io.Writer
		SetWriteDeadline(time.Time) error
	}
	closeIn func() error // closes the child's stdin
	out     interface {
		io.ReadCloser
		SetReadDeadline(time.Time) error
	}
}

// A childStream is the byte stream to and from a child.
type childStream struct {
	childPipes
	p       *Process
	stderr  *stderrPump
	timeout time.Duration   // the limit for each step of Close
	hurry   context.Context // Config.Hurry

	mu      sync.Mutex // guards the deadlines of in and out
	closing chan struct{}

	reading sync.Mutex // held by Read, and by the last step of Close
	ended   chan struct{}

	inOnce, closeOnce sync.Once
	inClosed          atomic.Bool // set by CloseWrite
}

func newChildStream(p *Process, pipes childPipes, stderr *stderrPump, c transport.Config) *childStream {
	s := &childStream{
		childPipes: pipes, p: p, stderr: stderr, timeout: c.CloseTimeout, hurry: c.Hurry,
		closing: make(chan struct{}), ended: make(chan struct{}),
	}
	go s.watch()
	return s
}

// watch limits reads and writes once the child has exited, because a grandchild may keep the pipes open forever.
func (s *childStream) watch() {
	<-s.p.Done()
	s.bound(quietTimeout)
}

func (s *childStream) bound(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !wire.IsClosed(s.closing) {
		s.out.SetReadDeadline(time.Now().Add(d))
		s.in.SetWriteDeadline(time.Now().Add(d))
	}
}

// Read reads the child's stdout. When stdout ends, Read returns a *wire.CloseError if the child exits, too. Otherwise
// it returns io.EOF, and Exited returns the *wire.CloseError when the child exits.
func (s *childStream) Read(b []byte) (int, error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	for !wire.IsClosed(s.ended) && !wire.IsClosed(s.closing) {
		exited := wire.IsClosed(s.p.done)
		if exited {
			s.bound(quietTimeout)
		}
		n, err := s.out.Read(b)
		switch {
		case n > 0:
			return n, nil
		case err == nil, errors.Is(err, os.ErrDeadlineExceeded) && !exited:
			continue // only now has the child exited; read the output from before
		}
		close(s.ended)
	}
	return 0, s.end(exitTimeout)
}

// Exited implements wire.Exiter.
func (s *childStream) Exited() error { return s.end(math.MaxInt64) }

// end returns the error for the end of the child's stdout. It is io.EOF if the child does not exit within d.
func (s *childStream) end(d time.Duration) error {
	switch {
	case s.waitExit(d):
		return s.exitError()
	case wire.IsClosed(s.closing):
		return &wire.CloseError{Clean: true}
	}
	return io.EOF
}

// waitExit waits until the child exits, but at most d and not after Close has been called. It reports whether the child
// has exited.
func (s *childStream) waitExit(d time.Duration) bool {
	select {
	case <-s.p.Done():
	case <-s.closing:
	case <-time.After(d):
	}
	return wire.IsClosed(s.p.done)
}

// exitError returns the error for a connection that ended because the child exited.
func (s *childStream) exitError() *wire.CloseError {
	if !wire.IsClosed(s.closing) {
		s.stderr.settle(stderrTimeout)
	}
	exit, signal := s.p.Status()
	return &wire.CloseError{
		Clean: exit == 0,
		Child: &wire.Child{Command: s.p.cmd.Args[0], Exit: exit, Signal: signal, Stderr: s.stderr.lines()},
	}
}

// Write writes to the child's stdin.
func (s *childStream) Write(b []byte) (int, error) {
	if s.inClosed.Load() && !wire.IsClosed(s.closing) {
		return 0, &wire.CloseError{Err: errors.New("the child's stdin is already closed")}
	}
	if !wire.IsClosed(s.p.done) {
		if n, err := s.in.Write(b); err == nil {
			return n, nil
		}
	}
	return 0, s.writeError()
}

// writeError returns why a write to the child failed. It first waits until the child's output has been read, because the
// reader might otherwise see this error before the output.
func (s *childStream) writeError() error {
	if !s.waitExit(exitTimeout) {
		if wire.IsClosed(s.closing) {
			return &wire.CloseError{Clean: true}
		}
		return &wire.CloseError{Err: errors.New("the child has closed its stdin")}
	}
	select {
	case <-s.ended:
	case <-s.closing:
	case <-time.After(2 * quietTimeout):
	}
	return s.exitError()
}

// CloseWrite closes the child's stdin.
func (s *childStream) CloseWrite() (err error) {
	s.inOnce.Do(func() {
		s.inClosed.Store(true)
		err = s.closeIn()
	})
	return err
}

// Close closes the child's stdin, reads the rest of its output, and ends its group. It waits timeout for the child to
// exit, then asks the group to exit, and kills the group after another timeout. When Close has returned, no process of
// the group is running, except one that SIGKILL cannot end.
func (s *childStream) Close() error {
	s.closeOnce.Do(s.close)
	return nil
}

func (s *childStream) close() {
	s.mu.Lock()
	close(s.closing)
	past := time.Unix(1, 0)
	s.out.SetReadDeadline(past)
	s.in.SetWriteDeadline(past)
	s.mu.Unlock()
	s.CloseWrite()
	s.reading.Lock() // waits until Read has returned
	defer s.reading.Unlock()

	s.out.SetReadDeadline(time.Time{})
	drained := wire.Go(func() { io.Copy(io.Discard, s.out) }) // a child that is blocked in a write would not exit
	patience, cancel := transport.Within(s.hurry, s.timeout, 0)
	defer cancel()
	wire.Either(s.p.Done(), patience.Done())
	s.p.EndWithin(s.hurry, s.timeout)
	s.stderr.close(s.hurry, s.timeout)
	s.out.Close()
	<-drained
}
