package redact

import (
	"encoding/binary"
	"math/bits"
)

// anchors are bytes that mark secrets: each secret of find has one at a known place.
var anchors = [256]bool{' ': true, '-': true, '_': true, '.': true, ':': true, '=': true, '@': true, 'I': true, 'J': true}

// nextAnchor returns the index of the first anchor from i on, or len(text).
func nextAnchor(text []byte, i int) int {
	for ; i+8 <= len(text); i += 8 {
		for left := unusual(binary.LittleEndian.Uint64(text[i:])); left != 0; left &= left - 1 {
			at := i + bits.TrailingZeros64(left)/8
			if c := text[at]; anchors[c] && (c != ' ' || endsScheme(byteAt(text, at-1))) {
				return at
			}
		}
	}
	return while(text, i, func(c byte) bool { return !anchors[c] })
}

func endsScheme(c byte) bool { return c|0x20 == 'r' || c|0x20 == 'c' }

// unusual returns the high bits of the bytes of x that are ASCII, but neither lower-case letters nor digits. It examines eight bytes at once.
func unusual(x uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	low := x &^ highs // the high bit of a sum belongs to a byte that is not less
	return highs &^ (low + (0x80-'a')*ones | (low+(0x80-'0')*ones)&^(low+(0x80-'9'-1)*ones) | x)
}
