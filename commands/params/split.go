package params

import (
	"errors"
	"strings"
)

// Errors for an incomplete line.
var (
	errOpenQuote = errors.New("a quote is not closed")
	errOpenJSON  = errors.New("a bracket is not closed")
)

// Split splits a line from the prompt into words. Blanks separate words, and quotes and backslashes work as in sh; other
// features of sh are not supported. JSON that begins with a bracket or a double quote, as a word or after KEY:=, keeps
// its blanks and quotes. open is true if the line ends inside a bracket and may continue.
func Split(line string) (words []string, open bool, err error) {
	s := &splitter{rest: line}
	for err == nil {
		s.rest = strings.TrimLeft(s.rest, blanks)
		if s.rest == "" {
			return s.words, false, nil
		}
		err = s.word()
	}
	return nil, err == errOpenJSON, err
}

const blanks = " \t\r\n"

type splitter struct {
	rest  string
	words []string
}

// word removes one word from the rest.
func (s *splitter) word() error {
	var b strings.Builder
	for s.rest != "" && !strings.ContainsRune(blanks, rune(s.rest[0])) {
		if s.startsJSON(b.String(), s.rest[0]) {
			n, err := jsonEnd(s.rest)
			if err != nil {
				return err
			}
			b.WriteString(s.rest[:n])
			s.rest = s.rest[n:]
			continue
		}
		if err := s.piece(&b); err != nil {
			return err
		}
	}
	s.words = append(s.words, b.String())
	return nil
}

// startsJSON reports whether c, at the start of a word, begins JSON that Split keeps unchanged. The first word may be a
// message, but not a JSON string.
func (s *splitter) startsJSON(word string, c byte) bool {
	if c != '{' && c != '[' && (c != '"' || len(s.words) == 0) {
		return false
	}
	_, op, value := splitKey(word)
	return word == "" || op == ":=" && value == ""
}

// piece moves one character, or one quoted part, from the rest to b.
func (s *splitter) piece(b *strings.Builder) error {
	c := s.rest[0]
	s.rest = s.rest[1:]
	switch c {
	case '\'':
		text, after, ok := strings.Cut(s.rest, "'")
		if !ok {
			return errOpenQuote
		}
		b.WriteString(text)
		s.rest = after
	case '"':
		return s.quoted(b)
	case '\\':
		if s.rest == "" {
			return errors.New("a character is missing after the backslash")
		}
		b.WriteByte(s.rest[0])
		s.rest = s.rest[1:]
	default:
		b.WriteByte(c)
	}
	return nil
}

// quoted moves the rest of a part in double quotes to b. As in sh, a backslash in it escapes only ", \, $ and the
// backquote.
func (s *splitter) quoted(b *strings.Builder) error {
	for i := 0; i < len(s.rest); i++ {
		switch c := s.rest[i]; {
		case c == '"':
			s.rest = s.rest[i+1:]
			return nil
		case c == '\\' && i+1 < len(s.rest) && strings.IndexByte("\"\\$`", s.rest[i+1]) >= 0:
			i++
			b.WriteByte(s.rest[i])
		default:
			b.WriteByte(c)
		}
	}
	return errOpenQuote
}

// jsonEnd returns the length of the value at the start of s, which begins with a bracket or a quote. It only matches
// brackets and quotes.
func jsonEnd(s string) (int, error) {
	depth, text := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case text:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		if depth <= 0 && !text {
			return i + 1, nil
		}
	}
	if text {
		return 0, errOpenQuote
	}
	return 0, errOpenJSON
}
