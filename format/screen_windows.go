package format

import (
	"os"
	"syscall"
)

// obeyEscapes is the console mode ENABLE_VIRTUAL_TERMINAL_PROCESSING.
const obeyEscapes = 0x0004

var setConsoleMode = syscall.NewLazyDLL("kernel32.dll").NewProc("SetConsoleMode")

// obeys makes a console interpret escape sequences, and reports whether it does. This works since Windows 10.
func obeys(f *os.File) bool {
	console := syscall.Handle(f.Fd())
	var mode uint32
	if syscall.GetConsoleMode(console, &mode) != nil {
		return false
	}
	ok, _, _ := setConsoleMode.Call(uintptr(console), uintptr(mode|obeyEscapes))
	return ok != 0
}
