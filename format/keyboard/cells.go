package keyboard

import (
	"bytes"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// The line editor assumes that each character is one column wide. A character that is two columns wide is followed by
// pad in the editor's line, so that the editor's cursor agrees with the terminal's. pad is never displayed and is not
// part of the text. Keys that move by a character are replaced by the characters below, which the editor ignores. Edit
// implements them, because only Edit can distinguish characters from pads.
const (
	pad       = '\uFDD0' // Unicode reserves these as noncharacters
	cellBack  = '\uFDD1' // Backspace
	cellLeft  = '\uFDD2'
	cellRight = '\uFDD3'
	cellErase = '\uFDD4' // Delete

	// End is Ctrl-D. It deletes a character, or ends the input on an empty line.
	End = '\uFDD5'
)

// Columns returns the width of r on a terminal in columns: 2 for East Asian characters and emoji, and 0 for marks on
// the previous character.
func Columns(r rune) int {
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

// Padded returns text in the form that the editor's line has.
func Padded(text string) string {
	var b strings.Builder
	open := false // a pad must follow
	for _, r := range text {
		n := Columns(r)
		if open && n > 0 {
			b.WriteRune(pad)
		}
		b.WriteRune(r)
		open = n == 2 // a mark on the character replaces its pad
	}
	if open {
		b.WriteRune(pad)
	}
	return b.String()
}

// Unpadded returns the text that a line of the editor represents.
func Unpadded(line string) string { return strings.ReplaceAll(line, string(pad), "") }

// follows reports whether r belongs to the previous character.
func follows(r rune) bool { return r == pad || Columns(r) == 0 }

// Edit implements one of the keys above. It returns the new line of the editor, and the new position of the cursor in
// bytes. ok is false for other keys.
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

// firstCell returns the length, in bytes, of the first character of s with its marks and pad.
func firstCell(s string) int {
	for i, r := range s {
		if i > 0 && !follows(r) {
			return i
		}
	}
	return len(s)
}

// lastCell returns the length, in bytes, of the last character of s with its marks and pad.
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

// Screen returns a writer that forwards the editor's output to the terminal w, without pads.
func Screen(w io.Writer) io.Writer { return padless{w} }

type padless struct{ io.Writer }

func (p padless) Write(b []byte) (int, error) {
	_, err := p.Writer.Write(bytes.ReplaceAll(b, []byte(string(pad)), nil))
	return len(b), err
}
