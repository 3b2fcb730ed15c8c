package commands

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rpcx/wire/testkit"
)

// A command whose terminal closes fails.
func TestTerminalCloses(t *testing.T) {
	onClosedTerminal(t, "orders", "jsonrpc", "describe", "ENDPOINT")
	onClosedTerminal(t, "orders", "jsonrpc", "describe", "ENDPOINT", "getOrder")
	onClosedTerminal(t, "orders", "scriptling", "plugin", "describe", "ENDPOINT")
}

// onClosedTerminal runs rpcx on a terminal that closes before the peer answers. In args, ENDPOINT stands for a peer that uses the
// dialect and has the methods of the demo.
func onClosedTerminal(t *testing.T, demo, dialect string, args ...string) {
	t.Helper()
	dir := t.TempDir()
	script := `touch begun; until test -e go; do sleep 0.01; done; rpcx describe demo:` + demo + ` >offered.json; exec rpcx serve stdio: --catalog offered.json --dialect ` + dialect
	testkit.OK(t, os.WriteFile(filepath.Join(dir, "peer.sh"), []byte(script), 0o600))
	master, slave := terminal(t)
	args[slices.Index(args, "ENDPOINT")] = dialect + "+exec:sh peer.sh"
	cmd := exec.Command("rpcx", args...)
	var said bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, slave, &said
	cmd.Env = append(os.Environ(), "TERM=xterm", "GORACE=atexit_sleep_ms=0")
	testkit.OK(t, cmd.Start())
	if !fileHas(filepath.Join(dir, "begun"), "") {
		t.Fatal("the peer did not start")
	}
	_ = slave.Close()
	_ = master.Close()
	testkit.OK(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o600))
	_ = cmd.Wait()
	if got := shellStatus(cmd.ProcessState); got != 74 || !strings.Contains(said.String(), "input/output error") {
		t.Errorf("%q: status %d: %s", args, got, &said)
	}
}
