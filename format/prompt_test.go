package format

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/term"

	"rpcx/wire"
	"rpcx/wire/testkit"
)

// TestConsoleAboveAPrompt checks that a bar is erased before a prompt, that lines appear above the prompt, and that progress is printed as
// lines instead of a bar. In a pipe, nothing changes.
func TestConsoleAboveAPrompt(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "screen"))
	testkit.OK(t, err)
	defer file.Close()
	var stderr bytes.Buffer
	c := NewConsole(&stderr, ConsoleOptions{Screen: Screen{Terminal: true, Width: 40}})
	c.Waiting("erased")
	undo := c.Above(&Prompt{closed: true, out: file})
	if got, want := stderr.String(), "\r\x1b[Kerased\r\x1b[K"; got != want {
		t.Errorf("before the prompt: %q, want %q", got, want)
	}
	stderr.Reset()
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

// The prompt reads a pasted line like a typed one, and writes only whole lines above it.
func TestPromptLines(t *testing.T) {
	var screen bytes.Buffer
	edit := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{strings.NewReader("\x1b[200~pasted\r"), &screen}, "")
	edit.SetBracketedPasteMode(true)
	p := &Prompt{edit: edit}
	for _, text := range []string{"par", "ti", "al\nre", "st"} {
		if n, err := p.Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("%q: %d, %v", text, n, err)
		}
	}
	if got := screen.String(); !strings.Contains(got, "partial") || strings.Contains(got, "re") || string(p.rest) != "rest" {
		t.Errorf("%q, then %q", got, p.rest)
	}
	if line, err := p.ReadLine(); line != "pasted" || err != nil {
		t.Errorf("%q, %v", line, err)
	}
	if line, err := p.ReadLine(); line != "" || err != io.EOF {
		t.Errorf("%q, %v", line, err)
	}
}
