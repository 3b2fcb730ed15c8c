package child

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"rpcx/wire"
	"rpcx/wire/transport"
)

// These limits bound the waits at a child's end.
const (
	exitTimeout   = time.Second            // from the end of stdout to the exit
	quietTimeout  = time.Second            // from the exit to the end of stdout, which a grandchild may have open
	stderrTimeout = 250 * time.Millisecond // from the exit to the last lines of stderr
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
	timeout time.Duration   // bounds each step of Close
	hurry   context.Context // Config.Hurry

	mu      sync.Mutex // guards the deadlines of in and out
	closing chan struct{}

	reading sync.Mutex // held by Read, and by the last step of Close
	ended   chan struct{}
	half    bool // Read has returned io.EOF

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

// watch ends reads and writes after the child's exit, because a grandchild may keep the pipes open forever.
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

// Read reads the child's stdout. At the end, it returns a *wire.CloseError if the child also exits. Otherwise it
// returns io.EOF, and later the *wire.CloseError of the exit.
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
			continue // the child has exited, and its earlier output remains
		}
		close(s.ended)
	}
	return 0, s.end()
}

// end returns how the child's stdout ended.
func (s *childStream) end() error {
	patience := exitTimeout
	if s.half {
		patience = 1<<63 - 1
	}
	if s.waitExit(patience) {
		return s.exitError()
	}
	if wire.IsClosed(s.closing) {
		return &wire.CloseError{Clean: true}
	}
	s.half = true
	return io.EOF
}

// waitExit waits at most d for the child's exit, and not beyond Close.
func (s *childStream) waitExit(d time.Duration) bool {
	select {
	case <-s.p.Done():
	case <-s.closing:
	case <-time.After(d):
	}
	return wire.IsClosed(s.p.done)
}

// exitError returns the error of a connection that ended with the child's exit.
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

// writeError returns why writing to the child failed. It first waits until the child's output has been read, because this
// error may end the connection for the reader.
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

// Close closes the child's stdin, reads the rest of its output, and ends its group: it asks after timeout, and kills
// after another timeout. When Close returns, no process of the group runs, unless SIGKILL does not end it.
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
	s.reading.Lock() // Read has returned
	defer s.reading.Unlock()

	s.out.SetReadDeadline(time.Time{})
	drained := make(chan struct{})
	go func() {
		io.Copy(io.Discard, s.out) // a child that is blocked in a write does not exit
		close(drained)
	}()
	patience, cancel := transport.Within(s.hurry, s.timeout, 0)
	defer cancel()
	select {
	case <-s.p.Done():
	case <-patience.Done():
	}
	s.p.EndWithin(s.hurry, s.timeout)
	s.stderr.close(s.hurry, s.timeout)
	s.out.Close()
	<-drained
}
