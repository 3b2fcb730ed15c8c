package scan

import (
	"bytes"
	"cmp"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// trusted is the maximum depth for values that have already been checked.
const trusted = 1 << 16

// Get returns the value of the first member of obj named key. It returns nil if there is no such member or obj is not
// an object. obj must be valid.
func Get(obj []byte, key string) []byte {
	for k, val := range Members(obj) {
		if IsKey(k, key) {
			return val
		}
	}
	return nil
}

// IsKey reports whether raw, a key that Members has yielded, decodes to name.
func IsKey(raw []byte, name string) bool {
	if string(raw) == name {
		return true
	}
	return len(raw) > len(name) && bytes.IndexByte(raw, '\\') >= 0 && Key(raw) == name
}

// Key decodes a key that Members has yielded.
func Key(raw []byte) string { return string(Unescaped(raw)) }

// Unescaped is like Key, but returns bytes: raw itself if there are no escapes.
func Unescaped(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	return unescape(make([]byte, 0, len(raw)), raw)
}

// Text decodes the JSON string val. ok is false if val is not a string. An unpaired surrogate becomes U+FFFD. Invalid
// UTF-8 stays unchanged.
func Text(val []byte) (text string, ok bool) {
	if len(val) < 2 || val[0] != '"' {
		return "", false
	}
	if end, bad := str(val, 0); bad != none || end != len(val) {
		return "", false
	}
	return Key(val[1 : len(val)-1]), true
}

// String decodes the JSON string val. It returns "" for other values.
func String(val []byte) string {
	text, _ := Text(val)
	return text
}

// unescape appends the decoded form of raw, which is a string token without its quotes.
func unescape(dst, raw []byte) []byte {
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 || i+1 >= len(raw) {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:i]...)
		c := raw[i+1]
		raw = raw[i+2:]
		if c == 'u' {
			var r rune
			r, raw = unescapeRune(raw)
			dst = utf8.AppendRune(dst, r)
		} else {
			dst = append(dst, cmp.Or(escaped[c], c))
		}
	}
}

// escapes has the second character of each short escape, by the character for which it stands.
var escapes = [...]byte{'\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't', '"': '"', '\\': '\\'}

// escaped is the reverse of escapes, without the characters that stand for themselves.
var escaped = [256]byte{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescapeRune reads the four digits after \u and, for a surrogate pair, the second escape. rest is the remaining
// input.
func unescapeRune(raw []byte) (r rune, rest []byte) {
	r, ok := hex4(raw)
	if !ok {
		return utf8.RuneError, raw
	}
	raw = raw[4:]
	if !utf16.IsSurrogate(r) {
		return r, raw
	}
	if len(raw) >= 6 && raw[0] == '\\' && raw[1] == 'u' {
		if low, ok := hex4(raw[2:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, raw[6:]
			}
		}
	}
	return utf8.RuneError, raw
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[:4]), 16, 16)
	return rune(n), err == nil
}

// Compact appends val to dst. If val contains a line break, Compact removes the blanks and line breaks between tokens.
// Otherwise it appends val unchanged. If val is valid, the appended bytes contain no line break.
func Compact(dst, val []byte) []byte {
	if bytes.IndexByte(val, '\n') < 0 && bytes.IndexByte(val, '\r') < 0 {
		return append(dst, val...)
	}
	return Minify(dst, val)
}

// Minify appends val to dst without the blanks and line breaks between its tokens. If val is not JSON, the rest after the
// first invalid string stays unchanged.
func Minify(dst, val []byte) []byte {
	for len(val) > 0 {
		end := blankAt(val)
		dst = append(dst, val[:end]...)
		val = val[Skip(val, end):]
	}
	return dst
}

// IsMinified reports whether Minify would leave val unchanged.
func IsMinified(val []byte) bool { return blankAt(val) == len(val) }

// blankAt returns the offset of the first blank or line break in val that is not in a string, or len(val).
func blankAt(val []byte) int {
	for i := 0; i < len(val); {
		switch {
		case blank[val[i]]:
			return i
		case val[i] != '"':
			i++
		default:
			end, bad := str(val, i)
			if bad != none {
				return len(val)
			}
			i = end
		}
	}
	return len(val)
}

// AppendQuoted appends text as a JSON string in the same way as encoding/json, but leaves <, > and & unchanged. Invalid
// UTF-8 becomes U+FFFD.
func AppendQuoted(dst []byte, text string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(text); {
		c, size := rune(text[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRuneInString(text[i:])
		}
		if c >= ' ' && c != '"' && c != '\\' && c != '\u2028' && c != '\u2029' && (c != utf8.RuneError || size > 1) {
			i += size
			continue
		}
		dst = appendEscape(append(dst, text[from:i]...), c)
		i += size
		from = i
	}
	dst = append(dst, text[from:]...)
	return append(dst, '"')
}

func appendEscape(dst []byte, c rune) []byte {
	const hex = "0123456789abcdef"
	if int(c) < len(escapes) && escapes[c] != 0 {
		return append(dst, '\\', escapes[c])
	}
	return append(dst, '\\', 'u', hex[c>>12&15], hex[c>>8&15], hex[c>>4&15], hex[c&15])
}
