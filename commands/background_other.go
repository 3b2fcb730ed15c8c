//go:build !unix

package commands

import (
	"os"
	"syscall"
)

func ownSession() *syscall.SysProcAttr { return nil }

func keepToOurselves() {}

func inheritedFile(int) *os.File { return nil }
