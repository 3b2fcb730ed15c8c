// Package keyboard translates between a terminal and the line editor of golang.org/x/term. It forwards only keys that
// the editor supports, and makes the editor move by whole characters of any width.
package keyboard

import (
	"bytes"
	"io"
	"unicode/utf8"
)

// Keys reads a terminal's keyboard for the line editor. It handles Ctrl-C, which would otherwise end the editor's
// input, and Ctrl-Z. Different terminals send different codes for the same key; Keys maps them to one. It drops control
// characters in pasted text, because the terminal would interpret them.
type Keys struct {
	in        io.Reader
	interrupt func() bool // called on Ctrl-C; clears the line if it returns false
	suspend   func()      // called on Ctrl-Z

	out   []byte // input for the editor
	part  []byte // the first bytes of an incomplete character
	wide  bool   // the last character in out is a pad
	seq   []byte // an incomplete escape sequence
	paste bool
	c1    bool // the last byte was the first of a C1 control character
	cr    bool // the last byte was a carriage return, so a line feed does not end another line
	buf   [256]byte
}

// NewKeys returns Keys that reads from in. It calls interrupt on Ctrl-C, and clears the line if interrupt returns
// false. It calls suspend on Ctrl-Z.
func NewKeys(in io.Reader, interrupt func() bool, suspend func()) *Keys {
	return &Keys{in: in, interrupt: interrupt, suspend: suspend}
}

// The codes that the editor supports.
const (
	keyHome     = "\x01"
	keyEnd      = "\x05"
	keyWordLeft = "\x1b[1;3D"
	keyWordNext = "\x1b[1;3C"
	keyEraseAll = keyEnd + "\x15"
	pasteBegins = "\x1b[200~"
	pasteEnds   = "\x1b[201~"
)

// sequences maps escape sequences to the editor's input. Other sequences are dropped, because the editor would insert
// the last part of them as text.
var sequences = map[string]string{
	"\x1b[A": "\x1b[A", "\x1b[B": "\x1b[B", "\x1b[C": string(cellRight), "\x1b[D": string(cellLeft),
	"\x1bOA": "\x1b[A", "\x1bOB": "\x1b[B", "\x1bOC": string(cellRight), "\x1bOD": string(cellLeft),
	"\x1b[H": keyHome, "\x1b[1~": keyHome, "\x1b[7~": keyHome, "\x1bOH": keyHome,
	"\x1b[F": keyEnd, "\x1b[4~": keyEnd, "\x1b[8~": keyEnd, "\x1bOF": keyEnd,
	"\x1b[3~":   string(cellErase),
	"\x1b[1;3D": keyWordLeft, "\x1b[1;5D": keyWordLeft, "\x1bb": keyWordLeft,
	"\x1b[1;3C": keyWordNext, "\x1b[1;5C": keyWordNext, "\x1bf": keyWordNext,
	"\x1b\x7f": "\x17", "\x1b\b": "\x17",
	pasteBegins: pasteBegins, pasteEnds: pasteEnds,
}

// longestSequence is the maximum length of a key's escape sequence in bytes. Longer ones are dropped.
const longestSequence = 16

func (k *Keys) Read(b []byte) (int, error) {
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

func (k *Keys) take(c byte) {
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
		k.put(c)
	}
}

// controls are keys that move by a character and that terminals send as one byte.
var controls = map[byte]rune{0x7f: cellBack, '\b': cellBack, 2: cellLeft, 4: End, 6: cellRight}

// put forwards a typed or pasted byte as soon as its character is complete.
func (k *Keys) put(c byte) {
	if c < utf8.RuneSelf {
		k.part, k.wide = k.part[:0], false
		if key := controls[c]; key != 0 {
			k.out = utf8.AppendRune(k.out, key)
			return
		}
		k.out = append(k.out, c)
		return
	}
	if k.part = append(k.part, c); !utf8.FullRune(k.part) {
		return
	}
	r, _ := utf8.DecodeRune(k.part)
	k.part = k.part[:0]
	n := Columns(r)
	if n == 0 && k.wide { // a mark, which replaces the pad
		k.unpad()
	}
	k.out = utf8.AppendRune(k.out, r)
	if k.wide = n == 2; k.wide {
		k.out = utf8.AppendRune(k.out, pad)
	}
}

// End makes the editor return the end of input, as Ctrl-D does on an empty line.
func (k *Keys) End() { k.out = append(k.out, 4) }

// unpad removes the last pad. During a paste, keys have no effect on the editor, but a paste arrives in one piece.
func (k *Keys) unpad() {
	if before, ok := bytes.CutSuffix(k.out, []byte(string(pad))); ok {
		k.out = before
	} else if !k.paste {
		k.out = append(k.out, 0x7f)
	}
}

// stop handles Ctrl-C. If the end of a paste has not arrived, Ctrl-C ends the paste.
func (k *Keys) stop() {
	if k.paste {
		k.out = append(k.out, pasteEnds...)
	}
	k.paste, k.c1, k.wide, k.seq, k.part = false, false, false, k.seq[:0], k.part[:0]
	if !k.interrupt() {
		k.out = append(k.out, keyEraseAll...)
	}
}

// sequence forwards an escape sequence when it is complete.
func (k *Keys) sequence() {
	s := k.seq
	last := s[len(s)-1]
	switch {
	case len(s) == 2 && (last == '[' || last == 'O'):
		return
	case s[1] == '[' && (last < 0x40 || last > 0x7e) && len(s) < longestSequence:
		return
	}
	known, ok := sequences[string(s)]
	k.seq, k.wide = k.seq[:0], false
	if !ok || k.paste && known != pasteEnds {
		return
	}
	k.paste = known == pasteBegins
	k.out = append(k.out, known...)
}

// pasted handles a byte of a paste. Line breaks end lines, tabs become blanks, and control characters are dropped.
func (k *Keys) pasted(c byte) {
	if k.c1 {
		k.c1 = false
		if c >= 0x80 && c < 0xa0 {
			return
		}
		k.put(0xc2)
	}
	switch {
	case c == 0xc2:
		k.c1 = true
	case c == '\t':
		k.put(' ')
	case c == '\r' || c == '\n' && !k.cr:
		k.put('\r')
	case c >= 0x20 && c != 0x7f:
		k.put(c)
	}
	k.cr = c == '\r'
}
