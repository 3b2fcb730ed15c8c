package options

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"rpcx/commands/env"
	"rpcx/format"
	"rpcx/wire/peer"
)

// A peer can cause any number of different warnings: 200 are shown, each once, and then
// one that more are hidden.
func TestWarningsAboutAPeerAreBounded(t *testing.T) {
	var stderr bytes.Buffer
	run := &env.Env{Console: format.NewConsole(&stderr, format.ConsoleOptions{})}
	note := noter(run)
	for n := range 300 {
		for range 2 {
			note(peer.Note{Kind: peer.NoteMalformed, Text: fmt.Sprintf("odd message %d", n)}, "")
		}
	}
	lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
	if last := lines[len(lines)-1]; len(lines) != 201 || !strings.Contains(last, "-v shows the rest") {
		t.Errorf("%d lines, the last is %s", len(lines), last)
	}
}
