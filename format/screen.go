package format

import (
	"os"
	"unicode"

	"golang.org/x/term"
)

// A Screen describes the terminal, if any, that a stream leads to.
type Screen struct {
	Terminal bool
	Dumb     bool // a terminal that cannot move its cursor, so there are no progress bars
	Color    bool
	Width    int // columns; 0: unknown, or no terminal
}

// Detect examines a stream. mode is the value of --color: auto, always or
// never. In auto NO_COLOR, CLICOLOR_FORCE and TERM=dumb are honoured, in this
// order.
func Detect(f *os.File, mode string, env func(string) string) Screen {
	s := Screen{Terminal: term.IsTerminal(int(f.Fd()))}
	s.color(mode, env, obeys(f))
	if s.Terminal {
		s.Width, _, _ = term.GetSize(int(f.Fd()))
	}
	return s
}

// color sets Dumb and Color. obeys says whether the terminal obeys escape
// sequences, for systems on which TERM says nothing.
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

// columns returns how many columns r takes on a terminal, approximately.
func columns(r rune) int {
	switch {
	case unicode.Is(unicode.Mn, r), r == 0x200d, 0xfe00 <= r && r <= 0xfe0f:
		return 0
	case 0x1100 <= r && r <= 0x115f, 0x2e80 <= r && r <= 0xa4cf, 0xac00 <= r && r <= 0xd7a3,
		0xf900 <= r && r <= 0xfaff, 0xfe30 <= r && r <= 0xfe6f, 0xff00 <= r && r <= 0xff60,
		0xffe0 <= r && r <= 0xffe6, 0x1f300 <= r && r <= 0x1faff, 0x20000 <= r && r <= 0x3fffd:
		return 2
	}
	return 1
}

// Width returns how many columns s takes on a terminal, approximately.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += columns(r)
	}
	return n
}

// Cut returns s; if it takes more than width columns, as much of it as leaves
// room for an ellipsis. A width of 0 or less cuts nothing.
func Cut(s string, width int) string {
	if width <= 0 || len(s) <= width || Width(s) <= width {
		return s
	}
	n := 0
	for i, r := range s {
		if n += columns(r); n > width-1 {
			return s[:i] + "…"
		}
	}
	return s
}
