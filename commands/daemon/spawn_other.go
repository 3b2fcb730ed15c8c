//go:build !unix

package daemon

import (
	"os"
	"syscall"
)

func detached() *syscall.SysProcAttr { return nil }

func closeOnExec() {}

func inheritedFile(int) *os.File { return nil }
