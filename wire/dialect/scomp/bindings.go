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

// bindings converts a catalog's methods to the bindings of a handshake. Each schema contains the definitions that it
// uses, because it stands alone on the wire.
func bindings(c *catalog.Catalog) json.RawMessage {
	var all scan.Array
	if c != nil {
		for i := range c.Methods {
			all.Add(binding(c, &c.Methods[i]))
		}
	}
	return all.End()
}

// warnDrafts warns about schemas in a draft of JSON Schema that scomp does not use; they are sent unchanged.
func warnDrafts(warn func(text string), c *catalog.Catalog) {
	if warn == nil || c == nil {
		return
	}
	for _, m := range c.Methods {
		for _, schema := range []json.RawMessage{m.Params, m.Result} {
			if draft := scan.String(scan.Get(schema, "$schema")); draft != "" && !strings.Contains(draft, "/2020-12/") {
				warn("a schema of " + m.Name + " uses " + draft + ", but scomp uses JSON Schema 2020-12, and clients may read the schema as such")
			}
		}
	}
}

func binding(c *catalog.Catalog, m *catalog.Method) json.RawMessage {
	var o scan.Object
	o.Text("name", m.Name)
	addAbout(&o, c, m)
	if len(m.Effects) > 0 {
		o.Add("effects", scan.JSON(m.Effects))
	}
	o.Add("hints", m.Hints)
	for key, val := range scan.Named(m.Extra) {
		if !slices.Contains(bindingWords, key) {
			o.Add(key, val)
		}
	}
	return o.End()
}

// addAbout adds the common members of bindings and function values: description, input and output.
func addAbout(o *scan.Object, c *catalog.Catalog, m *catalog.Method) {
	o.SomeText("description", m.Description)
	if m.Params != nil {
		o.Add("input", withDefs(c, m.Params))
	}
	if m.Result != nil {
		o.Add("output", withDefs(c, m.Result))
	}
}

// bindingWords are the members of a binding for which a catalog has a field. A catalog keeps other members in Extra.
var bindingWords = []string{"name", "description", "input", "output", "effects", "hints"}

// withDefs returns schema with the definitions of c that it uses, directly or through other definitions.
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

// refsIn yields the start and the end of each string value of a "$ref". It scans once and without recursion, so that
// deep schemas are cheap.
func refsIn(schema []byte) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		isRef := false // the preceding string was a "$ref" key
		for at, end := 0, 0; ; at = end {
			next := bytes.IndexByte(schema[at:], '"')
			if next < 0 {
				return
			}
			start := at + next
			if end, _ = scan.Value(schema, start, 0); end <= start {
				return // not JSON
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

// fromHandshake makes a catalog of what one side sends in the handshake (its params or its result). who is the member
// of metadata that identifies that side: "client" or "server".
func fromHandshake(body json.RawMessage, who string) *catalog.Catalog {
	r := newReader()
	metadata := scan.Get(body, "metadata")
	r.more = []json.RawMessage{scan.Get(body, "$defs"), scan.Get(metadata, "$defs")}
	for val := range scan.Elements(scan.Get(body, "bindings")) {
		r.method(val)
	}
	r.c.Info = info(body, metadata, who)
	var rest scan.Object
	for key, val := range scan.Named(body) {
		if !slices.Contains([]string{"protocol", sessionWord, "bindings", "metadata", "$defs"}, key) {
			rest.Add(key, val)
		}
	}
	r.c.Extra = rest.EndOrNil()
	return r.c
}

// info returns the name, version and description of a side. The rest of its metadata goes to Extra.
func info(body, metadata json.RawMessage, who string) catalog.Info {
	self := scan.Get(metadata, who)
	i := catalog.Info{Name: scan.String(scan.Get(self, "name")), Version: scan.String(scan.Get(self, "version")), Description: scan.String(scan.Get(self, "description"))}
	var about scan.Object
	about.Add(sessionWord, scan.Get(body, sessionWord))
	for key, val := range scan.Named(metadata) {
		if key == who {
			val = scan.Without(val, "name", "version", "description")
		}
		if key != "$defs" && (key != who || string(val) != "{}") {
			about.Add(key, val)
		}
	}
	i.Extra = about.EndOrNil()
	return i
}

// A reader collects bindings in a catalog (see defsImport for the definitions in their schemas).
type reader struct {
	c    *catalog.Catalog
	more []json.RawMessage          // $defs beside the bindings, which are searched last
	raw  map[string]json.RawMessage // received definitions with an unchanged name, by name
	last map[string]int             // the last number that free appended, by name
}

func newReader() *reader {
	return &reader{
		c:   &catalog.Catalog{Catalog: 1, Dialect: "scomp", Methods: []catalog.Method{}},
		raw: map[string]json.RawMessage{}, last: map[string]int{},
	}
}

func (r *reader) method(val json.RawMessage) {
	m := catalog.Method{Name: scan.String(scan.Get(val, "name"))}
	if m.Name == "" {
		return
	}
	var rest scan.Object
	for key, v := range scan.Named(val) {
		switch key {
		case "name", "$defs":
		case "description":
			m.Description = scan.String(v)
		case "input":
			m.Params = r.schema(m.Name+".input", v, scan.Get(val, "$defs"))
		case "output":
			m.Result = r.schema(m.Name+".output", v, scan.Get(val, "$defs"))
		case "effects":
			_ = json.Unmarshal(v, &m.Effects)
		case "hints":
			m.Hints = v
		default:
			rest.Add(key, v)
		}
	}
	m.Extra = rest.EndOrNil()
	r.c.Methods = append(r.c.Methods, m)
}
