package stream

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/syserr"
)

// unixName returns the path in the form that package net needs. A name that begins with "@" is a file, and never one of
// Linux's abstract sockets, which have no mode.
func unixName(path string) string {
	if strings.HasPrefix(path, "@") {
		return "./" + path
	}
	return path
}

// ListenUnix creates a socket to which only its owner can connect (mode 0600). If there is a stale socket, which has no
// listener, it replaces that socket. If there is a live socket or another file at the path, it returns a Conflict
// Fault. Close removes the socket.
func ListenUnix(path string) (net.Listener, error) {
	if path == "" {
		return nil, wire.Usagef("a Unix socket needs a path")
	}
	if err := checkUnixPath(path); err != nil {
		return nil, err
	}
	// The socket is created in a directory that only the owner can enter, and moved to its path when it has its mode. Other
	// users can therefore not connect at any time.
	dir, err := os.MkdirTemp(filepath.Dir(unixName(path)), ".s")
	if err != nil {
		return nil, bindFault(path, err)
	}
	defer os.RemoveAll(dir)
	defer lockFolder(filepath.Dir(unixName(path)))()
	tmp := filepath.Join(dir, "s")
	if len(tmp) > maxUnixPath() || !socketsMove {
		return listenUnixInPlace(path, dir)
	}
	l, err := bindUnix(tmp)
	if err != nil {
		return nil, bindFault(path, err)
	}
	if err := putInPlace(tmp, path, dir); err != nil {
		l.Close()
		return nil, err
	}
	return newUnixListener(l, path)
}

// listenUnixInPlace creates the socket at its path and then sets its mode. This is necessary if the path is too long
// for a temporary name beside it, and on systems where sockets cannot be moved.
func listenUnixInPlace(path, dir string) (net.Listener, error) {
	if err := clearPlace(path, dir); err != nil {
		return nil, err
	}
	l, err := bindUnix(path)
	if err != nil {
		return nil, bindFault(path, err)
	}
	return newUnixListener(l, path)
}

func bindUnix(path string) (*net.UnixListener, error) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: unixName(path), Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // package net would remove any file that has this name later
	if err := os.Chmod(unixName(path), 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// putInPlace moves the socket tmp to path. It creates a link, which fails if the path exists, so only one of several
// competing processes can succeed.
func putInPlace(tmp, path, dir string) error {
	for range 3 {
		linkErr := os.Link(tmp, path)
		if linkErr == nil {
			return nil
		}
		if err := clearPlace(path, dir); err != nil {
			return err
		}
		if !errors.Is(linkErr, fs.ErrExist) { // the file system has no links
			if err := os.Rename(tmp, path); err != nil {
				return bindFault(path, err)
			}
			return nil
		}
	}
	return inUse(path)
}

// clearPlace makes room for a new socket at path. It moves a stale socket into dir and tests it there once more. If
// that socket has a listener after all, clearPlace moves it back.
func clearPlace(path, dir string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return bindFault(path, err)
	case info.Mode().Type() != fs.ModeSocket:
		return wire.NewFault(wire.Conflict, fmt.Sprintf("%s exists and is not a socket", path), nil)
	case !stale(path):
		return inUse(path)
	}
	old := filepath.Join(dir, "o")
	if err := os.Rename(path, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return bindFault(path, err)
	}
	if len(old) <= maxUnixPath() && !stale(old) {
		os.Link(old, path)
		return inUse(path)
	}
	return nil
}

// stale reports whether a socket has no listener. If that is not certain, it returns false.
func stale(path string) bool {
	c, err := net.DialTimeout("unix", unixName(path), time.Second)
	if err == nil {
		c.Close()
	}
	return syserr.Refused(err) || errors.Is(err, fs.ErrNotExist)
}

func inUse(path string) error {
	return wire.NewFault(wire.Conflict, fmt.Sprintf("%s: another process listens on this socket", path), nil)
}

func bindFault(path string, err error) error {
	return wire.NewFault(wire.Unreachable, fmt.Sprintf("cannot listen on %s: %v", path, wire.WithoutPath(err)), err)
}

// checkUnixPath rejects a path that is too long for a Unix socket.
func checkUnixPath(path string) error {
	if limit := maxUnixPath(); len(unixName(path)) > limit {
		return wire.Usagef("the path of a Unix socket can have at most %d bytes, but this one has %d: %s", limit, len(path), path)
	}
	return nil
}

// maxUnixPath returns the maximum length, in bytes, of a path in sockaddr_un, without the final NUL.
func maxUnixPath() int {
	if runtime.GOOS == "linux" {
		return 107
	}
	return 103
}

// A unixListener removes its socket when it is closed, unless another socket has replaced it.
type unixListener struct {
	*net.UnixListener
	path string
	self fs.FileInfo
	once sync.Once
}

func newUnixListener(l *net.UnixListener, path string) (net.Listener, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		abs = path
	}
	info, err := os.Lstat(path)
	if err != nil {
		l.Close()
		return nil, bindFault(path, err)
	}
	return &unixListener{UnixListener: l, path: abs, self: info}, nil
}

// Close closes the listener and removes the socket file.
func (l *unixListener) Close() error {
	l.once.Do(func() {
		if info, err := os.Lstat(l.path); err == nil && os.SameFile(info, l.self) {
			os.Remove(l.path)
		}
	})
	return l.UnixListener.Close()
}
