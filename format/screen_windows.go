package format

import (
	"os"
	"syscall"
)

// obeyEscapes is the console's mode ENABLE_VIRTUAL_TERMINAL_PROCESSING.
const obeyEscapes = 0x0004

var setConsoleMode = syscall.NewLazyDLL("kernel32.dll").NewProc("SetConsoleMode")

// obeys has a console obey escape sequences, and reports whether it will: those of
// Windows 10 and later do.
func obeys(f *os.File) bool {
	console := syscall.Handle(f.Fd())
	var mode uint32
	if syscall.GetConsoleMode(console, &mode) != nil {
		return false
	}
	ok, _, _ := setConsoleMode.Call(uintptr(console), uintptr(mode|obeyEscapes))
	return ok != 0
}
