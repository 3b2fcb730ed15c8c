//go:build unix

package child

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// Foreground gives a terminal to a command that is about to be started with
// Start: a process group of its own would be stopped when it reads from
// it. That happens where tty is our terminal and we are in front of it; then
// takeBack makes us so again, when the command has ended.
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
		signal.Ignore(syscall.SIGTTOU) // what a background group gets for trying
		defer signal.Reset(syscall.SIGTTOU)
		_ = unix.IoctlSetPointerInt(fd, unix.TIOCSPGRP, us)
	}
}
