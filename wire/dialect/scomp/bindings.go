package scomp

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// bindings writes the methods of a catalog as the handshake's bindings. Each schema contains the definitions to which
// it refers, because on the wire it stands alone.
func bindings(c *catalog.Catalog) json.RawMessage {
	var all scan.Array
	if c != nil {
		for i := range c.Methods {
			all.Add(binding(c, &c.Methods[i]))
		}
	}
	return all.End()
}

// warnDrafts warns of schemas that name another draft of JSON Schema than scomp's, which are declared unchanged.
func warnDrafts(warn func(text string), c *catalog.Catalog) {
	if warn == nil || c == nil {
		return
	}
	for _, m := range c.Methods {
		for _, schema := range []json.RawMessage{m.Params, m.Result} {
			if draft := scan.String(scan.Get(schema, "$schema")); draft != "" && !strings.Contains(draft, "/2020-12/") {
				warn("a schema of " + m.Name + " is of " + draft + "; scomp uses JSON Schema 2020-12, and clients may read it as that")
			}
		}
	}
}

func binding(c *catalog.Catalog, m *catalog.Method) json.RawMessage {
	var o scan.Object
	o.Text("name", m.Name)
	addAbout(&o, c, m)
	if len(m.Effects) > 0 {
		effects := scan.JSON(m.Effects)
		o.Add("effects", effects)
	}
	o.Add("hints", m.Hints)
	for key, val := range scan.Named(m.Extra) {
		if !slices.Contains(bindingWords, key) {
			o.Add(key, val)
		}
	}
	return o.End()
}

// addAbout adds the members that bindings and function values have in common:
// description, input and output.
func addAbout(o *scan.Object, c *catalog.Catalog, m *catalog.Method) {
	o.SomeText("description", m.Description)
	if m.Params != nil {
		o.Add("input", withDefs(c, m.Params))
	}
	if m.Result != nil {
		o.Add("output", withDefs(c, m.Result))
	}
}

// bindingWords are the members of a binding for which a catalog has fields. All others go to Extra and back.
var bindingWords = []string{"name", "description", "input", "output", "effects", "hints"}

// withDefs returns schema with the definitions of c to which it refers, directly or through others.
func withDefs(c *catalog.Catalog, schema json.RawMessage) json.RawMessage {
	var defs scan.Object
	seen := map[string]bool{}
	own := scan.Get(schema, "$defs")
	for name, def := range scan.Named(own) {
		seen[name] = true
		defs.Add(name, def)
	}
	var add func(schema json.RawMessage)
	add = func(schema json.RawMessage) {
		eachRef(schema, func(ref string) {
			name, _, ok := cutDef(ref)
			if !ok || seen[name] || c.Defs[name] == nil {
				return
			}
			seen[name] = true
			defs.Add(name, c.Defs[name])
			add(c.Defs[name])
		})
	}
	if add(schema); defs.Empty() || scan.Type(schema) != 'o' {
		return schema
	}
	if own != nil {
		return scan.Splice(schema, "$defs", defs.End())
	}
	var o scan.Object
	o.Members(schema)
	o.Add("$defs", defs.End())
	return o.End()
}

// eachRef calls found with the value of each $ref in a schema.
func eachRef(schema json.RawMessage, found func(ref string)) {
	for start, end := range refsIn(schema) {
		found(scan.String(schema[start:end]))
	}
}

// changeRefs returns a schema with the value of each $ref replaced.
func changeRefs(schema json.RawMessage, change func(ref string) string) json.RawMessage {
	var out []byte
	done := 0
	for start, end := range refsIn(schema) {
		out = append(out, schema[done:start]...)
		out = scan.AppendQuoted(out, change(scan.String(schema[start:end])))
		done = end
	}
	if done == 0 {
		return schema
	}
	return append(out, schema[done:]...)
}

// refsIn yields start and end of each string that is the value of a "$ref". It
// scans the bytes once and without recursion, so that deep schemas cost no more.
func refsIn(schema []byte) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		isRef := false // the string before was that key
		for at, end := 0, 0; ; at = end {
			next := bytes.IndexByte(schema[at:], '"')
			if next < 0 {
				return
			}
			start := at + next
			if end, _ = scan.Value(schema, start, 0); end <= start {
				return // no JSON
			}
			after := scan.Skip(schema, end)
			isKey := after < len(schema) && schema[after] == ':'
			if isRef && !isKey && !yield(start, end) {
				return
			}
			val := scan.Skip(schema, after+1)
			isRef = isKey && scan.IsKey(schema[start+1:end-1], schemaRef) && val < len(schema) && schema[val] == '"'
		}
	}
}
