package format

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"rpcx/wire"
)

// isControl reports whether r could control a terminal or change the order of the text around it. Such characters are
// C0 and C1 control characters, DEL, and bidirectional marks.
func isControl(r rune) bool {
	return r < 0x20 || 0x7f <= r && r <= 0x9f || unicode.Is(unicode.Bidi_Control, r)
}

// VisibleJSON escapes all characters in the JSON b that a terminal or browser could interpret. They occur only in
// strings.
func VisibleJSON(b []byte) []byte {
	if safeRunes(string(b)) {
		return b
	}
	out := make([]byte, 0, len(b)+16)
	for _, r := range string(b) {
		if r >= 0x7f && isControl(r) {
			out = appendVisible(append(out, '\\'), r)
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}

// Safe reports whether s contains no line breaks, no tabs and no characters that Clean would change.
func Safe(s string) bool { return safe(s) && !strings.ContainsAny(s, "\n\t") }

func appendVisible(b []byte, r rune) []byte {
	return fmt.Appendf(b, `\u%04x`, r)
}

// Clean makes text from a peer safe for a terminal. Control characters become \uXXXX, and bytes that are not UTF-8
// become U+FFFD. Line feeds and tabs remain. The carriage return of a CRLF is removed.
func Clean(s string) string {
	if safe(s) {
		return s
	}
	b := make([]byte, 0, len(s)+16)
	for i, r := range s {
		switch {
		case r == '\n' || r == '\t':
			b = append(b, byte(r))
		case r == '\r' && strings.HasPrefix(s[i+1:], "\n"):
		case isControl(r):
			b = appendVisible(b, r)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return string(b)
}

// CleanLine is like Clean, but returns a single line: line breaks and tabs become blanks (one for several in a row) and
// are removed from both ends.
func CleanLine(s string) string {
	s = Clean(s)
	if !strings.ContainsAny(s, "\n\t") {
		return s
	}
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\t' }), " ")
}

// safe reports whether Clean would leave s unchanged.
func safe(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 && c != '\n' && c != '\t' || c >= 0x7f {
			return c >= 0x80 && safeRunes(s[i:])
		}
	}
	return true
}

func safeRunes(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return isControl(r) && r != '\n' && r != '\t' })
}

// QuoteAll returns the words of a command line, quoted for sh.
func QuoteAll(words []string) string {
	return strings.Join(wire.Map(words, wire.Quote), " ")
}
