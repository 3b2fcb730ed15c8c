//go:build unix

package child

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// Foreground gives the terminal to a command before its start. Without it, a command in its own process group would
// stop when it reads from the terminal. Foreground does nothing unless tty is the controlling terminal and this process
// is in the foreground. takeBack, which runs after the command, reverses it.
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
		signal.Ignore(syscall.SIGTTOU) // the system sends it to background groups that try
		defer signal.Reset(syscall.SIGTTOU)
		_ = unix.IoctlSetPointerInt(fd, unix.TIOCSPGRP, us)
	}
}
