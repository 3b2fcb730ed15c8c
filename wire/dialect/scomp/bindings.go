package scomp

import (
	"encoding/json"
	"maps"
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
	o.Members(m.Extra, slices.Collect(maps.Keys(bindingFields))...)
	return o.End()
}

// addAbout adds the common members of bindings and function values: description, input and output.
func addAbout(o *scan.Object, c *catalog.Catalog, m *catalog.Method) {
	o.SomeText("description", m.Description)
	if m.Params != nil {
		o.Add("input", c.WithDefs(m.Params))
	}
	if m.Result != nil {
		o.Add("output", c.WithDefs(m.Result))
	}
}

// bindingFields are the members of a binding for which a catalog has a field. A catalog keeps other members in Extra.
var bindingFields = map[string]string{
	"name": "name", "description": "description", "input": "params", "output": "result", "effects": "effects", "hints": "hints",
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
	rest.Named(body, "protocol", sessionWord, "bindings", "metadata", "$defs")
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
	var m catalog.Method
	m.Fill(scan.Without(val, "$defs"), bindingFields)
	if m.Name == "" {
		return
	}
	defs := scan.Get(val, "$defs")
	if m.Params != nil {
		m.Params = r.schema(m.Name+".input", m.Params, defs)
	}
	if m.Result != nil {
		m.Result = r.schema(m.Name+".output", m.Result, defs)
	}
	r.c.Methods = append(r.c.Methods, m)
}
