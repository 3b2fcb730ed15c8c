package stdio

import (
	"io"
	"os"
	"sync"

	"rpcx/wire"
)

// A fileStream reads or writes a file that other processes may share, such as stdin and stdout. Close interrupts a
// blocked Read or Write. Windows cannot cancel a read from such a file. Close therefore returns before the goroutine
// that reads has ended, and what that read returns is lost.
type fileStream struct {
	f      *os.File
	closed chan struct{}
	once   sync.Once

	reading sync.Once
	in      *io.PipeReader
	into    *io.PipeWriter
}

func newFileStream(f *os.File) (*fileStream, error) {
	s := &fileStream{f: f, closed: make(chan struct{})}
	s.in, s.into = io.Pipe()
	return s, nil
}

// Read reads the bytes that are available, or waits for some.
func (s *fileStream) Read(b []byte) (int, error) {
	s.reading.Do(func() {
		go func() {
			_, err := io.Copy(s.into, s.f)
			_ = s.into.CloseWithError(err) // err is nil for io.EOF
		}()
	})
	return s.in.Read(b)
}

// Write writes all of b. Close does not wait for a blocked write.
func (s *fileStream) Write(b []byte) (int, error) {
	if wire.IsClosed(s.closed) {
		return 0, os.ErrClosed
	}
	type result struct {
		n   int
		err error
	}
	written := make(chan result, 1)
	b = append([]byte(nil), b...)
	go func() {
		n, err := s.f.Write(b)
		written <- result{n, err}
	}()
	select {
	case r := <-written:
		return r.n, r.err
	case <-s.closed:
		return 0, os.ErrClosed
	}
}

// Close wakes the goroutines that wait in Read or Write. It closes stdout, so that the process that reads it notices the
// end. It does not close stdin, because that would block during a read.
func (s *fileStream) Close() error {
	s.once.Do(func() {
		close(s.closed)
		_ = s.in.CloseWithError(os.ErrClosed)
		go func() { _ = s.f.Close() }()
	})
	return nil
}
