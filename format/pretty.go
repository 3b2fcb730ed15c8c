package format

import (
	"unicode/utf8"

	"rpcx/wire/scan"
)

// style determines how values are printed. The zero style changes nothing.
type style struct {
	indent bool // with two blanks per level, as in jq
	color  bool
	escape bool // control characters become \uXXXX, for terminals
}

// The colors that jq uses.
const (
	colorNull   = "\x1b[0;90m"
	colorPlain  = "\x1b[0;39m" // numbers, true and false
	colorString = "\x1b[0;32m"
	colorKey    = "\x1b[34;1m"
	colorMark   = "\x1b[1;39m" // brackets, commas and colons
	colorOff    = "\x1b[0m"
)

// maxIndent is the maximum number of levels that are indented. Deeper levels would consist mostly of blanks, and a
// hostile peer could cause megabytes of them.
const maxIndent = 100

// append appends val, a valid JSON value, in this style. Keys keep their order, numbers their digits, and strings their
// escapes. If val is invalid, as much as possible is formatted.
func (l style) append(dst, val []byte) []byte {
	depth := 0
	for i := 0; i < len(val); {
		switch c := val[i]; c {
		case ' ', '\t', '\n', '\r':
			i++
		case '{', '[':
			i = scan.Skip(val, i+1)
			if i < len(val) && val[i] == c+2 { // in ASCII, c+2 is the closing bracket
				dst = l.mark(dst, val[i]-2, val[i])
				i++
				break
			}
			depth++
			dst = l.newline(l.mark(dst, c), depth)
		case '}', ']':
			i++
			depth = max(0, depth-1)
			dst = l.mark(l.newline(dst, depth), c)
		case ',':
			i++
			dst = l.newline(l.mark(dst, c), depth)
		case ':':
			i++
			dst = l.mark(dst, c)
			if l.indent {
				dst = append(dst, ' ')
			}
		default:
			end := token(val, i)
			dst = l.token(dst, val[i:end], c == '"' && scan.IsKeyEnd(val, end))
			i = end
		}
	}
	return dst
}

// token returns the end of the string, number or literal at i.
func token(b []byte, i int) int {
	if b[i] == '"' {
		return scan.StringEnd(b, i)
	}
	for i++; i < len(b); i++ {
		switch b[i] {
		case ' ', '\t', '\n', '\r', '{', '}', '[', ']', ',', ':', '"':
			return i
		}
	}
	return i
}

func (l style) newline(dst []byte, depth int) []byte {
	if !l.indent {
		return dst
	}
	dst = append(dst, '\n')
	for range min(depth, maxIndent) {
		dst = append(dst, "  "...)
	}
	return dst
}

func (l style) mark(dst []byte, marks ...byte) []byte {
	if !l.color {
		return append(dst, marks...)
	}
	dst = append(dst, colorMark...)
	dst = append(dst, marks...)
	return append(dst, colorOff...)
}

func (l style) token(dst, tok []byte, key bool) []byte {
	if !l.color {
		return l.plain(dst, tok)
	}
	switch {
	case key:
		dst = append(dst, colorKey...)
	case tok[0] == '"':
		dst = append(dst, colorString...)
	case tok[0] == 'n':
		dst = append(dst, colorNull...)
	default:
		dst = append(dst, colorPlain...)
	}
	return append(l.plain(dst, tok), colorOff...)
}

// plain appends the text of a token.
func (l style) plain(dst, tok []byte) []byte {
	if !l.escape {
		return append(dst, tok...)
	}
	for i := 0; i < len(tok); {
		if c := tok[i]; 0x20 <= c && c < 0x7f {
			dst = append(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRune(tok[i:])
		if isControl(r) {
			dst = appendVisible(dst, r)
		} else {
			dst = utf8.AppendRune(dst, r)
		}
		i += n
	}
	return dst
}
