package commands

import (
	"syscall"
	"testing"
)

// The bar is gone before the data comes, by a pipe too, and when a signal ends us.
func TestProgressIsErased(t *testing.T) {
	y := onTerminalOf(t, "sh", "-c", "rpcx call demo:ro attachment:create filename=a | cat")
	y.shows("accepted")
	y.shows("\r\x1b[K{")
	y.left(0)
	y = onTerminal(t, "call", `ro+exec:sh -c 'read -r l; echo "$0"; read -r l' '{"jsonrpc":"2.0","id":1,"result":{"status":"accepted"}}'`, "a:b")
	y.shows("accepted")
	_ = y.cmd.Process.Signal(syscall.SIGINT)
	y.shows("\r\x1b[K")
	y.left(130)
}
