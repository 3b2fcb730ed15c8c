package catalog

import (
	"encoding/json"
	"strconv"
	"strings"
)

// isKey says whether a property name can be written as KEY=VALUE.
func isKey(name string) bool {
	return name != "" && (strings.ContainsRune("_$", rune(name[0])) || name[0]|0x20 >= 'a' && name[0]|0x20 <= 'z') &&
		!strings.ContainsAny(name, "=:@{}\"\t\n\f\r ")
}

// Example lists the words that may follow METHOD in a call of m: its required
// params, with values from the schema where it has some and placeholders such
// as <string> where not; in a catalog that was discovered with values that would
// do, as far as a schema tells. c gives the $defs; it may be nil.
func (m *Method) Example(c *Catalog) []string {
	doc := c.document()
	schema := resolve(m.Params, doc)
	if typeOf(schema) == "array" {
		if v := (&sampler{doc: doc, left: samplesMost}).of(schema, 0); string(v) != "[]" {
			return []string{string(v)}
		}
		return nil
	}
	required := requiredOf(schema)
	properties := get(schema, "properties")
	var words []string
	for _, name := range required {
		if !isKey(name) {
			return []string{string((&sampler{doc: doc, left: samplesMost}).of(schema, 0))}
		}
		words = append(words, word(name, resolve(get(properties, name), doc), doc, c.exact()))
	}
	return words
}

// exact says that an example is to be a command that works.
func (c *Catalog) exact() bool { return c != nil && c.Dialect == "introspect" }

// word is one KEY=VALUE.
func word(name string, schema, doc json.RawMessage, exact bool) string {
	key := strings.NewReplacer(".", `\.`, "[", `\[`).Replace(name)
	v := given(schema)
	if v == nil && (exact || composite(schema)) {
		v = (&sampler{doc: doc, left: samplesMost}).of(schema, 0)
	}
	var s string
	switch t := typeOf(schema); {
	case v != nil && json.Unmarshal(v, &s) == nil:
		return key + "=" + s
	case v != nil:
		return key + ":=" + string(v)
	case t == "" || t == "string":
		return key + "=<string>"
	default:
		return key + ":=<" + t + ">"
	}
}

func composite(schema json.RawMessage) bool {
	t := typeOf(schema)
	return t == "array" || t == "object"
}

// ExampleValue makes a value for a schema: one that it names itself, else a
// plain one of its type. doc is the document that a $ref speaks of. The value
// need not fit: patterns and the like are not solved.
func ExampleValue(schema, doc json.RawMessage) json.RawMessage {
	return (&sampler{doc: doc, left: samplesMost}).of(resolve(schema, doc), 0)
}

// A sampler makes a value for a schema, which may go in circles.
type sampler struct {
	doc  json.RawMessage
	left int // of samplesMost
}

// samplesMost bounds the values inside a value that is made.
const samplesMost = 200

// inner is of for what stands inside, which may be a reference.
func (s *sampler) inner(schema json.RawMessage, depth int) json.RawMessage {
	if s.left < 0 {
		return json.RawMessage("null")
	}
	return s.of(resolve(schema, s.doc), depth)
}

func (s *sampler) of(schema json.RawMessage, depth int) json.RawMessage {
	if v := given(schema); v != nil {
		return v
	}
	if s.left--; depth > 8 || s.left < 0 {
		return json.RawMessage("null")
	}
	switch typeOf(schema) {
	case "integer", "number":
		return exampleNumber(schema)
	case "boolean":
		return json.RawMessage("true")
	case "null":
		return json.RawMessage("null")
	case "array":
		return s.array(schema, depth)
	case "object":
		return s.object(schema, depth)
	case "":
		for _, key := range []string{"anyOf", "oneOf", "allOf"} {
			if branches := elements(get(schema, key)); len(branches) > 0 {
				return s.inner(branches[0], depth+1)
			}
		}
	}
	return exampleString(schema)
}

