package scan

import (
	"encoding/binary"
	"math/bits"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special marks the first byte of x that is a quote, a backslash or a control character: the lowest bit that is set
// belongs to it. Higher bits have no meaning.
func special(x uint64) uint64 {
	quote := x ^ '"'*ones
	slash := x ^ '\\'*ones
	return ((quote-ones)&^quote | (slash-ones)&^slash | (x-' '*ones)&^x) & highs
}

// str checks the string whose opening quote is b[i] and returns the offset after its closing quote.
func str(b []byte, i int) (end int, bad fault) {
	if end, bad = stringRest(b, i+1); bad == cut {
		end = len(b)
	}
	return end, bad
}

// stringRest checks the rest of a string from b[i] on, which is not inside an escape, and returns the offset after the closing
// quote. If b ends before the string does, stringRest returns an offset from which it can continue with more bytes.
func stringRest(b []byte, i int) (int, fault) {
	for {
		if i = plain(b, i); i >= len(b) {
			return i, cut
		}
		switch b[i] {
		case '"':
			return i + 1, none
		case '\\':
			end, bad := escape(b, i)
			switch bad {
			case none:
				i = end
			case cut:
				return i, cut
			default:
				return end, bad
			}
		default:
			return i, badControl
		}
	}
}

// plain returns the end of the run of bytes from i that need no check: no quote, backslash or control character.
func plain(b []byte, i int) int {
	for i+8 <= len(b) {
		m := special(binary.LittleEndian.Uint64(b[i:]))
		if m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
		i = plainASCII(b, i+8) // longer than most names, so continue in larger steps
	}
	for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= ' ' {
		i++
	}
	return i
}

// A content describes which characters a string contains.
type content uint8

const (
	other content = iota
	ascii
	word // lower-case letters and digits
)

// asciiString is like str, but also returns the string's content.
func asciiString(b []byte, i int) (end int, is content, bad fault) {
	if i = wordRun(b, i+1); i < len(b) && b[i] == '"' {
		return i + 1, word, none
	}
	for {
		if i = asciiRun(b, i); i >= len(b) {
			return i, ascii, cut
		}
		switch {
		case b[i] == '"':
			return i + 1, ascii, none
		case b[i] == '\\':
			if i, bad = escape(b, i); bad != none {
				return i, ascii, bad
			}
		default: // a control character, or not ASCII
			end, bad = str(b, i-1)
			return end, other, bad
		}
	}
}

// wordRun returns the end of the run of bytes from i that are digits, lower-case letters or one of {|}~ and DEL.
func wordRun(b []byte, i int) int {
	for ; i+32 <= len(b); i += 32 {
		c := b[i : i+32]
		if NotWord(binary.LittleEndian.Uint64(c))|NotWord(binary.LittleEndian.Uint64(c[8:]))|
			NotWord(binary.LittleEndian.Uint64(c[16:]))|NotWord(binary.LittleEndian.Uint64(c[24:])) != 0 {
			break
		}
	}
	for ; i+8 <= len(b); i += 8 {
		if m := NotWord(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for i < len(b) && (b[i]-'0' <= 9 || b[i]-'a' < 0x80-'a') {
		i++
	}
	return i
}

// NotWord returns a mask with the high bit of each byte of x that is neither a digit nor an ASCII character from a on.
func NotWord(x uint64) uint64 {
	low := x &^ highs // adding to low sets the high bit of each byte that is at least as large as the limit
	return highs & (^(low + (0x80-'a')*ones | (low+(0x80-'0')*ones)&^(low+(0x80-'9'-1)*ones)) | x)
}

// asciiRun is like plain, but also ends before a byte that is not ASCII.
func asciiRun(b []byte, i int) int {
	i = plainASCII(b, i)
	for i+8 <= len(b) {
		if m := notASCII(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
		i += 8
	}
	for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= ' ' && b[i] < 0x80 {
		i++
	}
	return i
}

// plainASCII skips plain ASCII bytes of a string from i on, 32 at a time.
func plainASCII(b []byte, i int) int {
	for i+32 <= len(b) {
		c := b[i : i+32]
		if notASCII(binary.LittleEndian.Uint64(c))|notASCII(binary.LittleEndian.Uint64(c[8:]))|
			notASCII(binary.LittleEndian.Uint64(c[16:]))|notASCII(binary.LittleEndian.Uint64(c[24:])) != 0 {
			break
		}
		i += 32
	}
	return i
}

// notASCII is like special, but also marks bytes that are not ASCII.
func notASCII(x uint64) uint64 {
	quote := x ^ '"'*ones
	slash := x ^ '\\'*ones
	return (x | (x - ' '*ones) | (quote - ones) | (slash - ones)) & highs
}

// IsASCII reports whether b is ASCII without control characters. DEL is allowed.
func IsASCII(b []byte) bool {
	for ; len(b) >= 32; b = b[32:] {
		w, x := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		y, z := binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[24:])
		if (w|(w-' '*ones)|x|(x-' '*ones)|y|(y-' '*ones)|z|(z-' '*ones))&highs != 0 {
			return false
		}
	}
	for ; len(b) >= 8; b = b[8:] {
		if w := binary.LittleEndian.Uint64(b); (w|(w-' '*ones))&highs != 0 {
			return false
		}
	}
	for _, c := range b {
		if c < ' ' || c >= 0x80 {
			return false
		}
	}
	return true
}

// escape checks the escape whose backslash is b[i].
func escape(b []byte, i int) (int, fault) {
	if i+1 >= len(b) {
		return len(b), cut
	}
	switch b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2, none
	case 'u':
		for n := i + 2; n < i+6; n++ {
			if n >= len(b) {
				return n, cut
			}
			if c := b[n]; c-'0' > 9 && (c|0x20)-'a' > 5 { // not a hexadecimal digit; smaller bytes wrap around
				return n, badEscape
			}
		}
		return i + 6, none
	}
	return i + 1, badEscape
}

// number checks the number that starts at b[i].
func number(b []byte, i int) (int, fault) {
	if b[i] == '-' {
		i++
	}
	bad := none
	if i < len(b) && b[i] == '0' {
		i++
	} else if i, bad = digits(b, i); bad != none {
		return i, bad
	}
	if i < len(b) && b[i] == '.' {
		if i, bad = digits(b, i+1); bad != none {
			return i, bad
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		i, bad = digits(b, i)
	}
	return i, bad
}

// digits returns the end of the digits at b[i], of which there must be at least one.
func digits(b []byte, i int) (end int, bad fault) {
	for end = i; end < len(b) && b[end]-'0' <= 9; {
		end++
	}
	switch {
	case end > i:
		return end, none
	case end == len(b):
		return end, cut
	}
	return end, badNumber
}

// literal checks whether b[i:] begins with word.
func literal(b []byte, i int, word string) (int, fault) {
	if len(b)-i >= len(word) && string(b[i:i+len(word)]) == word {
		return i + len(word), none
	}
	for n := range len(word) {
		if i+n >= len(b) {
			return len(b), cut
		}
		if b[i+n] != word[n] {
			return i + n, badLiteral
		}
	}
	return i + len(word), none
}

// StringEnd returns the end of the string whose opening quote is b[i], without checking the string. If the string has
// no end, it returns len(b).
func StringEnd(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// IsKeyEnd reports whether a string that ends at b[i] is the key of a member.
func IsKeyEnd(b []byte, i int) bool {
	i = Skip(b, i)
	return i < len(b) && b[i] == ':'
}
