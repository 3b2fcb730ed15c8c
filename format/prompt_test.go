package format

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/term"

	"rpcx/wire"
)

// TestConsoleAboveAPrompt checks that lines appear above a prompt, and that progress is printed as lines instead of a bar.
func TestConsoleAboveAPrompt(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "screen"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var stderr bytes.Buffer
	c := NewConsole(&stderr, ConsoleOptions{Screen: Screen{Terminal: true, Width: 40}})
	undo := c.Above(&Prompt{closed: true, out: file})
	c.Warn("careful")
	for _, fraction := range []string{"0.1", "0.2", "0.3", "1"} {
		c.Event(wire.Event{Kind: wire.Progress, Fraction: json.RawMessage(fraction), Message: "x\x1b[31m"})
	}
	undo()
	c.Note("below")
	c.Event(wire.Event{Kind: wire.Progress, Fraction: json.RawMessage("1"), Message: "a bar again"})
	c.Clear()
	want := "rpcx: warning: careful\n[##..................]  10% x\\u001b[31m\n[####################] 100% x\\u001b[31m\n"
	if got, _ := os.ReadFile(file.Name()); string(got) != want {
		t.Errorf("%q, want %q", got, want)
	}
	if want := "rpcx: below\n\r\x1b[K[####################] 100% a bar again\r\x1b[K"; stderr.String() != want {
		t.Errorf("stderr: %q, want %q", stderr.String(), want)
	}
	stderr.Reset()
	elsewhere := NewConsole(&stderr, ConsoleOptions{})
	elsewhere.Above(&Prompt{closed: true, out: file})()
	elsewhere.Above(nil)
	elsewhere.Note("to a file")
	file.Close()
	if _, err := (&Prompt{edit: term.NewTerminal(file, "")}).Write([]byte("a line\n")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("writing to a closed terminal: %v", err)
	}
	if stderr.String() != "rpcx: to a file\n" {
		t.Errorf("stderr: %q", stderr.String())
	}
}
