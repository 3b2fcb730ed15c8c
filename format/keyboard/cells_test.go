package keyboard

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/term"
)

// A screenRow is a row of a terminal. A wide character takes two columns, and an accent combines with the character before it.
type screenRow struct {
	cells []string // "" is the second column of a wide character
	at    int
}

var moves = regexp.MustCompile(`^\x1b\[(\d*)([CDKJ])`)

func (s *screenRow) Write(b []byte) (int, error) {
	for text := string(b); text != ""; {
		if m := moves.FindStringSubmatch(text); m != nil {
			n := 1
			if m[1] != "" {
				n, _ = strconv.Atoi(m[1])
			}
			switch m[2] {
			case "C":
				s.at += n
			case "D":
				s.at -= n
			default:
				s.cells = s.cells[:min(s.at, len(s.cells))]
			}
			text = text[len(m[0]):]
			continue
		}
		r := []rune(text)[0]
		text = text[len(string(r)):]
		switch {
		case r == '\r' || r == '\n':
			s.at = 0
		case Columns(r) == 0 && s.at > 0:
			i := s.at - 1
			for i > 0 && s.cells[i] == "" {
				i--
			}
			s.cells[i] += string(r)
		default:
			for range Columns(r) {
				for len(s.cells) <= s.at {
					s.cells = append(s.cells, " ")
				}
				s.cells[s.at] = ""
				s.at++
			}
			s.cells[s.at-Columns(r)] = string(r)
		}
	}
	return len(b), nil
}

func TestWideCharacters(t *testing.T) {
	const left, right, del = "\x1b[D", "\x1b[C", "\x1b[3~"
	for typed, want := range map[string]string{
		"漢字" + left + "x":                     "漢x|字",
		"漢字\x7fx":                             "漢x|",
		"a漢b" + left + left + "x":             "ax|漢b",
		"漢字" + left + left + right + "x":      "漢x|字",
		"漢字かな\x01" + del + "x":                "x|字かな",
		"漢字\x01\x04x":                         "x|字",
		"😀😀\b\bx":                             "x|",
		"👩‍💻b" + left + left + "x":            "👩‍x|💻b",
		"\x1b[200~漢字👍🏽\x1b[201~" + left + "x": "漢字👍x|🏽",
		"한국어 漢字\x17x":                         "한국어 x|",
		"漢字\x02\x02x\x06y":                    "x漢y|字",
	} {
		row := &screenRow{}
		keyboard, hands := io.Pipe()
		edit := term.NewTerminal(struct {
			io.Reader
			io.Writer
		}{&Keys{in: keyboard, interrupt: func() bool { return true }, suspend: func() {}}, Screen(row)}, "> ")
		edit.AutoCompleteCallback = Edit
		shown := make(chan string, 1)
		go func() {
			io.WriteString(hands, typed)
			io.WriteString(hands, "\x00")
			cells := append([]string{}, row.cells...)
			cells = append(cells[:row.at], append([]string{"|"}, cells[row.at:]...)...)
			shown <- strings.TrimRight(strings.TrimPrefix(strings.Join(cells, ""), "> "), " ")
			io.WriteString(hands, "\r")
		}()
		line, err := edit.ReadLine()
		if err != nil && err != term.ErrPasteIndicator {
			t.Fatal(err)
		}
		if got := <-shown; got != want {
			t.Errorf("%q shows %q, want %q", typed, got, want)
		}
		if got := Unpadded(line); got != strings.Replace(want, "|", "", 1) {
			t.Errorf("%q: got the line %q", typed, got)
		}
	}
}

func TestPadded(t *testing.T) {
	for _, text := range []string{"", "plain", "漢字", "a漢b", "❤️b", "👩‍💻", "é", "한"} {
		if got := Unpadded(Padded(text)); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
	if got := fmt.Sprintf("%q", Padded("a漢b")); got != `"a漢\ufdd0b"` {
		t.Error(got)
	}
}
