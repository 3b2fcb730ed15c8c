package render

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"reflect"
)

// truth is what if takes for true: not null, false, 0 nor anything empty.
func truth(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case json.Number:
		f, err := v.Float64()
		return err != nil || f != 0
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return true
}

// kind names a value for an error.
func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case json.Number:
		return "a number"
	case []any:
		return "an array"
	}
	return "an object"
}

func equal(a, b any) bool {
	an, aok := a.(json.Number)
	bn, bok := b.(json.Number)
	if aok && bok {
		return compareNumbers(an, bn) == 0
	}
	return reflect.DeepEqual(a, b)
}

// compare orders two numbers or two strings.
func compare(a, b any) (int, error) {
	switch a := a.(type) {
	case json.Number:
		if b, ok := b.(json.Number); ok {
			return compareNumbers(a, b), nil
		}
	case string:
		if b, ok := b.(string); ok {
			return cmp.Compare(a, b), nil
		}
	}
	return 0, errors.New("cannot compare " + kind(a) + " with " + kind(b))
}

// compareNumbers compares integers exactly, others as floating point.
func compareNumbers(a, b json.Number) int {
	if a == b {
		return 0
	}
	if x, ok := bigInt(a); ok {
		if y, ok := bigInt(b); ok {
			return x.Cmp(y)
		}
	}
	x, _ := a.Float64()
	y, _ := b.Float64()
	return cmp.Compare(x, y)
}

// shown makes values ready for package fmt: numbers take every verb of
// integers, floats and strings; arrays and objects are JSON.
func shown(args []any) []any {
	out := make([]any, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case json.Number:
			out[i] = printable{string(a), a}
		case []any, map[string]any:
			out[i] = printable{string(marshal(a)), ""}
		default:
			out[i] = a
		}
	}
	return out
}

// printable is a value that is no string, so that print sets it apart.
type printable struct {
	text   string
	number json.Number // "": none
}

// Format is fmt.Formatter.
func (p printable) Format(f fmt.State, verb rune) {
	format := fmt.FormatString(f, verb)
	switch verb {
	case 'd', 'b', 'o', 'O', 'c', 'U', 'x', 'X':
		if i, ok := bigInt(p.number); ok {
			p.formatInt(f, format, i)
			return
		}
	case 'e', 'E', 'f', 'F', 'g', 'G':
		if x, err := p.number.Float64(); err == nil {
			fmt.Fprintf(f, format, x)
			return
		}
	case 'v':
		format = fmt.FormatString(f, 's')
	}
	fmt.Fprintf(f, format, p.text)
}

// formatInt keeps to int64 where that holds the number: big.Int knows fewer
// verbs.
func (p printable) formatInt(f fmt.State, format string, i *big.Int) {
	if i.IsInt64() {
		fmt.Fprintf(f, format, i.Int64())
		return
	}
	fmt.Fprintf(f, format, i)
}
