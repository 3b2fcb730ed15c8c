package scriptling

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// In plain JSON, a number with "." or an exponent is a float, and any other number is an int. {"$remote":{…}} is a
// remote object, and {"$callback":"cb-1"} is a callback. Numbers keep their digits.

// An object with one of these as its only key is not a dict.
const (
	remoteKey   = "$remote"
	callbackKey = "$callback"
)

// A ref is a RemoteRef, which names an object of the plugin.
type ref struct{ library, class, id string }

// readRef reads a RemoteRef. Library and class are optional.
func readRef(val []byte) (r ref, ok bool) {
	library, class := scan.Get(val, "library"), scan.Get(val, "class")
	r.library, r.class = scan.String(library), scan.String(class)
	r.id, ok = scan.Text(scan.Get(val, "id"))
	optional := func(v []byte) bool { return v == nil || scan.Type(v) == 's' || scan.Type(v) == '0' }
	return r, ok && optional(library) && optional(class)
}

func (r ref) append(b []byte) []byte {
	o := scan.AppendObject(b)
	o.Text("library", r.library)
	o.Text("class", r.class)
	o.Text("id", r.id)
	return o.End()
}

// plain appends the plain JSON of the transport Value val. The error describes what is wrong with val.
func plain(b, val []byte) ([]byte, error) {
	kind, err := valueType(val)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "", "null":
		return append(b, "null"...), nil
	case "bool":
		return plainScalar(b, kind, scan.Get(val, "value"), 't', 'f')
	case "string":
		return plainScalar(b, kind, scan.Get(val, "value"), 's')
	case "int":
		return plainInt(b, scan.Get(val, "value"))
	case "float":
		return plainFloat(b, scan.Get(val, "value")), nil
	case "list":
		return plainItems(b, scan.Get(val, "items"))
	case "dict":
		return plainEntries(b, scan.Get(val, "entries"))
	case "callback":
		val = scan.Get(val, kind)
		if id, ok := scan.Text(scan.Get(val, "id")); ok {
			return append(b, scan.Pair(callbackKey, scan.AppendQuoted(nil, id))...), nil
		}
		return nil, wrongContent(kind, val)
	case "remote":
		val = scan.Get(val, kind)
		if r, ok := readRef(val); ok {
			return r.plain(b), nil
		}
		return nil, wrongContent(kind, val)
	}
	return nil, fmt.Errorf("unsupported transport value type %q", clip(kind))
}

// valueType returns the type of a transport Value, or "" for null and for a Value without a type.
func valueType(val []byte) (string, error) {
	switch scan.Type(val) {
	case '0':
		return "", nil
	case 'o':
	default:
		return "", fmt.Errorf("%s is not a transport value", excerpt(val))
	}
	kind := scan.Get(val, "type")
	text, isText := scan.Text(kind)
	if kind != nil && !isText && scan.Type(kind) != '0' {
		return "", fmt.Errorf("the type of a transport value is %s", excerpt(kind))
	}
	return text, nil
}

// plainScalar appends the content of a Value of type kind. Its JSON type must be one of types.
func plainScalar(b []byte, kind string, val []byte, types ...byte) ([]byte, error) {
	if !slices.Contains(types, scan.Type(val)) {
		return nil, wrongContent(kind, val)
	}
	return append(b, val...), nil
}

func wrongContent(kind string, val []byte) error {
	return fmt.Errorf("a transport value of type %s contains %s", kind, excerpt(val))
}

// plain appends the reference in the form that users see.
func (r ref) plain(b []byte) []byte { return append(b, scan.Pair(remoteKey, r.append(nil))...) }

// plainItems appends the plain JSON of an array of Values.
func plainItems(b, val []byte) ([]byte, error) {
	return plainParts(b, val, 'a', "[]", "a list of transport values")
}

// plainEntries appends the plain JSON of an object of Values.
func plainEntries(b, val []byte) ([]byte, error) {
	return plainParts(b, val, 'o', "{}", "named transport values")
}

// plainParts appends the plain JSON of val, whose parts are Values. A missing val counts as empty.
func plainParts(b, val []byte, kind byte, empty, what string) ([]byte, error) {
	switch {
	case val == nil || scan.Type(val) == '0':
		return append(b, empty...), nil
	case scan.Type(val) != kind:
		return nil, fmt.Errorf("%s must not be %s", what, excerpt(val))
	}
	return scan.Rebuild(b, val, checkedDepth, func(b []byte, _ int, _, v []byte) ([]byte, error) { return plain(b, v) })
}

// maxDigits bounds the exponent of an integer, because the integer is written in digits.
const maxDigits = 1000

// plainInt appends the digits of an integer. As in real plugins and hosts, a value that is not a number becomes 0, and
// a fraction is truncated.
func plainInt(b, val []byte) ([]byte, error) {
	if scan.Type(val) != 'n' {
		return append(b, '0'), nil
	}
	text := string(val)
	if !strings.ContainsAny(text, ".eE") {
		return append(b, val...), nil
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		if n, err := strconv.Atoi(text[i+1:]); err != nil || n > maxDigits || n < -maxDigits {
			return nil, fmt.Errorf("the integer %s is out of range", excerpt(val))
		}
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, fmt.Errorf("the integer %s cannot be read", excerpt(val))
	}
	return append(b, new(big.Int).Quo(r.Num(), r.Denom()).String()...), nil
}

// plainFloat appends a float, always with "." or an exponent to distinguish it from an integer.
func plainFloat(b, val []byte) []byte {
	if scan.Type(val) != 'n' {
		return append(b, "0.0"...)
	}
	b = append(b, val...)
	if !strings.ContainsAny(string(val), ".eE") {
		b = append(b, ".0"...)
	}
	return b
}

// excerpt returns the start of a value for an error message.
func excerpt(val []byte) string {
	if val == nil {
		return "nothing"
	}
	return clip(string(scan.Compact(nil, val)))
}

func clip(s string) string { return wire.Excerpt(s, 80) }
