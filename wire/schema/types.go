package schema

import (
	"encoding/json"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// typeSet is a set of JSON types.
type typeSet uint8

const (
	null typeSet = 1 << iota
	boolean
	integer
	number
	text
	array
	object
	anyType typeSet = 1<<iota - 1
)

var typeNames = []struct {
	name string
	set  typeSet
}{
	{"null", null},
	{"boolean", boolean},
	{"number", number | integer},
	{"integer", integer},
	{"string", text},
	{"array", array},
	{"object", object},
}

func (t typeSet) String() string {
	var names []string
	left := t
	for _, n := range typeNames {
		if left&n.set == n.set {
			names, left = append(names, n.name), left&^n.set
		}
	}
	return strings.Join(names, " or ")
}

// typeOf returns the types that a valid value has: a whole number is both number
// and integer.
func typeOf(v json.RawMessage) typeSet {
	switch v[0] {
	case 'n':
		return null
	case 't', 'f':
		return boolean
	case '"':
		return text
	case '[':
		return array
	case '{':
		return object
	}
	if strings.ContainsAny(string(v), ".eE") {
		return number
	}
	return number | integer
}

// ownTypes returns the types that a schema allows by its own type, enum and
// const.
func ownTypes(s *jsonschema.Schema) typeSet {
	set := anyType
	if s.Types != nil && !s.Types.IsEmpty() {
		set = 0
		for _, name := range s.Types.ToStrings() {
			set |= typeByName(name)
		}
	}
	if s.Enum != nil {
		var some typeSet
		for _, v := range s.Enum.Values {
			some |= typeOf(json.RawMessage(encode(v)))
		}
		set &= some
	}
	if s.Const != nil {
		set &= typeOf(json.RawMessage(encode(*s.Const)))
	}
	return set
}

func typeByName(name string) typeSet {
	for _, n := range typeNames {
		if n.name == name {
			return n.set
		}
	}
	return anyType
}
