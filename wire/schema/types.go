package schema

import (
	"encoding/json"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"rpcx/wire/scan"
)

// A Types is a set of JSON types. Number includes integers.
type Types uint8

const (
	Null Types = 1 << iota
	Boolean
	Integer
	Fraction
	String
	Array
	Object
	AnyType Types = 1<<iota - 1
)

var typeNames = []struct {
	name string
	set  Types
}{
	{"null", Null},
	{"boolean", Boolean},
	{"number", Integer | Fraction},
	{"integer", Integer},
	{"string", String},
	{"array", Array},
	{"object", Object},
}

// String returns the names of the types.
func (t Types) String() string {
	var names []string
	for _, n := range typeNames {
		if t&n.set == n.set || n.name == "number" && t&Fraction != 0 {
			names, t = append(names, n.name), t&^n.set
		}
	}
	if names == nil {
		return "nothing"
	}
	return strings.Join(names, " or ")
}

// byKind maps the results of scan.Type, except for numbers, to types.
var byKind = [256]Types{'0': Null, 't': Boolean, 'f': Boolean, 's': String, 'a': Array, 'o': Object}

// TypeOf returns the type of a valid value from its first bytes.
func TypeOf(v json.RawMessage) Types {
	switch set := byKind[scan.Type(v)]; {
	case set != 0:
		return set
	case strings.ContainsAny(string(v), ".eE"):
		return Fraction
	}
	return Integer
}

// ownTypes returns the types that a schema allows with type, enum and const.
func ownTypes(s *jsonschema.Schema) Types {
	set := AnyType
	if s.Types != nil && !s.Types.IsEmpty() {
		set = 0
		for _, name := range s.Types.ToStrings() {
			set |= TypeNamed(name)
		}
	}
	if s.Enum != nil {
		set &= typesOf(s.Enum.Values...)
	}
	if s.Const != nil {
		set &= typesOf(*s.Const)
	}
	return set
}

// typesOf returns the types of values. The integer 1 can also be written 1.0.
func typesOf(values ...any) (set Types) {
	for _, v := range values {
		set |= TypeOf(json.RawMessage(encode(v)))
	}
	if set&Integer != 0 {
		set |= Fraction
	}
	return set
}

// TypeNamed returns the types that name means in a schema, or AnyType if the name is unknown.
func TypeNamed(name string) Types {
	for _, n := range typeNames {
		if n.name == name {
			return n.set
		}
	}
	return AnyType
}
