package catalog

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"rpcx/wire/scan"
)

// A sampler generates a value for a schema, which may be recursive.
type sampler struct {
	doc  json.RawMessage
	left int // how many more values the sampler may generate
}

// maxSamples bounds the number of values in an example.
const maxSamples = 200

// inner returns a value for a subschema, which may be a reference.
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
		if branching(schema) {
			return s.branch(schema, depth)
		}
	}
	return exampleString(schema)
}

// branch returns a value for a schema with subschemas. It uses the first alternative, or all of them if they are objects.
func (s *sampler) branch(schema json.RawMessage, depth int) json.RawMessage {
	for _, key := range alternatives {
		if first := scan.First(scan.Get(schema, key)); first != nil {
			if v := s.inner(first, depth+1); json.Valid(v) && v[0] != '{' {
				return v
			}
		}
	}
	return s.object(schema, depth)
}

// exampleNumber returns the minimum. Without one, it returns 1, or the nearest number within the other limits.
func exampleNumber(schema json.RawMessage) json.RawMessage {
	number := func(key string) (float64, bool) {
		f, err := strconv.ParseFloat(string(scan.Get(schema, key)), 64)
		return f, err == nil
	}
	if low := scan.Get(schema, "minimum"); low != nil {
		return bytes.TrimSuffix(low, []byte(".0"))
	}
	value := 1.0
	if low, ok := number("exclusiveMinimum"); ok {
		value = low + 1
	}
	if high, ok := number("maximum"); ok && high < value {
		value = high
	}
	if high, ok := number("exclusiveMaximum"); ok && high <= value {
		value = high - 1
	}
	return strconv.AppendFloat(nil, value, 'f', -1, 64)
}

// formats contains an example for each string format.
var formats = map[string]string{
	"uuid": "123e4567-e89b-12d3-a456-426614174000", "date-time": "2026-01-31T12:00:00Z", "date": "2026-01-31",
	"time": "12:00:00Z", "email": "user@example.com", "uri": "https://example.com/", "hostname": "example.com",
	"ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "duration": "PT1H",
}

// exampleString returns a string with the format and length of the schema.
func exampleString(schema json.RawMessage) json.RawMessage {
	var format string
	least, most := 0, 1000
	_ = json.Unmarshal(scan.Get(schema, "format"), &format)
	_ = json.Unmarshal(scan.Get(schema, "minLength"), &least)
	_ = json.Unmarshal(scan.Get(schema, "maxLength"), &most)
	text := formats[format]
	if text == "" {
		text = "string" + strings.Repeat("x", min(max(least-len("string"), 0), 1000))
		text = text[:min(len(text), max(most, 0))]
	}
	return scan.AppendQuoted(nil, text)
}

// array returns an array with the elements of prefixItems, or else the minimum number of elements, at least one.
func (s *sampler) array(schema json.RawMessage, depth int) json.RawMessage {
	items := scan.List(scan.Get(schema, "prefixItems"))
	item := scan.Get(schema, "items")
	if len(items) == 0 {
		items = scan.List(item) // the older spelling of prefixItems
	}
	if len(items) == 0 && item != nil {
		var least int
		_ = json.Unmarshal(scan.Get(schema, "minItems"), &least)
		for range min(max(least, 1), 20) {
			items = append(items, item)
		}
	}
	var a scan.Array
	for _, item := range items {
		a.Add(s.inner(item, depth+1))
	}
	return a.End()
}

// object returns an object with the required members of the schema, of allOf, and of the first alternative.
func (s *sampler) object(schema json.RawMessage, depth int) json.RawMessage {
	properties := scan.Get(schema, "properties")
	var o scan.Object
	has := map[string]bool{}
	for _, name := range requiredOf(schema) {
		o.Add(name, s.inner(scan.Get(properties, name), depth+1))
		has[name] = true
	}
	parts := scan.List(scan.Get(schema, "allOf"))
	for _, key := range []string{"anyOf", "oneOf"} {
		if forms := scan.List(scan.Get(schema, key)); len(forms) > 0 {
			parts = append(parts, forms[0])
		}
	}
	for _, part := range parts {
		for name, v := range scan.Named(s.inner(part, depth+1)) {
			if !has[name] {
				o.Add(name, v)
				has[name] = true
			}
		}
	}
	return o.End()
}

// given returns a value that the schema itself contains: a constant, an example or a default.
func given(schema json.RawMessage) json.RawMessage {
	for _, key := range []string{"const", "example", "default"} {
		if v := scan.Get(schema, key); v != nil {
			return v
		}
	}
	for _, key := range []string{"examples", "enum"} {
		if list := scan.List(scan.Get(schema, key)); len(list) > 0 {
			return list[0]
		}
	}
	return nil
}
