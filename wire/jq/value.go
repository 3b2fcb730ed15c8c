package jq

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/itchyny/gojq"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// maxDepth is the maximum nesting of values, the same as in encoding/json.
const maxDepth = 10_000

// maxDigits is the maximum number of digits of a number. The time for a computation grows with the square of this
// number and cannot be interrupted.
const maxDigits = 10_000

var errHuge = fmt.Errorf("a number has more than %d digits", maxDigits)

// Decode decodes in to the types that programs use: nil, bool, json.Number, string, []any and map[string]any. If a
// member is repeated, the last one counts. Bytes that are not UTF-8 become U+FFFD. A number of more than 10,000 digits
// is an error.
func Decode(in json.RawMessage) (any, error) {
	d := decoder{b: in}
	return d.read()
}

// Encode returns the compact JSON of v, which is a value from Decode or a program, or an int, int64 or float64. Keys
// are sorted. <, > and & are not escaped.
func Encode(v any) json.RawMessage { return (&source{}).encode(v) }

// Thrown returns err as an error of a Func that try in jq catches as the object rpc. If that object has too large a
// number, try catches its message.
func Thrown(err error, rpc *wire.Error) error { return thrown{err, rpc} }

type thrown struct {
	error
	rpc *wire.Error
}

// Unwrap returns the error.
func (t thrown) Unwrap() error { return t.error }

// Value returns what try catches.
func (t thrown) Value() any {
	v, err := Decode(t.rpc.JSON())
	if err != nil {
		return t.rpc.Message
	}
	return v
}

// Number returns the value of v if v is a number of any of these types.
func Number(v any) (float64, bool) { return gojq.ToFloat64(v) }

// A decoder decodes a valid value.
type decoder struct {
	b    []byte
	i    int
	huge bool // a number has more than maxDigits digits
	src  *source
	all  string // the text of b, which strings and numbers share; "" if each of them is a copy
}

// read reads the whole input.
func (d *decoder) read() (any, error) {
	if err := scan.Valid(d.b, maxDepth); err != nil {
		return nil, err
	}
	v := d.value()
	if d.huge {
		return nil, errHuge
	}
	return v, nil
}

func (d *decoder) value() any {
	d.blanks()
	switch d.b[d.i] {
	case '{':
		return d.object()
	case '[':
		return d.array()
	case '"':
		return d.text()
	case 't':
		d.i += len("true")
		return true
	case 'f':
		d.i += len("false")
		return false
	case 'n':
		d.i += len("null")
		return nil
	}
	start := d.i
	d.pass()
	d.huge = d.huge || d.i-start > maxDigits
	return json.Number(d.cut(start, d.i))
}

func (d *decoder) cut(start, end int) string {
	if d.all != "" {
		return d.all[start:end]
	}
	return string(d.b[start:end])
}

func (d *decoder) object() any {
	m, start := map[string]any{}, d.i
	for d.more('}') {
		d.blanks()
		key := d.text()
		d.blanks()
		d.i++ // skips the colon
		m[key] = d.value()
	}
	d.src.add(m, d.b[start:d.i])
	return m
}

func (d *decoder) array() any {
	a, start := []any{}, d.i
	for d.more(']') {
		a = append(a, d.value())
	}
	d.src.add(a, d.b[start:d.i])
	return a
}

// more moves to the next member or element, after the opening bracket or a comma. After the last one, it moves past the
// closing bracket and returns false.
func (d *decoder) more(end byte) bool {
	d.blanks()
	open := d.b[d.i] != ',' && d.b[d.i] != end
	d.i++
	if !open {
		return d.b[d.i-1] == ','
	}
	d.blanks()
	if d.b[d.i] == end {
		d.i++
		return false
	}
	return true
}

func (d *decoder) blanks() { d.i = scan.Skip(d.b, d.i) }

// text reads a string token.
func (d *decoder) text() string {
	start := d.i + 1
	end := start + bytes.IndexByte(d.b[start:], '"')
	if raw := d.b[start:end]; bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		d.i = end + 1
		return d.cut(start, end)
	}
	d.i = scan.StringEnd(d.b, d.i)
	return unescape(d.b[start : d.i-1])
}

// unescape returns the content of a string token without quotes. Each byte that is not UTF-8 becomes U+FFFD.
func unescape(raw []byte) string {
	s := scan.Key(raw)
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}
