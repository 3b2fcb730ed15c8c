package format

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"rpcx/format/keyboard"
	"rpcx/wire"
)

// A Screen describes the terminal that a stream is connected to, if any.
type Screen struct {
	Terminal bool
	Dumb     bool // the cursor of the terminal cannot be moved, so there are no progress bars
	Color    bool
	Width    int // in columns; 0 if unknown or not a terminal
}

// Detect examines a stream. mode is the value of --color: auto, always or never. For auto, Detect follows NO_COLOR,
// CLICOLOR_FORCE and TERM=dumb, in this order.
func Detect(f *os.File, mode string, env func(string) string) Screen {
	s := Screen{Terminal: term.IsTerminal(int(f.Fd()))}
	s.color(mode, env, obeys(f))
	if s.Terminal {
		s.Width, _, _ = term.GetSize(int(f.Fd()))
	}
	return s
}

// color sets Dumb and Color. obeys is true if the terminal interprets escape sequences although TERM is not set, as on
// Windows.
func (s *Screen) color(mode string, env func(string) string, obeys bool) {
	s.Dumb = env("TERM") == "dumb" || env("TERM") == "" && !obeys
	force := env("CLICOLOR_FORCE")
	switch {
	case mode == "never" || mode == "always":
		s.Color = mode == "always"
	case env("NO_COLOR") != "":
	case force != "" && force != "0":
		s.Color = true
	default:
		s.Color = s.Terminal && !s.Dumb
	}
}

// Width returns the width of s on a terminal in columns.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += keyboard.Columns(r)
	}
	return n
}

// Cut returns s if it is at most width columns wide, or otherwise as much of it as leaves room for an ellipsis. If
// width is 0 or less, s is not changed.
func Cut(s string, width int) string {
	if width <= 0 || len(s) <= width || Width(s) <= width {
		return s
	}
	return prefix(s, width-1) + "…"
}

// Fold breaks a shell command into lines that are at most width columns wide. It breaks lines at blanks outside of quotes,
// and ends them with a backslash. Parts that contain no such blanks can be wider.
func Fold(line string, width int) []string {
	const more = "    " // precedes all lines but the first
	var lines []string
	for before := ""; ; before = more {
		at := -1
		if prefix(line, width-Width(before)) != line {
			at = breakIn(line, width-Width(before)-2)
		}
		if at < 0 {
			return append(lines, before+line)
		}
		lines = append(lines, before+line[:at]+` \`)
		line = line[at+1:]
	}
}

// breakIn returns where to break a line: the position of the last blank outside of quotes that leaves at most width
// columns before it. If there is none, it returns the position of the first such blank, or -1.
func breakIn(line string, width int) int {
	at, n, quote := -1, 0, rune(0)
	escaped := false
	for i, r := range line {
		if n > width && at >= 0 {
			break
		}
		switch {
		case escaped:
			escaped = false
		case r == '\\' && quote != '\'':
			escaped = true
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote = r
		case r == ' ' && i > 0 && (n <= width || at < 0):
			at = i
		}
		n += keyboard.Columns(r)
	}
	return at
}

// Wrap writes text after before, in lines that are at most width columns wide. Further lines begin at column indent. It
// divides a word that is wider than a line. If width is 0, it does not break lines.
func Wrap(b *strings.Builder, before string, indent int, text string, width int) {
	if width <= 0 {
		b.WriteString(strings.TrimRight(before+text, " ") + "\n")
		return
	}
	line, empty := before, strings.TrimSpace(before) == ""
	end := func() {
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		line, empty = strings.Repeat(" ", indent), true
	}
	for _, word := range strings.Fields(text) {
		if !empty && line[len(line)-1] != ' ' {
			line += " "
		}
		if Width(line)+Width(word) > width && !empty {
			end()
		}
		for Width(line)+Width(word) > width {
			piece := prefix(word, width-Width(line))
			if piece == "" {
				_, n := utf8.DecodeRuneInString(word)
				piece = word[:n]
			}
			line, word, empty = line+piece, word[len(piece):], false
			if word == "" { // the last character of the word, on a screen that is narrower than the indent
				break
			}
			end()
		}
		if word != "" {
			line, empty = line+word, false
		}
	}
	end()
}

// prefix returns as much of s as fits into width columns. It reads no more of s than it needs.
func prefix(s string, width int) string {
	for i, r := range s {
		if width -= keyboard.Columns(r); width < 0 {
			return s[:i]
		}
	}
	return s
}

// ErrNoTerminal is the error of AskSecret when stdin or stderr is not a terminal.
var ErrNoTerminal = errors.New("there is no terminal")

// AskSecret asks the user for a secret on the terminal of stderr. The terminal does not show what the user types. Ctrl-C
// and Ctrl-D interrupt the command.
func AskSecret(ctx context.Context, on Screen, question string) (string, error) {
	in := int(os.Stdin.Fd())
	if !on.Terminal || !term.IsTerminal(in) {
		return "", ErrNoTerminal
	}
	before, err := term.MakeRaw(in) // before the question, because an answer may arrive at once
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(in, before) }()
	var secret string
	typed := make(chan error, 1)
	go func() { // reading from a terminal cannot be interrupted (withoutLeaks in commands/script_test.go knows this function)
		var err error
		secret, err = term.NewTerminal(streams{os.Stdin, os.Stderr}, "").ReadPassword(question)
		typed <- err
	}()
	select {
	case err = <-typed:
		if err == nil {
			return secret, nil
		}
		err = wire.NewFault(wire.Interrupted, "interrupted", err)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	_, _ = os.Stderr.WriteString("\r\n")
	return "", err
}

// streams are the input and the output of a terminal.
type streams struct {
	io.Reader
	io.Writer
}
