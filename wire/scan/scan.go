// Package scan finds and checks JSON values in bytes, without decoding or allocating. It follows RFC 8259 strictly for
// numbers, escapes, control characters in strings, and literals. It accepts invalid UTF-8 in strings.
//
// It does not change or retain its input.
package scan

import (
	"strconv"
	"strings"
)

// An Error describes why and where bytes are not JSON.
type Error struct {
	Offset int    // the offset in the given bytes
	What   string // in lower case, such as "expected a colon after the key"
	Cut    bool   // the bytes end before the value does, so more bytes could complete it
	Deep   bool   // the nesting is too deep
}

// Error returns What with the offset.
func (e *Error) Error() string {
	return e.What + " at byte " + strconv.Itoa(e.Offset)
}

// A fault is the reason why bytes are not JSON, as a number, because checking must be fast.
type fault uint8

const (
	none fault = iota
	cut
	deep
	noValue
	noKey
	noColon
	noCommaObject
	noCommaArray
	badLiteral
	badNumber
	badEscape
	badControl
	trailing
	noObject
	noArray
)

var faultText = [...]string{
	none:          "",
	cut:           "unexpected end of JSON",
	deep:          "nested too deep",
	noValue:       "expected a JSON value",
	noKey:         "expected a key in double quotes",
	noColon:       "expected a colon after the key",
	noCommaObject: "expected a comma or } after the member",
	noCommaArray:  "expected a comma or ] after the element",
	badLiteral:    "expected true, false or null",
	badNumber:     "malformed number",
	badEscape:     "malformed escape in a string",
	badControl:    "control character in a string",
	trailing:      "more than one JSON value",
	noObject:      "expected an object",
	noArray:       "expected an array",
}

func (f fault) at(offset int) error {
	if f == none {
		return nil
	}
	return &Error{Offset: offset, What: faultText[f], Cut: f == cut, Deep: f == deep}
}

var blank = [256]bool{' ': true, '\t': true, '\n': true, '\r': true}

// Skip returns the offset of the first byte from i on that is not blank, or len(b).
func Skip(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' && blank[b[i]] {
		i++
	}
	return i
}

// Trim returns b without leading and trailing blanks.
func Trim(b []byte) []byte {
	b = b[Skip(b, 0):]
	for len(b) > 0 && blank[b[len(b)-1]] {
		b = b[:len(b)-1]
	}
	return b
}

// Value checks the JSON value that starts at b[i] and returns its end. depth is the maximum nesting: 0 allows no array
// or object, and 1 allows a flat one. The error is an *Error. A number that reaches the end of b is complete.
func Value(b []byte, i, depth int) (end int, err error) {
	end, bad := value(b, i, depth)
	return end, bad.at(end)
}

// Valid returns nil if b is exactly one JSON value, perhaps surrounded by blanks.
func Valid(b []byte, depth int) error { return whole(b, depth, nil) }

// Keys checks b like Valid. It passes the name of each member at any depth to see, without quotes, and every other
// string to text, with quotes. Escapes stay unchanged. If b is invalid, they receive only the strings before the error.
func Keys(b []byte, depth int, see, text func(b []byte)) error {
	return whole(b, depth, &visitor{see, text})
}

// A visitor receives the strings of a value: see the names of members, and text all others.
type visitor struct{ see, text func(b []byte) }

func whole(b []byte, depth int, v *visitor) error {
	i, bad := visit(b, Skip(b, 0), depth, v)
	if bad == none {
		if i = Skip(b, i); i < len(b) {
			bad = trailing
		}
	}
	return bad.at(i)
}

// Type returns the type of a value, which its first byte determines: 'o' for an object, 'a' array, 's' string, 'n'
// number, 't' true, 'f' false, '0' null, or 0 for other bytes.
func Type(val []byte) byte {
	if len(val) == 0 {
		return 0
	}
	return types[val[0]]
}

// typeNames maps the names of types, as in JSON Schema, to results of Type. any includes all types.
var typeNames = map[string]string{"string": "s", "number": "n", "boolean": "tf", "object": "o", "array": "a", "any": "oasntf0"}

// IsTypeName reports whether name is the name of a type, or any.
func IsTypeName(name string) bool { return typeNames[name] != "" }

// HasType reports whether a value has the named type.
func HasType(val []byte, name string) bool { return strings.IndexByte(typeNames[name], Type(val)) >= 0 }

var types = [256]byte{
	'{': 'o', '[': 'a', '"': 's', '-': 'n', 't': 't', 'f': 'f', 'n': '0',
	'0': 'n', '1': 'n', '2': 'n', '3': 'n', '4': 'n', '5': 'n', '6': 'n', '7': 'n', '8': 'n', '9': 'n',
}

// value checks the value at b[i]. It returns the end of the value, or the offset of the first error and its reason. It
// recurses at most depth times.
func value(b []byte, i, depth int) (int, fault) { return visit(b, i, depth, nil) }

// visit is like value, but also passes the strings of the value to v unless v is nil.
func visit(b []byte, i, depth int, v *visitor) (int, fault) {
	if i >= len(b) {
		return len(b), cut
	}
	switch b[i] {
	case '"':
		end, bad := str(b, i)
		if v != nil && bad == none {
			v.text(b[i:end])
		}
		return end, bad
	case '{':
		return parts(b, i, depth, '}', v)
	case '[':
		return parts(b, i, depth, ']', v)
	case 't':
		return literal(b, i, "true")
	case 'f':
		return literal(b, i, "false")
	case 'n':
		return literal(b, i, "null")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return number(b, i)
	}
	return i, noValue
}

// parts checks the object or array at b[i], which ends with the bracket end.
func parts(b []byte, i, depth int, end byte, v *visitor) (int, fault) {
	if depth <= 0 {
		return i, deep
	}
	i = Skip(b, i+1)
	if i < len(b) && b[i] == end {
		return i + 1, none
	}
	for {
		var bad fault
		if end == '}' {
			start, stop := i, 0
			if stop, i, bad = keyAndColon(b, i); bad != none {
				return i, bad
			}
			if v != nil {
				v.see(b[start+1 : stop-1])
			}
		}
		if i, bad = visit(b, i, depth-1, v); bad != none {
			return i, bad
		}
		if i = Skip(b, i); i >= len(b) {
			return i, cut
		}
		switch b[i] {
		case ',':
			i = Skip(b, i+1)
		case end:
			return i + 1, none
		default:
			return i, noComma(end)
		}
	}
}

// noComma returns the fault of an object or array, which ends with the bracket end, in which another byte replaces the comma.
func noComma(end byte) fault {
	if end == '}' {
		return noCommaObject
	}
	return noCommaArray
}

// keyAndColon checks the key at b[i] and the colon after it. It returns the end of the key and the start of the value,
// or the first error.
func keyAndColon(b []byte, i int) (end, next int, bad fault) {
	if i >= len(b) {
		return 0, len(b), cut
	}
	if b[i] != '"' {
		return 0, i, noKey
	}
	if end, bad = str(b, i); bad != none {
		return 0, end, bad
	}
	next = Skip(b, end)
	if next >= len(b) {
		return 0, next, cut
	}
	if b[next] != ':' {
		return 0, next, noColon
	}
	return end, Skip(b, next+1), none
}
