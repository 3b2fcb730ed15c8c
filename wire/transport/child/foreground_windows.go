package child

import (
	"os"
	"os/exec"
)

// Foreground does nothing, because any process of a console may read from it.
func Foreground(*exec.Cmd, *os.File) (takeBack func()) { return func() {} }
