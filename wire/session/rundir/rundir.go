// Package rundir manages the directory that contains the sockets of rpcx processes. It manages the names of sessions,
// and the reasons why sessions ended.
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

// maxSocketPath fits into sockaddr_un on every system, in bytes. socketName is as long as every socket's name that begins
// with PrefixHooks or PrefixHashed.
const (
	maxSocketPath = 103
	socketName    = "c-0123456789abcdef"
)

// The name of a socket begins with one of these prefixes: for the calls of hooks, for a session, or for a session whose
// name is too long.
const (
	PrefixHooks   = "c-"
	PrefixSession = "s-"
	PrefixHashed  = "h-"
)

// Make returns the directory for sockets, and creates it if necessary. It uses a directory below $XDG_RUNTIME_DIR or,
// if that is not set or the path of a socket would be too long, a directory of this user below the temporary directory.
// The mode is 0700. Make refuses to use a directory that other users can enter.
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

// runtimePlace returns the path of the directory for sockets, which need not exist.
func runtimePlace() (string, error) {
	mine := "rpcx-" + strconv.Itoa(os.Getuid()) // -1 on Windows, where the temporary directory belongs to the user
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

// Existing returns the directory for sockets, or "" if it does not exist.
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

// These constants limit the wait for a process that has locked the directory. The lock is usually held only briefly,
// but the process that holds it may have been stopped.
const (
	lockBound = 20 * time.Second
	lockPause = 2 * time.Millisecond
)

// Locked runs f while no other rpcx process changes the directory. It leaves no lock file behind.
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
		return wire.NewFault(wire.Conflict, fmt.Sprintf("cannot lock %s: %v", dir, err), err)
	}
}

// Bind listens at path, where only this user can connect. The caller holds the lock.
func Bind(path string) (net.Listener, error) {
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // another process may own the path by that time
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		_ = os.Remove(path)
		return nil, err
	}
	return l, nil
}

// dead reports whether the socket at path was left behind by a process that was killed.
func dead(path string) bool {
	nc, err := net.Dial("unix", path)
	if err == nil {
		_ = nc.Close()
		return false
	}
	return syserr.Refused(err)
}

// Sweep removes the sockets that killed processes have left behind. The caller holds the lock.
func Sweep(dir string) {
	for _, path := range Sockets(dir, PrefixHooks, PrefixSession, PrefixHashed) {
		if dead(path) && os.Remove(path) == nil && strings.HasPrefix(filepath.Base(path), PrefixSession) {
			RecordExit(path, killed)
		}
	}
}

// Sockets returns the paths in dir whose last elements begin with one of the prefixes.
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
