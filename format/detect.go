package format

import (
	"os"

	"golang.org/x/term"
)

// A Screen is what a stream leads to.
type Screen struct {
	Terminal bool
	Dumb     bool // a terminal without cursor movement: no bars
	Color    bool
	Width    int // columns; 0: unknown, or no terminal
}

// Detect looks at one stream. mode is what --color says: auto, always or never.
// In auto NO_COLOR, CLICOLOR_FORCE and TERM=dumb are honoured, in this order.
func Detect(f *os.File, mode string, env func(string) string) Screen {
	s := Screen{Terminal: term.IsTerminal(int(f.Fd()))}
	s.color(mode, env)
	if s.Terminal {
		s.Width, _, _ = term.GetSize(int(f.Fd()))
	}
	return s
}

func (s *Screen) color(mode string, env func(string) string) {
	s.Dumb = env("TERM") == "dumb" || env("TERM") == ""
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
