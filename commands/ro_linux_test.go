package commands

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rpcx/wire/testkit"
)

func TestROCommandEndsInTime(t *testing.T) { endInTime(t, "job run ro+unix:SILENT m") }

// The progress bar is erased before data is printed, even to a pipe, and when a signal ends rpcx.
func TestProgressIsErased(t *testing.T) {
	y := onTerminalOf(t, "sh", "-c", "rpcx call demo:ro attachment:create filename=a | cat")
	y.shows("accepted")
	y.shows("\r\x1b[K{")
	y.exits(0)
	y = onTerminal(t, "call", `ro+exec:sh -c 'read -r l; echo "$0"; read -r l' '{"jsonrpc":"2.0","id":1,"result":{"status":"accepted"}}'`, "a:b")
	y.shows("accepted")
	_ = y.cmd.Process.Signal(syscall.SIGINT)
	y.shows("\r\x1b[K")
	y.exits(130)
}

// At the prompt, a result that does not follow its own call is labelled with that call.
func TestPromptNamesCalls(t *testing.T) {
	peer := filepath.Join(t.TempDir(), "peer.sh")
	script := `read -r first; read -r second
echo '{"jsonrpc":"2.0","id":1,"result":{"status":"accepted"}}'
echo '{"jsonrpc":"2.0","method":"file.yield","resource":"file","verb":"yield","result":{"stage":"half"},"request_id":1}'
echo '{"jsonrpc":"2.0","method":"file.return","resource":"file","verb":"return","result":{"all":"done"},"request_id":1}'
exec cat >/dev/null
`
	testkit.OK(t, os.WriteFile(peer, []byte(script), 0o600))
	y := onPrompt(t, "ro+exec:sh "+peer, "-c")
	y.types("file:index\rfile:list\r")
	y.shows("file:index:\r\n")
	y.shows(`"done"`)
	y.types("\x03")
	y.shows("file:list: cancelled")
	y.leaves()
	if came := y.output(); strings.Count(came, "file:index:\r\n") != 1 || strings.Contains(came, "file:list:\r\n") {
		t.Errorf("%q", came)
	}
}
