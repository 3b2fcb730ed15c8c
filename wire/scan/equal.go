package scan

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
)

// Equal reports whether a and b are the same JSON value. It ignores blanks, the order of members, and how strings are
// escaped. It compares numbers by value: 1.0 equals 1, and 1e2 equals 100. If a member is repeated, the last one
// counts. Both must be valid.
func Equal(a, b []byte) bool {
	a, b = Trim(a), Trim(b)
	if bytes.Equal(a, b) {
		return true
	}
	kind := Type(a)
	if kind != Type(b) {
		return false
	}
	switch kind {
	case 'o':
		return maps.EqualFunc(maps.Collect(Named(a)), maps.Collect(Named(b)), Equal)
	case 'a':
		return slices.EqualFunc(slices.Collect(Elements(a)), slices.Collect(Elements(b)), Equal)
	case 's':
		if bytes.IndexByte(a, '\\') < 0 && bytes.IndexByte(b, '\\') < 0 {
			return false // equal values would have equal bytes
		}
		x, _ := Text(a)
		y, _ := Text(b)
		return x == y
	case 'n':
		x, ok := parseDecimal(a)
		y, also := parseDecimal(b)
		return ok && also && x.negative == y.negative && x.exp == y.exp && bytes.Equal(x.digits, y.digits)
	}
	return false // equal literals have equal bytes
}

// A decimal is a number 0.digits × 10^exp, where digits has no zeros at either end.
type decimal struct {
	negative bool
	digits   []byte
	exp      int64
}

// parseDecimal returns false if the exponent does not fit into 48 bits. Such numbers are equal only if their texts are
// equal.
func parseDecimal(b []byte) (d decimal, ok bool) {
	if end, bad := number(b, 0); bad != none || end != len(b) {
		return d, false
	}
	if b[0] == '-' {
		d.negative = true
		b = b[1:]
	}
	if e := bytes.IndexAny(b, "eE"); e >= 0 {
		n, err := strconv.ParseInt(string(b[e+1:]), 10, 48)
		if err != nil {
			return d, false
		}
		d.exp = n
		b = b[:e]
	}
	whole, fraction, _ := bytes.Cut(b, []byte("."))
	d.exp += int64(len(whole))
	all := slices.Concat(whole, fraction)
	short := bytes.TrimLeft(all, "0")
	d.exp -= int64(len(all) - len(short))
	d.digits = bytes.TrimRight(short, "0")
	if len(d.digits) == 0 {
		return decimal{}, true
	}
	return d, true
}
