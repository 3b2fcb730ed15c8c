// Package rundir manages the directory of sockets through which processes of rpcx find each other: the names of
// sessions, the listeners of sockets, and the reasons why sessions have ended.
package rundir

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"rpcx/wire"
	"rpcx/wire/syserr"
)

// maxSocketPath is the length that fits into sockaddr_un on every system. socketName is as long as the names that
// newSocket and hashedPath make.
const (
	maxSocketPath = 103
	socketName    = "c-0123456789abcdef"
)

// These are the prefixes of the sockets in the directory: for the calls of hooks, for a session, and for a session
// whose name would be too long.
const (
	PrefixHooks   = "c-"
	PrefixSession = "s-"
	PrefixHashed  = "h-"
)

// Make returns the directory for sockets: below $XDG_RUNTIME_DIR, or else (also if the path of a socket would be too
// long) one of this user below the temporary directory. It creates a missing directory with mode 0700, and refuses one
// that others can enter.
func Make() (string, error) {
	dir, err := runtimePlace()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", wire.NewFault(wire.Usage, "cannot create the socket directory: "+err.Error(), err)
	}
	return dir, checkOwn(dir)
}

// runtimePlace returns the path of the directory for sockets, even if it does not exist.
func runtimePlace() (string, error) {
	mine := "rpcx-" + strconv.Itoa(os.Getuid()) // -1 on Windows, whose temporary directory is the user's own
	places := []string{filepath.Join(os.TempDir(), mine), filepath.Join("/tmp", mine)}
	if xdg := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(xdg) {
		places = append([]string{filepath.Join(xdg, "rpcx")}, places...)
	}
	for _, dir := range places {
		if filepath.IsAbs(dir) && len(dir)+1+len(socketName) <= maxSocketPath {
			return dir, nil
		}
	}
	return "", wire.Usagef("the path of a socket can have at most %d bytes: %s is too long", maxSocketPath, places[0])
}

// Existing returns the directory for sockets, or "" if there is none.
func Existing() (string, error) {
	dir, err := runtimePlace()
	if err != nil {
		return "", err
	}
	err = checkOwn(dir)
	switch {
	case err == nil:
		return dir, nil
	case errors.Is(err, os.ErrNotExist):
		return "", nil
	case wire.AsFault(err) == nil:
		err = wire.NewFault(wire.Usage, "the socket directory: "+err.Error(), err)
	}
	return "", err
}

// These limits apply to the wait for another process that has locked the directory. That usually lasts only a moment,
// but the process may have been stopped.
const (
	lockBound = 20 * time.Second
	lockPause = 2 * time.Millisecond
)

// Locked runs f while no other process of rpcx changes the directory. The lock leaves no files behind.
func Locked(dir string, f func() error) error {
	d, err := openLock(dir)
	if err != nil {
		return wire.NewFault(wire.IO, err.Error(), err)
	}
	defer d.Close()
	for end := time.Now().Add(lockBound); ; time.Sleep(lockPause) {
		had, err := d.take()
		switch {
		case err == nil && !had && time.Now().After(end):
			err = fmt.Errorf("another rpcx process has locked it for more than %v", lockBound)
		case err == nil && !had:
			continue
		case err == nil:
			return f()
		}
		return wire.NewFault(wire.Conflict, fmt.Sprintf("locking %s: %v", dir, err), err)
	}
}

// Bind listens at path, which only this user can reach. The caller holds the lock.
func Bind(path string) (net.Listener, error) {
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // it may belong to another process by then
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		_ = os.Remove(path)
		return nil, err
	}
	return l, nil
}

// dead reports whether the socket at path was left by a killed process, because it has no listener.
func dead(path string) bool {
	nc, err := net.Dial("unix", path)
	if err == nil {
		_ = nc.Close()
		return false
	}
	return syserr.Refused(err)
}

// Sweep removes the sockets of killed processes. The caller holds the lock.
func Sweep(dir string) {
	for _, path := range Sockets(dir, PrefixHooks, PrefixSession, PrefixHashed) {
		if dead(path) && os.Remove(path) == nil && strings.HasPrefix(filepath.Base(path), PrefixSession) {
			RecordExit(path, killed)
		}
	}
}

// Sockets returns the paths in dir whose names begin with one of the prefixes.
func Sockets(dir string, prefixes ...string) (paths []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		for _, p := range prefixes {
			if strings.HasPrefix(e.Name(), p) && e.Type()&os.ModeSocket != 0 {
				paths = append(paths, filepath.Join(dir, e.Name()))
			}
		}
	}
	return paths
}
