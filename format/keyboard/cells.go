package keyboard

import (
	"bytes"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// The line editor counts one column for each character. To keep its cursor at the terminal's, a character that is two
// columns wide is followed in the editor's line by pad, which is never shown and is not part of the text. Keys that
// move by a character become the characters below, which have no other meaning for the editor. Edit carries them out,
// because only it treats a user's character as one character.
const (
	pad       = '\uFDD0' // Unicode reserves these as noncharacters
	cellBack  = '\uFDD1' // Backspace
	cellLeft  = '\uFDD2'
	cellRight = '\uFDD3'
	cellErase = '\uFDD4' // Delete

	// End is Ctrl-D: it deletes a character, or ends the input if the line is empty.
	End = '\uFDD5'
)

// Columns returns the number of columns that r occupies on a terminal: 2 for East Asian characters and emoji, 0 for
// marks that are drawn on the previous character.
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

// Padded returns text in the form of the editor's line.
func Padded(text string) string {
	var b strings.Builder
	open := false // a pad is due
	for _, r := range text {
		n := Columns(r)
		if open && n > 0 {
			b.WriteRune(pad)
		}
		b.WriteRune(r)
		open = n == 2 // a mark that is drawn on the character replaces its pad
	}
	if open {
		b.WriteRune(pad)
	}
	return b.String()
}

// Unpadded returns the text of a line of the editor.
func Unpadded(line string) string { return strings.ReplaceAll(line, string(pad), "") }

// follows reports whether r belongs to the previous character.
func follows(r rune) bool { return r == pad || Columns(r) == 0 }

// Edit carries out one of the keys above. It returns the new line of the editor and the new position of its cursor, in
// bytes. ok is false for any other key.
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

// firstCell returns the length, in bytes, of the first character of s with its
// marks and pad.
func firstCell(s string) int {
	for i, r := range s {
		if i > 0 && !follows(r) {
			return i
		}
	}
	return len(s)
}

// lastCell returns the length, in bytes, of the last character of s with its
// marks and pad.
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
