// Package stdio uses the stdin and stdout of this process as a connection.
package stdio

import (
	"context"
	"errors"
	"os"
	"sync"

	"rpcx/wire"
	"rpcx/wire/transport"
)

// Dial connects over stdin and stdout. The peer is the program that started this process.
func Dial(_ context.Context, _ transport.Address, c transport.Config) (wire.Conn, error) {
	s, err := newStdio()
	if err != nil {
		return nil, err
	}
	return c.Frame(s, ""), nil
}

// Listen returns a listener whose only client is the parent process.
func Listen(ctx context.Context, a transport.Address, c transport.Config) (transport.Listener, error) {
	if c.Token != "" {
		return nil, transport.UsageHint("use ws:// or http://", "stdio: does not support --token")
	}
	conn, err := Dial(ctx, a, c)
	if err != nil {
		return nil, err
	}
	return transport.Single(conn), nil
}

// A stdioStream combines stdin and stdout into one byte stream.
type stdioStream struct {
	in, out  *fileStream
	closed   chan struct{}
	closeAll sync.Once
}

func newStdio() (*stdioStream, error) {
	in, err := newFileStream(os.Stdin)
	if err != nil {
		return nil, wire.NewFault(wire.IO, "stdin: "+err.Error(), err)
	}
	out, err := newFileStream(os.Stdout)
	if err != nil {
		in.Close()
		return nil, wire.NewFault(wire.IO, "stdout: "+err.Error(), err)
	}
	return &stdioStream{in: in, out: out, closed: make(chan struct{})}, nil
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
	case wire.IsClosed(s.closed), errors.Is(err, os.ErrClosed):
		return n, &wire.CloseError{Clean: true}
	}
	return n, &wire.CloseError{Err: err}
}

// CloseWrite closes stdout.
func (s *stdioStream) CloseWrite() error { return s.out.Close() }

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
