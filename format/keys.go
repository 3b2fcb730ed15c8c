package format

import "io"

// keys stands between a terminal's keyboard and the line editor: it takes
// Ctrl-C, which the editor would take for the end, and Ctrl-Z; it makes one code of the many
// that terminals send for a key; and of what is pasted it lets nothing through
// that the terminal would obey when it is shown.
type keys struct {
	in        io.Reader
	interrupt func() bool // Ctrl-C; false: the line is to be cleared
	suspend   func()      // Ctrl-Z

	out   []byte // for the editor
	seq   []byte // an escape sequence that has not ended
	paste bool
	c1    bool // the first byte of a C1 control came
	cr    bool // the last byte ended a line: a line feed after it does not end another
	buf   [256]byte
}

// What the editor knows.
const (
	keyHome     = "\x01"
	keyEnd      = "\x05"
	keyWordLeft = "\x1b[1;3D"
	keyWordNext = "\x1b[1;3C"
	keyEraseAll = keyEnd + "\x15"
	pasteBegins = "\x1b[200~"
	pasteEnds   = "\x1b[201~"
)

// sequences are the escape sequences that are passed on, and as what. Others are
// dropped: the editor would take their ends for text.
var sequences = map[string]string{
	"\x1b[A": "\x1b[A", "\x1b[B": "\x1b[B", "\x1b[C": "\x1b[C", "\x1b[D": "\x1b[D",
	"\x1bOA": "\x1b[A", "\x1bOB": "\x1b[B", "\x1bOC": "\x1b[C", "\x1bOD": "\x1b[D",
	"\x1b[H": keyHome, "\x1b[1~": keyHome, "\x1b[7~": keyHome, "\x1bOH": keyHome,
	"\x1b[F": keyEnd, "\x1b[4~": keyEnd, "\x1b[8~": keyEnd, "\x1bOF": keyEnd,
	"\x1b[3~":   "\x1b[3~",
	"\x1b[1;3D": keyWordLeft, "\x1b[1;5D": keyWordLeft, "\x1bb": keyWordLeft,
	"\x1b[1;3C": keyWordNext, "\x1b[1;5C": keyWordNext, "\x1bf": keyWordNext,
	"\x1b\x7f": "\x17", "\x1b\b": "\x17",
	pasteBegins: pasteBegins, pasteEnds: pasteEnds,
}

// longestSequence bounds, in bytes, an escape sequence of a key; a longer one is
// dropped.
const longestSequence = 16

func (k *keys) Read(b []byte) (int, error) {
	for len(k.out) == 0 {
		n, err := k.in.Read(k.buf[:])
		for _, c := range k.buf[:n] {
			k.take(c)
		}
		if err != nil && len(k.out) == 0 {
			return 0, err
		}
	}
	n := copy(b, k.out)
	k.out = k.out[n:]
	return n, nil
}

// take reads one byte.
func (k *keys) take(c byte) {
	switch {
	case c == 3:
		k.stop()
	case c == 0x1b:
		k.seq = append(k.seq[:0], c)
	case len(k.seq) > 0:
		k.seq = append(k.seq, c)
		k.sequence()
	case k.paste:
		k.pasted(c)
	case c == 0x1a:
		k.suspend()
	default:
		k.out = append(k.out, c)
	}
}

// stop is Ctrl-C, which ends a paste as well, whatever the terminal thinks.
func (k *keys) stop() {
	if k.paste {
		k.out = append(k.out, pasteEnds...)
	}
	k.paste, k.c1, k.seq = false, false, k.seq[:0]
	if !k.interrupt() {
		k.out = append(k.out, keyEraseAll...)
	}
}

// sequence passes an escape sequence on when it is whole.
func (k *keys) sequence() {
	s := k.seq
	last := s[len(s)-1]
	switch {
	case len(s) == 2 && (last == '[' || last == 'O'):
		return
	case s[1] == '[' && (last < 0x40 || last > 0x7e) && len(s) < longestSequence:
		return
	}
	known, ok := sequences[string(s)]
	k.seq = k.seq[:0]
	if !ok || k.paste && known != pasteEnds {
		return
	}
	k.paste = known == pasteBegins
	k.out = append(k.out, known...)
}

// pasted takes a byte between the marks of a paste. Line breaks end lines there, as
// elsewhere; a tab does not complete; control characters are dropped.
func (k *keys) pasted(c byte) {
	if k.c1 {
		k.c1 = false
		if c >= 0x80 && c < 0xa0 {
			return
		}
		k.out = append(k.out, 0xc2)
	}
	switch {
	case c == 0xc2:
		k.c1 = true
	case c == '\t':
		k.out = append(k.out, ' ')
	case c == '\r' || c == '\n' && !k.cr:
		k.out = append(k.out, '\r')
	case c >= 0x20 && c != 0x7f:
		k.out = append(k.out, c)
	}
	k.cr = c == '\r'
}
