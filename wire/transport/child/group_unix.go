//go:build unix

package child

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// A group is a child and all that it starts: a process group, which has the
// child's number. To none of it a signal may be sent once nobody of it is left.
type group struct{ id int }

// groupOf returns the group of a child that processGroup has made the first of one.
func groupOf(child *os.Process) group { return group{child.Pid} }

// ask asks all of the group to end.
func (g group) ask() bool {
	syscall.Kill(-g.id, syscall.SIGTERM)
	return true
}

// force ends all of the group.
func (g group) force() { syscall.Kill(-g.id, syscall.SIGKILL) }

// lives reports whether anybody is left in the group.
func (g group) lives() bool { return !errors.Is(syscall.Kill(-g.id, 0), syscall.ESRCH) }

// signalName returns the name of a signal, such as SIGKILL.
func signalName(s syscall.Signal) string { return unix.SignalName(s) }
