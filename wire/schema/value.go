package schema

import (
	"bytes"
	"math/big"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// A value is a part of the checked JSON value. Its own parts are read when they are needed.
type value struct {
	raw     []byte // without surrounding whitespace
	parent  *value // nil for the whole value
	name    []byte // its name in an object
	index   int    // its index in an array
	members []value
	read    bool
	in      *room // the storage for members, or nil for separate storage
}

// A room is storage for the members of many objects. Successive checks reuse it.
type room struct{ values []value }

// maxRoom bounds the members in a reused room.
const maxRoom = 4_096

func (r *room) clear() {
	if cap(r.values) > maxRoom {
		r.values = nil
	}
	r.values = r.values[:0]
}

// element returns an element of the array v. The element is valid until free releases mark.
func (v *value) element(raw []byte, i int) (e *value, mark int) {
	if v.in == nil {
		return &value{raw: raw, parent: v, index: i}, 0
	}
	mark = len(v.in.values)
	v.in.values = append(v.in.values, value{raw: raw, parent: v, index: i, in: v.in})
	return &v.in.values[mark], mark
}

// free releases the values after mark, to which nothing may refer any longer.
func (v *value) free(mark int) {
	if v.in != nil {
		v.in.values = v.in.values[:mark]
	}
}

// read returns the value in b, or a *Mismatch.
func read(b []byte) (*value, error) {
	if hasHuge(b) {
		return nil, &Mismatch{Rule: "type", Message: "contains a number that is too large to check"}
	}
	if err := scan.Valid(b, wire.DefaultMaxDepth); err != nil {
		return nil, &Mismatch{Rule: "json", Message: "is not JSON: " + err.Error()}
	}
	return &value{raw: scan.Trim(b)}, nil
}

func (v *value) kind() byte { return scan.Type(v.raw) }

// path returns the tokens of the JSON pointer to the value.
func (v *value) path() []string {
	var tokens []string
	for ; v.parent != nil; v = v.parent {
		token := string(v.name)
		if v.parent.kind() == 'a' {
			token = strconv.Itoa(v.index)
		}
		tokens = append(tokens, token)
	}
	slices.Reverse(tokens)
	return tokens
}

// open reads the members of an object, sorted by name. Among members with the same name, the last one counts.
func (v *value) open() []value {
	if v.read || v.kind() != 'o' {
		return v.members
	}
	v.read = true
	var all []value
	begin := 0
	if v.in != nil {
		all, begin = v.in.values, len(v.in.values)
	}
	for key, raw := range scan.Members(v.raw) {
		all = append(all, value{raw: raw, parent: v, name: scan.Unescaped(key), in: v.in})
	}
	if v.in != nil {
		v.in.values = all
	}
	all = all[begin:len(all):len(all)]
	slices.SortStableFunc(all, func(a, b value) int { return bytes.Compare(a.name, b.name) })
	v.members = all[:0]
	for i := range all {
		if i+1 == len(all) || !bytes.Equal(all[i].name, all[i+1].name) {
			v.members = append(v.members, all[i])
		}
	}
	return v.members
}

func (v *value) member(name string) *value {
	all := v.open()
	i := sort.Search(len(all), func(i int) bool { return string(all[i].name) >= name })
	if i == len(all) || string(all[i].name) != name {
		return nil
	}
	return &all[i]
}

// elements returns a cursor over the elements of an array. It does not store them, because an array can use all of the
// allowed memory.
func (v *value) elements() scan.Cursor { return scan.ReadArray(v.raw, wire.DefaultMaxDepth) }

// text returns the content of a JSON string.
func (v *value) text() []byte { return scan.Unescaped(v.raw[1 : len(v.raw)-1]) }

var kindNames = map[byte]string{'0': "null", 't': "boolean", 'f': "boolean", 'n': "number", 's': "string", 'a': "array", 'o': "object"}

// typeName returns the JSON type of a value. Integers are numbers.
func (v *value) typeName() string { return kindNames[v.kind()] }

// rat returns the exact value of a number.
func rat(raw []byte) *big.Rat {
	r, ok := new(big.Rat).SetString(string(raw))
	if !ok {
		return new(big.Rat)
	}
	return r
}

// whole reports whether a number consists only of digits, so that its text identifies it.
func whole(raw []byte) bool { return !bytes.ContainsAny(raw, ".eE") && string(raw) != "-0" }

// canonical appends text to b that is the same for all values that JSON Schema considers equal, such as 1 and 1.0.
func (v *value) canonical(b []byte) []byte {
	switch v.kind() {
	case 'n':
		if !whole(v.raw) {
			return append(b, rat(v.raw).RatString()...)
		}
	case 's':
		return strconv.AppendQuote(b, string(v.text()))
	case 'o':
		b = append(b, '{')
		for i := range v.open() {
			b = append(strconv.AppendQuote(b, string(v.members[i].name)), ':')
			b = append(v.members[i].canonical(b), ',')
		}
		return append(b, '}')
	case 'a':
		b = append(b, '[')
		c := v.elements()
		for _, raw, ok := c.Next(); ok; _, raw, ok = c.Next() {
			b = append((&value{raw: raw}).canonical(b), ',')
		}
		return append(b, ']')
	}
	return append(b, v.raw...)
}

// String returns the value as it appears in messages.
func (v *value) String() string {
	decoded, err := jsonschema.UnmarshalJSON(bytes.NewReader(v.raw))
	if err != nil {
		return "the value"
	}
	return encode(decoded)
}

// hasHuge reports whether v contains a number with more than 4,096 digits or an exponent of more than three digits, because
// calculations with such numbers could take long. v need not be valid JSON.
func hasHuge(v []byte) bool {
	const most = 4 << 10
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case c == '"':
			i = scan.StringEnd(v, i) - 1
		case c >= '0' && c <= '9':
			end := i
			for end < len(v) && strings.IndexByte("0123456789.eE+-", v[end]) >= 0 {
				end++
			}
			number := v[i:end]
			if e := bytes.IndexAny(number, "eE"); len(number) > most || e >= 0 && len(bytes.TrimLeft(number[e+1:], "+-0")) > 3 {
				return true
			}
			i = end - 1
		}
	}
	return false
}
