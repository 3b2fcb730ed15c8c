package redact

import (
	"encoding/binary"
	"math/bits"

	"rpcx/wire/scan"
)

// anchors are bytes near secrets: each kind of secret that find recognizes has one of them at a fixed place.
var anchors = [256]bool{' ': true, '-': true, '_': true, '.': true, ':': true, '=': true, '@': true, 'I': true, 'J': true}

// nextAnchor returns the index of the first anchor from i on, or len(text).
func nextAnchor(text []byte, i int) int {
	for ; i+8 <= len(text); i += 8 {
		eight := binary.LittleEndian.Uint64(text[i:])
		for left := scan.NotWord(eight) &^ eight; left != 0; left &= left - 1 { // the bytes that are ASCII, but neither lower-case letters nor digits
			at := i + bits.TrailingZeros64(left)/8
			if c := text[at]; anchors[c] && (c != ' ' || endsScheme(byteAt(text, at-1))) {
				return at
			}
		}
	}
	return while(text, i, func(c byte) bool { return !anchors[c] })
}

func endsScheme(c byte) bool { return c|0x20 == 'r' || c|0x20 == 'c' }

// endsPrefix reports whether one of prefixes can end with the bytes last and anchor. It avoids a search in most dates, numbers and words.
func endsPrefix(last, anchor byte) bool {
	switch anchor {
	case '-':
		return oneOf("abeikprstX", last)
	case '.':
		return oneOf("9sG", last)
	}
	return oneOf("acefimoprstu1", last)
}
