package catalog

import (
	"encoding/json"
	"slices"

	"rpcx/wire/scan"
)

// Normalize converts a peer's description to a catalog that Parse and the JSON Schema in this directory accept. Of
// several methods with the same name, it keeps the first. It moves misplaced members to extra at the same level, so
// none is lost.
func Normalize(c *Catalog) {
	if c == nil {
		return
	}
	c.Catalog = 1
	var again []json.RawMessage
	seen := map[string]bool{}
	kept := c.Methods[:0]
	for _, m := range c.Methods {
		normalizeMethod(&m)
		if m.Name != "" && !seen[m.Name] {
			seen[m.Name] = true
			kept = append(kept, m)
		} else if b, err := scan.Marshal(m); err == nil {
			again = append(again, b)
		}
	}
	c.Methods = kept
	var moved misplaced
	moved.put("methods", again)
	moved.put("classes", slices.DeleteFunc(slices.Clone(c.Classes), isObject))
	c.Classes = slices.DeleteFunc(c.Classes, func(class json.RawMessage) bool { return !isObject(class) })
	moved.unless(isObject, "constants", &c.Constants)
	c.Defs = moved.schemas("$defs", c.Defs)
	c.Extra = moved.into(c.Extra)
	c.Info.Extra = new(misplaced).into(c.Info.Extra)
}

func normalizeMethod(m *Method) {
	var moved misplaced
	if m.Kind != "" && kind("", scan.AppendQuoted(nil, string(m.Kind)), new(Kind)) != nil {
		moved.Add("kind", scan.AppendQuoted(nil, string(m.Kind)))
		m.Kind = ""
	}
	moved.unless(isSchema, "params", &m.Params)
	moved.unless(isSchema, "result", &m.Result)
	m.Events = moved.schemas("events", m.Events)
	moved.unless(isObject, "hints", &m.Hints)
	moved.unless(isObject, "cache", &m.Cache)
	if age := scan.Get(m.Cache, "max-age"); age != nil && (age[0] < '0' || age[0] > '9') {
		moved.Add("cache", m.Cache)
		m.Cache = nil
	}
	m.Extra = moved.into(m.Extra)
}

// misplaced is an object of the members whose values have the wrong type.
type misplaced struct{ scan.Object }

func (o *misplaced) put(key string, list []json.RawMessage) {
	if len(list) > 0 {
		o.Value(key, list)
	}
}

// unless moves *val to o unless is(*val) is true.
func (o *misplaced) unless(is func(raw json.RawMessage) bool, key string, val *json.RawMessage) {
	if len(*val) > 0 && !is(*val) {
		o.Add(key, *val)
		*val = nil
	}
}

// schemas returns the members of have that are schemas, and moves the others to o.
func (o *misplaced) schemas(key string, have map[string]json.RawMessage) map[string]json.RawMessage {
	bad := map[string]json.RawMessage{}
	for name, val := range have {
		if !isSchema(val) {
			bad[name] = val
			delete(have, name)
		}
	}
	if len(bad) > 0 {
		o.Value(key, bad)
	}
	if len(have) == 0 {
		return nil
	}
	return have
}

// into returns extra with the misplaced members. An extra that is not an object becomes one of them.
func (o misplaced) into(extra json.RawMessage) json.RawMessage {
	o.unless(isObject, "extra", &extra)
	return merge(extra, o.EndOrNil())
}

func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

func isSchema(raw json.RawMessage) bool {
	return len(raw) > 0 && (raw[0] == '{' || raw[0] == 't' || raw[0] == 'f')
}
