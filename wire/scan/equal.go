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

// Canonical returns the same bytes for all spellings of a string, such as "é" and "\u00e9", or of a number, such as 1 and
// 1.0. From an object or an array it only removes the blanks. If val is a short integer or an ASCII string without escapes,
// it returns val itself and allocates nothing.
func Canonical(val []byte) []byte {
	if isPlain(val) {
		return val
	}
	switch Type(val) {
	case 's':
		if text, ok := Text(val); ok {
			return AppendQuoted(make([]byte, 0, len(val)), text)
		}
	case 'n':
		if d, ok := parseDecimal(val); ok {
			return d.append(make([]byte, 0, len(val)+2))
		}
	case 'o', 'a':
		return Minify(make([]byte, 0, len(val)), val)
	}
	return val
}

// maxPlain is the number of digits up to which Canonical writes an integer without an exponent.
const maxPlain = 20

// isPlain reports whether val is an integer of at most maxPlain digits or an ASCII string without escapes.
func isPlain(val []byte) bool {
	if len(val) > 0 && val[0] == '"' {
		return IsASCII(val) && bytes.IndexByte(val, '\\') < 0
	}
	if len(val) > maxPlain || len(val) > 1 && val[0] == '0' {
		return false
	}
	for _, c := range val {
		if c-'0' > 9 { // not a digit; smaller bytes wrap around
			return false
		}
	}
	return true
}

// A decimal is a number 0.digits × 10^exp, where digits has no zeros at either end.
type decimal struct {
	negative bool
	digits   []byte
	exp      int64
}

// append appends d to b, as an integer if it is one of at most maxPlain digits.
func (d decimal) append(b []byte) []byte {
	if d.negative {
		b = append(b, '-')
	}
	zeros := d.exp - int64(len(d.digits))
	b = append(b, d.digits...)
	switch {
	case len(d.digits) == 0:
		return append(b, '0')
	case zeros < 0 || d.exp > maxPlain:
		return strconv.AppendInt(append(b, 'e'), zeros, 10)
	}
	return append(b, "00000000000000000000"[:zeros]...)
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
