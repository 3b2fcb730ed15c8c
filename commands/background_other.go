//go:build !unix

package commands

import (
	"os"
	"syscall"
)

func detached() *syscall.SysProcAttr { return nil }

func closeOnExec() {}

func inheritedFile(int) *os.File { return nil }
