// Package stdio uses the stdin and stdout of this process as a connection.
package stdio

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"

	"rpcx/wire"
	"rpcx/wire/transport"
)

// Dial connects over stdin and stdout. The peer is the program that started this process.
func Dial(_ context.Context, _ transport.Address, c transport.Config) (wire.Conn, error) {
	s, err := newStdio(c)
	if err != nil {
		return nil, err
	}
	return c.Frame(s, "")
}

// Listen returns a listener whose only client is the parent process.
func Listen(_ context.Context, _ transport.Address, c transport.Config) (transport.Listener, error) {
	if c.Token != "" {
		return nil, transport.UsageHint("use ws:// or http://", "stdio: does not support --token")
	}
	s, err := newStdio(c)
	if err != nil {
		return nil, err
	}
	conn, err := c.Frame(s, "")
	if err != nil {
		return nil, err
	}
	return transport.Single(conn), nil
}

// A stdioStream combines stdin and stdout into one byte stream.
type stdioStream struct {
	in       io.ReadCloser
	out      io.WriteCloser
	outOnce  sync.Once
	closed   chan struct{}
	closeAll sync.Once
}

// newStdio uses the stdin and stdout in c, or those of this process. Files are read and written with a fileStream,
// which Close can interrupt.
func newStdio(c transport.Config) (*stdioStream, error) {
	s := &stdioStream{in: c.Stdin, out: c.Stdout, closed: make(chan struct{})}
	if s.in == nil {
		s.in = os.Stdin
	}
	if s.out == nil {
		s.out = os.Stdout
	}
	if f, ok := s.in.(*os.File); ok {
		in, err := newFileStream(f)
		if err != nil {
			return nil, wire.NewFault(wire.IO, "stdin: "+err.Error(), err)
		}
		s.in = in
	}
	if f, ok := s.out.(*os.File); ok {
		out, err := newFileStream(f)
		if err != nil {
			s.in.Close()
			return nil, wire.NewFault(wire.IO, "stdout: "+err.Error(), err)
		}
		s.out = out
	}
	return s, nil
}

// Read reads stdin.
func (s *stdioStream) Read(b []byte) (int, error) {
	n, err := s.in.Read(b)
	if err != nil && wire.IsClosed(s.closed) {
		err = &wire.CloseError{Clean: true}
	}
	return n, err
}

// Write writes to stdout. Its errors are *wire.CloseError.
func (s *stdioStream) Write(b []byte) (int, error) {
	n, err := s.out.Write(b)
	switch {
	case err == nil:
		return n, nil
	case wire.IsClosed(s.closed), errors.Is(err, os.ErrClosed), errors.Is(err, io.ErrClosedPipe):
		return n, &wire.CloseError{Clean: true}
	}
	return n, &wire.CloseError{Err: err}
}

// CloseWrite closes stdout.
func (s *stdioStream) CloseWrite() (err error) {
	s.outOnce.Do(func() { err = s.out.Close() })
	return err
}

// Close closes both streams. It does not wait for a pending read.
func (s *stdioStream) Close() error {
	var err error
	s.closeAll.Do(func() {
		close(s.closed)
		err = s.CloseWrite()
		s.in.Close()
	})
	return err
}
