package schema

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// A value is a part of the JSON value that is checked, as the library decodes
// it. Each part has one *value, so that what was found out about it can be
// remembered.
type value struct {
	v      any
	parent *value // nil for the whole
	token  string // its name or index in parent

	names   []string // of members, sorted
	members map[string]*value
	items   []*value
}

// path returns the tokens of the JSON pointer to the part.
func (v *value) path() []string {
	var tokens []string
	for ; v.parent != nil; v = v.parent {
		tokens = append(tokens, v.token)
	}
	slices.Reverse(tokens)
	return tokens
}

// open makes the members or elements of a part. It does so once.
func (v *value) open() {
	switch c := v.v.(type) {
	case map[string]any:
		if v.members != nil {
			return
		}
		v.names = slices.Sorted(maps.Keys(c))
		v.members = make(map[string]*value, len(c))
		for _, name := range v.names {
			v.members[name] = &value{v: c[name], parent: v, token: name}
		}
	case []any:
		if v.items != nil {
			return
		}
		v.items = make([]*value, len(c))
		for i, e := range c {
			v.items[i] = &value{v: e, parent: v, token: strconv.Itoa(i)}
		}
	}
}

// typeName returns the JSON type of a decoded value; number for integers, too.
func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

// rat returns the exact value of a number.
func rat(n json.Number) *big.Rat {
	r, ok := new(big.Rat).SetString(string(n))
	if !ok {
		return new(big.Rat)
	}
	return r
}

// whole reports whether a number is written as digits alone, so that its text
// identifies it.
func whole(n json.Number) bool { return !strings.ContainsAny(string(n), ".eE") && n != "-0" }

// isInteger reports whether v is a number without a fraction, however it is
// written.
func isInteger(v any) bool {
	n, ok := v.(json.Number)
	return ok && (whole(n) || rat(n).IsInt())
}

// canonical appends a text to b that two decoded values have in common exactly
// if they are equal as JSON Schema sees it: 1 and 1.0 are.
func canonical(b []byte, v any) []byte {
	switch v := v.(type) {
	case json.Number:
		if whole(v) {
			return append(b, v...)
		}
		return append(b, rat(v).RatString()...)
	case map[string]any:
		b = append(b, '{')
		for _, name := range slices.Sorted(maps.Keys(v)) {
			b = append(strconv.AppendQuote(b, name), ':')
			b = append(canonical(b, v[name]), ',')
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for _, e := range v {
			b = append(canonical(b, e), ',')
		}
		return append(b, ']')
	case string:
		return strconv.AppendQuote(b, v)
	case bool:
		return strconv.AppendBool(b, v)
	}
	return append(b, "null"...)
}
