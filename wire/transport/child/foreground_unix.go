//go:build unix

package child

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// Foreground makes a command that is about to start the foreground process of the terminal. Otherwise a command in a
// process group of its own would be stopped when it reads from the terminal. Foreground does nothing unless tty is the
// controlling terminal and this process is in the foreground. takeBack must be called after the command has ended, and
// makes this process the foreground process again.
func Foreground(cmd *exec.Cmd, tty *os.File) (takeBack func()) {
	fd, us := int(tty.Fd()), syscall.Getpgrp()
	if front, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err != nil || front != us {
		return func() {}
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Foreground, cmd.SysProcAttr.Ctty = true, fd
	return func() {
		signal.Ignore(syscall.SIGTTOU) // the system sends it to a background group that calls tcsetpgrp
		defer signal.Reset(syscall.SIGTTOU)
		_ = unix.IoctlSetPointerInt(fd, unix.TIOCSPGRP, us)
	}
}