// exampleNumber is the least number that is allowed, or one.
func exampleNumber(schema json.RawMessage) json.RawMessage {
	if low := get(schema, "minimum"); low != nil {
		return low
	}
	if low, err := strconv.ParseFloat(string(get(schema, "exclusiveMinimum")), 64); err == nil {
		return strconv.AppendFloat(nil, low+1, 'f', -1, 64)
	}
	return json.RawMessage("1")
}

// formats are texts that have a format.
var formats = map[string]string{
	"uuid": "123e4567-e89b-12d3-a456-426614174000", "date-time": "2026-01-31T12:00:00Z", "date": "2026-01-31",
	"time": "12:00:00Z", "email": "user@example.com", "uri": "https://example.com/", "hostname": "example.com",
	"ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "duration": "PT1H",
}

// exampleString is a text of the format that is wanted, and as long as it must
// be.
func exampleString(schema json.RawMessage) json.RawMessage {
	var format string
	var least int
	_ = json.Unmarshal(get(schema, "format"), &format)
	_ = json.Unmarshal(get(schema, "minLength"), &least)
	text := formats[format]
	if text == "" {
		text = "string" + strings.Repeat("x", min(max(least-len("string"), 0), 1000))
	}
	return appendText(nil, text)
}

func (s *sampler) array(schema json.RawMessage, depth int) json.RawMessage {
	items := elements(get(schema, "prefixItems"))
	if item := get(schema, "items"); len(items) == 0 && item != nil {
		items = append(items, item)
	}
	b := []byte{'['}
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, s.inner(item, depth+1)...)
	}
	return append(b, ']')
}

func (s *sampler) object(schema json.RawMessage, depth int) json.RawMessage {
	properties := get(schema, "properties")
	var list []member
	for _, name := range requiredOf(schema) {
		list = append(list, member{name, s.inner(get(properties, name), depth+1)})
	}
	return object(list)
}

// given is the value that a schema itself names.
func given(schema json.RawMessage) json.RawMessage {
	for _, key := range []string{"const", "example", "default"} {
		if v := get(schema, key); v != nil {
			return v
		}
	}
	for _, key := range []string{"examples", "enum"} {
		if list := elements(get(schema, key)); len(list) > 0 {
			return list[0]
		}
	}
	return nil
}

// requiredOf lists the required properties, in the order of properties.
func requiredOf(schema json.RawMessage) []string {
	var required, names []string
	if json.Unmarshal(get(schema, "required"), &required) != nil {
		return nil
	}
	want := map[string]bool{}
	for _, name := range required {
		want[name] = true
	}
	for _, name := range append(Keys(get(schema, "properties")), required...) {
		if want[name] {
			names = append(names, name)
			delete(want, name)
		}
	}
	return names
}

// typeOf is the first type that a schema names which is not null; "" for none.
func typeOf(schema json.RawMessage) string {
	raw := get(schema, "type")
	var one string
	if json.Unmarshal(raw, &one) == nil && one != "" {
		return one
	}
	var several []string
	if json.Unmarshal(raw, &several) == nil {
		for _, t := range several {
			if t != "null" {
				return t
			}
		}
	}
	if get(schema, "properties") != nil {
		return "object"
	}
	return ""
}

// resolve follows the local $refs of schema.
func resolve(schema, doc json.RawMessage) json.RawMessage {
	for range 16 {
		var ref string
		if json.Unmarshal(get(schema, "$ref"), &ref) != nil {
			return schema
		}
		pointer, ok := strings.CutPrefix(ref, "#/")
		if !ok {
			return schema
		}
		schema = at(doc, pointer)
	}
	return schema
}

// at finds what a pointer, without its first slash, names in doc.
func at(doc json.RawMessage, pointer string) json.RawMessage {
	for token := range strings.SplitSeq(pointer, "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		if list := elements(doc); list != nil {
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(list) {
				return nil
			}
			doc = list[i]
			continue
		}
		doc = get(doc, token)
	}
	return doc
}
