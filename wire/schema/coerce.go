package schema

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"rpcx/wire"
	"rpcx/wire/catalog"
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
	{"null", null}, {"boolean", boolean}, {"number", number | integer}, {"integer", integer},
	{"string", text}, {"array", array}, {"object", object},
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

// Append is the element of a path that stands for "one more element of this
// array".
const Append = "[]"

// Coerce says what a text becomes at a place in the value: path holds property
// names and Append. It stays text where the schema takes it as a string; else
// it is read as JSON, digit for digit. A text that can be neither is a
// *Mismatch. A place that the schema says nothing of takes text.
func (s *Schema) Coerce(path []string, word string) (json.RawMessage, error) {
	asText := json.RawMessage(wire.AppendString(nil, word))
	if !utf8.ValidString(word) || s.fits(s.pointer, path, asText, 0) {
		return asText, nil
	}
	trimmed := strings.TrimSpace(word)
	asJSON := json.RawMessage(trimmed)
	isJSON := json.Valid(asJSON)
	if isJSON && s.fits(s.pointer, path, asJSON, 0) {
		return asJSON, nil
	}
	// Nothing fits: take the form that comes nearest, and let Check say why.
	want := s.types(s.pointer, path, 0)
	switch {
	case want&text != 0:
		return asText, nil
	case isJSON && typeOf(asJSON)&want != 0:
		return asJSON, nil
	}
	m := &Mismatch{Pointer: pathPointer(path), Rule: "type", Message: fmt.Sprintf("got %s, want %s", strconv.Quote(word), want)}
	if want&boolean != 0 {
		m.Nearest = catalog.Nearest(word, []string{"true", "false"})
	}
	return nil, m
}

// pathPointer is path as a JSON pointer; what is appended has no index yet.
func pathPointer(path []string) string {
	tokens := make([]string, len(path))
	for i, p := range path {
		tokens[i] = p
		if p == Append {
			tokens[i] = "-"
		}
	}
	return pointerOf(tokens)
}

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

// fits says whether v may stand at path below the schema at pointer, as far as
// the schema speaks of that place alone.
func (s *Schema) fits(pointer string, path []string, v json.RawMessage, depth int) bool {
	if depth > maxDepth {
		return true
	}
	if len(path) == 0 {
		return s.checkPart(pointer, v)
	}
	node, _ := lookup(s.doc, pointer)
	m, ok := node.(map[string]any)
	if !ok {
		return node != false
	}
	for _, next := range steps(m, pointer, path[0]) {
		if !s.fits(next, path[1:], v, depth+1) {
			return false
		}
	}
	if target, ok := refTarget(m); ok && !s.fits(target, path, v, depth+1) {
		return false
	}
	for i := range branches(m, "allOf") {
		if !s.fits(branch(pointer, "allOf", i), path, v, depth+1) {
			return false
		}
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		some := len(branches(m, key)) == 0
		for i := range branches(m, key) {
			some = some || s.fits(branch(pointer, key, i), path, v, depth+1)
		}
		if !some {
			return false
		}
	}
	return true
}

// types are the types that may stand at path below the schema at pointer.
func (s *Schema) types(pointer string, path []string, depth int) typeSet {
	if depth > maxDepth {
		return anyType
	}
	node, _ := lookup(s.doc, pointer)
	m, ok := node.(map[string]any)
	if !ok {
		if node == false {
			return 0
		}
		return anyType
	}
	set := anyType
	if len(path) == 0 {
		set = ownTypes(m)
	} else {
		for _, next := range steps(m, pointer, path[0]) {
			set &= s.types(next, path[1:], depth+1)
		}
	}
	if target, ok := refTarget(m); ok {
		set &= s.types(target, path, depth+1)
	}
	for i := range branches(m, "allOf") {
		set &= s.types(branch(pointer, "allOf", i), path, depth+1)
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		var some typeSet
		for i := range branches(m, key) {
			some |= s.types(branch(pointer, key, i), path, depth+1)
		}
		if len(branches(m, key)) > 0 {
			set &= some
		}
	}
	return set
}

// ownTypes are the types that m allows by its own type, enum and const.
func ownTypes(m map[string]any) typeSet {
	set := anyType
	switch t := m["type"].(type) {
	case string:
		set &= typeByName(t)
	case []any:
		var some typeSet
		for _, name := range t {
			if name, ok := name.(string); ok {
				some |= typeByName(name)
			}
		}
		set &= some
	}
	if values, ok := m["enum"].([]any); ok {
		var some typeSet
		for _, v := range values {
			some |= typeOf(json.RawMessage(encode(v)))
		}
		set &= some
	}
	if v, ok := m["const"]; ok {
		set &= typeOf(json.RawMessage(encode(v)))
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

// steps are the schemas that m, at pointer, has for the property or element.
func steps(m map[string]any, pointer, step string) []string {
	var next []string
	if step == Append {
		for _, key := range []string{"items", "additionalItems"} {
			if v, ok := m[key]; ok {
				if _, isArray := v.([]any); !isArray {
					next = append(next, pointer+"/"+key)
				}
			}
		}
		if len(branches(m, "prefixItems")) > 0 || len(branches(m, "items")) > 0 {
			return nil // which schema it gets depends on its index
		}
		return next
	}
	if props, ok := m["properties"].(map[string]any); ok {
		if _, ok := props[step]; ok {
			next = append(next, pointer+"/properties/"+escaper.Replace(step))
		}
	}
	if patterns, ok := m["patternProperties"].(map[string]any); ok {
		for p := range patterns {
			if re, err := regexp.Compile(p); err == nil && re.MatchString(step) {
				next = append(next, pointer+"/patternProperties/"+escaper.Replace(p))
			}
		}
	}
	if _, ok := m["additionalProperties"].(map[string]any); ok && len(next) == 0 {
		next = append(next, pointer+"/additionalProperties")
	}
	return next
}

func branches(m map[string]any, key string) []any {
	b, _ := m[key].([]any)
	return b
}

func branch(pointer, key string, i int) string {
	return pointer + "/" + key + "/" + strconv.Itoa(i)
}

// checkPart checks v against the schema at pointer, which is compiled when it
// is first needed.
func (s *Schema) checkPart(pointer string, v json.RawMessage) bool {
	s.mu.Lock()
	part, ok := s.parts[pointer]
	if !ok {
		part, _ = s.compiler.Compile(location(pointer))
		s.parts[pointer] = part
	}
	s.mu.Unlock()
	return part == nil || check(s, part, v) == nil
}
