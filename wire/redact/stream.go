package redact

import (
	"bytes"

	"rpcx/wire/scan"
)

// A Stream redacts bytes that arrive in pieces of any size. It replaces the same values as JSON. Outside of quoted
// strings, it also replaces header values and query values whose names mean secrets, and the words after Bearer and
// Basic. The bytes need not be JSON. The zero value is usable.
type Stream struct {
	state  state
	key    []byte // the current or last quoted string, or the current word
	ended  bool   // key is a complete string; a colon after it makes it a key
	escape bool   // the previous byte was a backslash in a string
	depth  int    // the nesting in the redacted value
	quoted bool   // inside a string of the redacted value
}

// A state is the kind of text to which the next byte belongs.
type state uint8

const (
	outside    state = iota
	inText           // a quoted string
	awaiting         // the value of a secret member
	hiddenText       // a secret string, or the rest of a string with credentials
	hiddenTree       // a secret object or array
	hiddenWord       // a query value
	hiddenLine       // a header value
	scheme           // the blanks after Bearer or Basic
)

// longestKey is the length in bytes of the longest string that is compared with the names of secrets. A longer string counts
// as the name of a secret.
const longestKey = 1 << 10

// Append redacts b, which continues the previous bytes, and appends the result to dst.
func (s *Stream) Append(dst, b []byte) []byte {
	for _, c := range b {
		dst = s.next(dst, c)
	}
	return dst
}

func (s *Stream) next(dst []byte, c byte) []byte {
	switch s.state {
	case inText:
		return s.text(dst, c)
	case awaiting:
		return s.value(dst, c)
	case hiddenText:
		if end := s.endsText(c); end {
			s.become(outside)
			return append(dst, c)
		}
		return dst
	case hiddenTree:
		s.tree(c)
		return dst
	case hiddenWord:
		if !bytes.ContainsRune([]byte("&;,]}\"' \t\r\n"), rune(c)) {
			return dst
		}
		s.become(outside)
	case hiddenLine:
		if c != '\r' && c != '\n' {
			return dst
		}
		s.become(outside)
	case scheme:
		switch c {
		case ' ':
			return append(dst, c)
		case '\r', '\n', '"':
			s.become(outside)
		default:
			s.become(hiddenWord)
			return append(dst, Mark...)
		}
	}
	return s.outer(dst, c)
}

func (s *Stream) become(to state) {
	s.state, s.key, s.ended, s.escape = to, s.key[:0], false, false
}

// outer processes a byte outside of strings.
func (s *Stream) outer(dst []byte, c byte) []byte {
	dst = append(dst, c)
	switch {
	case c == '"':
		s.become(inText)
		return dst
	case s.ended:
		s.afterText(c)
		return dst
	}
	return s.afterWord(dst, c)
}

// afterText processes a byte after a string. A colon makes the string a key.
func (s *Stream) afterText(c byte) {
	switch {
	case c == ':' && s.secret():
		s.become(awaiting)
	case c == ' ' || c == '\t' || c == '\r' || c == '\n':
	default:
		s.key, s.ended = s.key[:0], false
		if wordByte(c) {
			s.keep(c)
		}
	}
}

// afterWord processes a byte of a word outside of strings, or the byte that ends it.
func (s *Stream) afterWord(dst []byte, c byte) []byte {
	switch {
	case wordByte(c):
		s.keep(c)
	case c == ':' && len(s.key) > 0 && s.secret():
		s.become(hiddenLine)
		return append(append(dst, ' '), Mark...)
	case c == '=' && len(s.key) > 0 && s.secret():
		s.become(hiddenWord)
		return append(dst, Mark...)
	case c == ' ' && isScheme(s.key):
		s.become(scheme)
	default:
		s.key = s.key[:0]
	}
	return dst
}

// text processes a byte of a string, or the quote that ends it.
func (s *Stream) text(dst []byte, c byte) []byte {
	dst = append(dst, c)
	switch {
	case c == '\n': // strings end with their line
		s.become(outside)
		return dst
	case s.endsText(c):
		s.state, s.ended = outside, true
		return dst
	case c == ' ' && hasScheme(s.key):
		s.state = hiddenText
		return append(dst, Mark...)
	}
	s.keep(c)
	return dst
}

// endsText reports whether c is the quote that ends a string.
func (s *Stream) endsText(c byte) bool {
	end := c == '"' && !s.escape
	s.escape = c == '\\' && !s.escape
	return end
}

func (s *Stream) keep(c byte) {
	if len(s.key) <= longestKey {
		s.key = append(s.key, c)
		return
	}
	copy(s.key, s.key[1:]) // credentials are recognized by the end of the string
	s.key[longestKey] = c
}

func (s *Stream) secret() bool {
	return len(s.key) > longestKey || SecretName(scan.Key(s.key))
}

// value processes a byte where the value of a secret member begins.
func (s *Stream) value(dst []byte, c byte) []byte {
	switch scan.Type([]byte{c}) {
	case 's':
		s.become(hiddenText)
		return append(append(dst, c), Mark...)
	case 'o', 'a':
		s.become(hiddenTree)
		s.depth, s.quoted = 1, false
		return append(append(append(dst, '"'), Mark...), '"')
	case 't', 'f', '0', 'n':
		s.become(outside)
		return append(dst, c)
	}
	if c == ' ' || c == '\t' || c == '\r' || c == '\n' {
		return append(dst, c)
	}
	s.become(hiddenLine)
	return append(dst, Mark...)
}

// tree processes a byte of an object or array that is being redacted.
func (s *Stream) tree(c byte) {
	if s.quoted {
		s.quoted = !s.endsText(c)
		return
	}
	switch c {
	case '"':
		s.quoted, s.escape = true, false
	case '{', '[':
		s.depth++
	case '}', ']':
		if s.depth--; s.depth == 0 {
			s.become(outside)
		}
	}
}

// Limits, in bytes, for text that arrives in pieces: for a secret that several pieces contain, and for the text before it that
// shows what it is.
const longestSecret, longestContext = 16 << 10, 512

// Settled returns how many bytes at the start of text Spans can redact although more bytes will follow text. These are whole lines,
// or all but the last longestSecret bytes of a longer line, without a secret that may continue.
func Settled(text []byte) int {
	end := max(bytes.LastIndexByte(text, '\n')+1, len(text)-longestSecret)
	done := 0
	for from, to := find(text, 0); to > 0; from, to = find(text, to) {
		start := max(from-longestContext, bytes.LastIndexByte(text[:from], '\n')+1, done)
		if start >= end {
			break
		}
		if (to > end || to == len(text)) && len(text)-from < 4*longestSecret {
			return start
		}
		done = to
	}
	return end
}

// wordByte reports whether c can be part of a name outside of strings.
func wordByte(c byte) bool { return tokenByte(c) || c == '.' }

// isScheme reports whether a word is Bearer or Basic, in any case.
func isScheme(word []byte) bool {
	return bytes.EqualFold(word, []byte("bearer")) || bytes.EqualFold(word, []byte("basic"))
}

// hasScheme reports whether text ends with one of those words where credentials can follow: at its start, or after the
// name of a header.
func hasScheme(text []byte) bool {
	for _, name := range []string{"bearer", "basic"} {
		at := len(text) - len(name)
		if at >= 0 && isScheme(text[at:]) && (at == 0 || at > 1 && text[at-1] == ' ' && text[at-2] == ':') {
			return true
		}
	}
	return false
}
