package redact

import (
	"bytes"

	"rpcx/wire/scan"
)

// A Stream replaces secrets by "…" in bytes that come in pieces, wherever the pieces are cut: what JSON replaces, and
// beside it, outside of texts in quotes, the values of header lines and of query parameters whose names SecretName
// knows, and what follows the words Bearer and Basic. The bytes need not be JSON. The zero value is ready.
type Stream struct {
	state  state
	key    []byte // the text in quotes that goes on, or that ended last; else the word that goes on
	ended  bool   // key is a text that has ended: a colon makes it a key
	escape bool   // the byte before was a backslash in quotes
	depth  int    // of what is left out
	quoted bool   // a text goes on in what is left out
	number bool   // a number may be shown where a secret is awaited
}

// A state is what the next byte belongs to.
type state uint8

const (
	outside    state = iota
	inText           // a text in quotes
	awaiting         // the value of a secret member
	hiddenText       // the value of one, or the rest of a text that holds credentials
	hiddenTree       // an object or an array that is one
	hiddenWord       // a number, or a query's value
	hiddenLine       // a header's value
	scheme           // the blanks behind Bearer or Basic
)

// longestKey bounds what is kept of a text; a longer one is taken to be a secret's name.
const longestKey = 1 << 10

// Append appends to dst what may be shown of b, which follows what came before.
func (s *Stream) Append(dst, b []byte) []byte {
	for _, c := range b {
		dst = s.next(dst, c)
	}
	return dst
}

// Text returns b without its secrets.
func Text(b []byte) []byte { return new(Stream).Append(nil, b) }

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

// outer takes a byte that is in no text.
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

// afterText takes a byte behind a text in quotes: a colon makes that a key.
func (s *Stream) afterText(c byte) {
	switch {
	case c == ':' && s.secret():
		s.number = numeric(quotes(s.key))
		s.become(awaiting)
	case c == ' ' || c == '\t' || c == '\r' || c == '\n':
	default:
		s.key, s.ended = s.key[:0], false
		if wordByte(c) {
			s.keep(c)
		}
	}
}

// afterWord takes a byte of a word outside of quotes, or the one behind it.
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

// text takes a byte of a text in quotes, its end included.
func (s *Stream) text(dst []byte, c byte) []byte {
	dst = append(dst, c)
	switch {
	case c == '\n': // no text goes on there
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

// endsText reports whether c is the quote at the end of a text.
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
	copy(s.key, s.key[1:]) // its end is what shows credentials
	s.key[longestKey] = c
}

// secret reports whether what follows the key is a secret.
func (s *Stream) secret() bool {
	return len(s.key) > longestKey || SecretName(scan.Key(s.key))
}

func quotes(key []byte) []byte { return append(append([]byte{'"'}, key...), '"') }

// value takes a byte that stands where the value of a secret member is awaited.
func (s *Stream) value(dst []byte, c byte) []byte {
	switch scan.Type([]byte{c}) {
	case 's':
		s.become(hiddenText)
		return append(append(dst, c), Mark...)
	case 'o', 'a':
		s.become(hiddenTree)
		s.depth, s.quoted = 1, false
		return append(append(append(dst, '"'), Mark...), '"')
	case 't', 'f', '0':
		s.become(outside)
		return append(dst, c)
	case 'n':
		s.become(outside)
		if s.number {
			return append(dst, c)
		}
		s.state = hiddenWord
		return append(append(append(dst, '"'), Mark...), '"')
	}
	if c == ' ' || c == '\t' || c == '\r' || c == '\n' {
		return append(dst, c)
	}
	s.become(hiddenLine)
	return append(dst, Mark...)
}

// tree takes a byte of an object or an array that is left out.
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

// wordByte reports whether c can stand in a name outside of quotes.
func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.'
}

// isScheme reports whether a word is the name of a scheme of the Authorization header.
func isScheme(word []byte) bool {
	return bytes.EqualFold(word, []byte("bearer")) || bytes.EqualFold(word, []byte("basic"))
}

// hasScheme reports whether a text ends with that name, where credentials would follow: the text begins with it, or it
// follows the name of a header.
func hasScheme(text []byte) bool {
	for _, name := range []string{"bearer", "basic"} {
		at := len(text) - len(name)
		if at >= 0 && isScheme(text[at:]) && (at == 0 || at > 1 && text[at-1] == ' ' && text[at-2] == ':') {
			return true
		}
	}
	return false
}
