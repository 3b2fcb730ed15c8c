// Package rundir is the folder of sockets by which processes of this program
// find each other: the names of sessions, who listens at a socket, and why a
// session that is no more has ended.
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

// maxSocketPath is what fits into sockaddr_un everywhere; socketName is as long
// as the names that newSocket and hashedPath make.
const (
	maxSocketPath = 103
	socketName    = "c-0123456789abcdef"
)

// The sockets in the folder by the beginning of their names: a connection that
// hooks call back on, a session, a session whose name would be too long.
const (
	PrefixHooks   = "c-"
	PrefixSession = "s-"
	PrefixHashed  = "h-"
)

// Make returns the folder for sockets: below $XDG_RUNTIME_DIR, else, and where the
// path of a socket would be too long, one of this user below the temporary one. It
// is made where it is missing; it is 0700 and ours, or it is refused.
func Make() (string, error) {
	dir, err := runtimePlace()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", wire.NewFault(wire.Usage, "making the folder for sockets: "+err.Error(), err)
	}
	return dir, checkOwn(dir)
}

// runtimePlace returns where the folder for sockets is, or would be.
func runtimePlace() (string, error) {
	mine := "rpcx-" + strconv.Itoa(os.Getuid()) // -1 on Windows, whose temporary folder is the user's own
	places := []string{filepath.Join(os.TempDir(), mine), filepath.Join("/tmp", mine)}
	if xdg := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(xdg) {
		places = append([]string{filepath.Join(xdg, "rpcx")}, places...)
	}
	for _, dir := range places {
		if filepath.IsAbs(dir) && len(dir)+1+len(socketName) <= maxSocketPath {
			return dir, nil
		}
	}
	return "", wire.Usagef("the path of a socket may have %d bytes: %s is too long", maxSocketPath, places[0])
}

// Existing returns the folder for sockets where there is one; "" where none is.
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
		err = wire.NewFault(wire.Usage, "the folder for sockets: "+err.Error(), err)
	}
	return "", err
}

// How long another process of ours may hold the lock on the folder: it does so only
// for a moment, but may be a process that was stopped just then.
const (
	lockBound = 20 * time.Second
	lockPause = 2 * time.Millisecond
)

// Locked runs f while no other process of ours adds to the folder or takes from
// it. Nothing of the lock is left behind.
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
			err = fmt.Errorf("another process of ours has it for more than %v", lockBound)
		case err == nil && !had:
			continue
		case err == nil:
			return f()
		}
		return wire.NewFault(wire.Conflict, fmt.Sprintf("locking %s: %v", dir, err), err)
	}
}

// Bind listens at path, which only we can reach. The folder is locked.
func Bind(path string) (net.Listener, error) {
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // it may be another's by then
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		_ = os.Remove(path)
		return nil, err
	}
	return l, nil
}

// dead reports whether the socket at path was left behind by a process that was
// killed: nothing listens at it.
func dead(path string) bool {
	nc, err := net.Dial("unix", path)
	if err == nil {
		_ = nc.Close()
		return false
	}
	return syserr.Refused(err)
}

// Sweep removes the sockets of processes that were killed. The folder is locked.
func Sweep(dir string) {
	for _, path := range Sockets(dir, PrefixHooks, PrefixSession, PrefixHashed) {
		if dead(path) {
			_ = os.Remove(path)
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
