//go:build unix

package child

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// A group is a child and its descendants: a process group whose id is that of the child. Once the group is empty, its
// id must no longer be used.
type group struct{ id int }

// groupOf returns the group of a child that was started with processGroup.
func groupOf(child *os.Process) group { return group{child.Pid} }

// ask sends SIGTERM to all processes of the group.
func (g group) ask() { syscall.Kill(-g.id, syscall.SIGTERM) }

// force kills all processes of the group.
func (g group) force() { syscall.Kill(-g.id, syscall.SIGKILL) }

// lives reports whether the group contains a process.
func (g group) lives() bool { return !errors.Is(syscall.Kill(-g.id, 0), syscall.ESRCH) }

// signalName returns the name of a signal, such as SIGKILL.
func signalName(s syscall.Signal) string { return unix.SignalName(s) }
