package child

import (
	"os"
	"os/exec"
)

// Foreground has nothing to give: all who share a console may read from it.
func Foreground(*exec.Cmd, *os.File) (takeBack func()) { return func() {} }
