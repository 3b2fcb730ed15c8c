//go:build unix

package stdio

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// A fileStream reads or writes a file that other processes may share, such as stdin and stdout. Close interrupts a
// blocked Read or Write. O_NONBLOCK would affect all processes that share the file, so the stream uses poll(2),
// together with a pipe to which Close writes.
type fileStream struct {
	f          *os.File
	fd         int
	socket     bool        // a write can use MSG_DONTWAIT
	regular    bool        // a write never blocks
	waits      atomic.Bool // the system does not support nonblocking writes (see writeToPipeNonblocking)
	wake, woke *os.File
	wakeFD     int

	mu     sync.Mutex
	users  int
	closed bool
}

// maxPipeWrite is how many bytes a pipe accepts without blocking when poll reports that it is writable (PIPE_BUF).
const maxPipeWrite = 4096

func newFileStream(f *os.File) (*fileStream, error) {
	s := &fileStream{f: f}
	var err error
	if s.fd, err = number(f); err != nil {
		return nil, err
	}
	if s.woke, s.wake, err = os.Pipe(); err != nil {
		return nil, err
	}
	if s.wakeFD, err = number(s.woke); err != nil {
		return nil, err
	}
	_, err = unix.GetsockoptInt(s.fd, unix.SOL_SOCKET, unix.SO_TYPE)
	s.socket = err == nil
	info, err := f.Stat()
	s.regular = err == nil && info.Mode().IsRegular()
	return s, nil
}

// number returns the descriptor of f. Unlike f.Fd, it does not change the mode of the descriptor.
func number(f *os.File) (fd int, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return -1, err
	}
	err = raw.Control(func(n uintptr) { fd = int(n) })
	return fd, err
}

// enter reports whether the descriptor can be used. If so, the caller must call leave. It returns false after Close.
func (s *fileStream) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.users++
	return true
}

// leave ends a use that began with enter. After Close, the last user closes the files.
func (s *fileStream) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users--; s.users == 0 && s.closed {
		s.release()
	}
}

// ready waits until the file can be read or written. It returns os.ErrClosed after Close.
func (s *fileStream) ready(events int16) error {
	fds := []unix.PollFd{{Fd: int32(s.fd), Events: events}, {Fd: int32(s.wakeFD), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(fds, -1)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return os.NewSyscallError("poll", err)
		case fds[1].Revents != 0:
			return os.ErrClosed
		default:
			return nil
		}
	}
}

// Read reads the bytes that are available, or waits for some.
func (s *fileStream) Read(b []byte) (int, error) {
	if !s.enter() {
		return 0, os.ErrClosed
	}
	defer s.leave()
	for len(b) > 0 {
		if err := s.ready(unix.POLLIN); err != nil {
			return 0, err
		}
		n, err := unix.Read(s.fd, b)
		switch {
		case err == unix.EAGAIN, err == unix.EINTR: // another reader was faster, or set the mode
		case err != nil:
			return 0, &os.PathError{Op: "read", Path: s.f.Name(), Err: err}
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
	return 0, nil
}

// Write writes all of b. Unlike a write to os.Stdout, it returns EPIPE as an error.
func (s *fileStream) Write(b []byte) (int, error) {
	if !s.enter() {
		return 0, os.ErrClosed
	}
	defer s.leave()
	done := 0
	for done < len(b) {
		n, err := s.writeSome(b[done:])
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			if err := s.ready(unix.POLLOUT); err != nil {
				return done, err
			}
		case err != nil:
			return done, &os.PathError{Op: "write", Path: s.f.Name(), Err: err}
		default:
			done += n
		}
	}
	return done, nil
}

// writeSome writes as much as it can without blocking. If that is nothing, it returns EAGAIN.
func (s *fileStream) writeSome(b []byte) (int, error) {
	if s.socket {
		return unix.SendmsgN(s.fd, b, nil, nil, unix.MSG_DONTWAIT)
	}
	if s.regular {
		return unix.Write(s.fd, b)
	}
	if !s.waits.Load() {
		n, err := writeToPipeNonblocking(s.fd, b)
		if !errors.Is(err, errors.ErrUnsupported) {
			return n, err
		}
		s.waits.Store(true)
	}
	if err := s.ready(unix.POLLOUT); err != nil {
		return 0, err
	}
	return unix.Write(s.fd, b[:min(len(b), maxPipeWrite)])
}

// Close wakes the goroutines that wait in Read or Write. The last of them closes the file.
func (s *fileStream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	s.wake.Close() // from now on, the other end is readable
	if s.users == 0 {
		s.release()
	}
	return nil
}

// release closes the file. For stdin and stdout, it makes the descriptor refer to /dev/null instead, because otherwise
// a file that is opened later could get the same descriptor and the output.
func (s *fileStream) release() {
	s.woke.Close()
	if s.f != os.Stdin && s.f != os.Stdout {
		s.f.Close()
		return
	}
	if null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0); err == nil {
		unix.Dup2(int(null.Fd()), s.fd)
		null.Close()
	}
}
