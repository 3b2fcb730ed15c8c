package catalog

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// Method returns the method of that name, or nil.
func (c *Catalog) Method(name string) *Method {
	if c == nil {
		return nil
	}
	return wire.Find(c.Methods, func(m *Method) bool { return m.Name == name })
}

// Names returns the names of the methods in order.
func (c *Catalog) Names() []string {
	if c == nil {
		return nil
	}
	return wire.Map(c.Methods, func(m Method) string { return m.Name })
}

// Marshal returns the catalog as JSON on one line. The order of members is fixed, and schemas are unchanged.
func (c *Catalog) Marshal() (json.RawMessage, error) {
	out := *c
	out.Catalog = 1
	if out.Methods == nil {
		out.Methods = []Method{}
	}
	return scan.Marshal(out)
}

// MarshalIndent returns the catalog as indented JSON.
func (c *Catalog) MarshalIndent() ([]byte, error) {
	b, err := c.Marshal()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, b, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// document returns the catalog as the document in which $refs are resolved, or nil.
func (c *Catalog) document() json.RawMessage {
	if c == nil {
		return nil
	}
	b, _ := c.Marshal()
	return b
}

// Clone returns a copy of c with its own lists and maps.
func (c *Catalog) Clone() *Catalog {
	out := *c
	out.Methods, out.Classes, out.Defs = slices.Clone(c.Methods), slices.Clone(c.Classes), maps.Clone(c.Defs)
	return &out
}

// TakeExtra removes a member from c's extra and returns it, or nil.
func (c *Catalog) TakeExtra(name string) json.RawMessage {
	taken := scan.Get(c.Extra, name)
	if c.Extra = scan.Without(c.Extra, name); scan.Count(c.Extra) == 0 {
		c.Extra = nil
	}
	return taken
}

// StripRun removes the run members of c at every depth: commands from a peer, or from a file that was not given as
// hooks, must never run. Schemas stay unchanged, because they may describe a property "run".
func StripRun(c *Catalog) {
	if c == nil {
		return
	}
	for i := range c.Methods {
		m := &c.Methods[i]
		m.Run = ""
		m.Hints, m.Cache, m.Extra = strip(m.Hints, schemaMembers), strip(m.Cache, schemaMembers), strip(m.Extra, nil)
	}
	for i := range c.Classes {
		c.Classes[i] = strip(c.Classes[i], schemaMembers)
	}
	c.Extra, c.Info.Extra = strip(c.Extra, nil), strip(c.Info.Extra, nil) // an extra has no schemas at its top level
}

// schemaMembers are the members that contain schemas.
var schemaMembers = map[string]bool{"params": true, "result": true, "events": true, "$defs": true}

// strip removes the run members in raw. It leaves the members named in schemas unchanged.
func strip(raw json.RawMessage, schemas map[string]bool) json.RawMessage {
	if !bytes.Contains(raw, []byte("run")) && !bytes.Contains(raw, []byte(`\u`)) {
		return raw
	}
	switch scan.Type(scan.Trim(raw)) {
	case 'o':
		var o scan.Object
		for name, val := range scan.Named(raw) {
			if !schemas[name] {
				val = strip(val, schemaMembers)
			}
			if name != "run" {
				o.Add(name, val)
			}
		}
		return o.End()
	case 'a':
		var a scan.Array
		for val := range scan.Elements(raw) {
			a.Add(strip(val, schemaMembers))
		}
		return a.End()
	}
	return raw
}
