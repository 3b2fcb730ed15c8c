package keyboard

import (
	"bytes"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// The line editor takes each character for one column of the terminal. So that its cursor
// stands where the terminal's does, a character that takes two columns is followed in its
// line by pad, which is never shown and no part of what was typed. The keys that move
// by a character come to the editor as characters that mean nothing else, and are
// obeyed by Edit: it moves by what is seen as one.
const (
	pad       = '\uFDD0' // these are no characters, by the Unicode standard
	cellBack  = '\uFDD1' // Backspace
	cellLeft  = '\uFDD2'
	cellRight = '\uFDD3'
	cellErase = '\uFDD4' // Delete

	// End is Ctrl-D: Delete, or the end where the line is empty.
	End = '\uFDD5'
)

// cellWidth returns how many columns of a terminal r takes: 2 for East Asian characters and
// emoji, 0 for what is drawn on the character before it.
func cellWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
		return 2
	}
	return 1
}

// Padded returns text as the editor has it, for what comes into its line.
func Padded(text string) string {
	var b strings.Builder
	open := false // a pad belongs here
	for _, r := range text {
		n := cellWidth(r)
		if open && n > 0 {
			b.WriteRune(pad)
		}
		b.WriteRune(r)
		open = n == 2 // what is drawn on it takes the place of the pad
	}
	if open {
		b.WriteRune(pad)
	}
	return b.String()
}

// Unpadded returns what was typed of a line of the editor.
func Unpadded(line string) string { return strings.ReplaceAll(line, string(pad), "") }

// follows reports whether r belongs to the character before it.
func follows(r rune) bool { return r == pad || cellWidth(r) == 0 }

// Edit obeys one of the keys above: it returns the line of the editor, and the place
// of its cursor in bytes, after it. ok is false for any other key.
func Edit(line string, pos int, key rune) (after string, at int, ok bool) {
	left, right := line[:pos], line[pos:]
	switch key {
	case cellBack:
		left = left[:len(left)-lastCell(left)]
	case cellLeft:
		return line, pos - lastCell(left), true
	case cellRight:
		return line, pos + firstCell(right), true
	case cellErase, End:
		right = right[firstCell(right):]
	default:
		return "", 0, false
	}
	return left + right, len(left), true
}

// firstCell returns how many bytes the first character of s has, with what follows it.
func firstCell(s string) int {
	for i, r := range s {
		if i > 0 && !follows(r) {
			return i
		}
	}
	return len(s)
}

// lastCell returns how many bytes the last character of s has, with what follows it.
func lastCell(s string) int {
	n := 0
	for n < len(s) {
		r, size := utf8.DecodeLastRuneInString(s[:len(s)-n])
		if n += size; !follows(r) {
			break
		}
	}
	return n
}

// Screen returns what writes to a terminal w what the editor draws, without its pads.
func Screen(w io.Writer) io.Writer { return padless{w} }

type padless struct{ io.Writer }

func (p padless) Write(b []byte) (int, error) {
	_, err := p.Writer.Write(bytes.ReplaceAll(b, []byte(string(pad)), nil))
	return len(b), err
}
