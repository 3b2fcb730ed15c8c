package catalog

import (
	"encoding/json"
	"maps"
	"slices"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// SelfContained returns a copy of c in which each schema contains the $defs that it uses.
func (c *Catalog) SelfContained() *Catalog {
	if len(c.Defs) == 0 {
		return c
	}
	out := *c
	out.Methods = slices.Clone(c.Methods)
	for i := range out.Methods {
		m := &out.Methods[i]
		m.Params, m.Result = c.WithDefs(m.Params), c.WithDefs(m.Result)
		if m.Events != nil {
			m.Events = maps.Clone(m.Events)
			for name, schema := range m.Events {
				m.Events[name] = c.WithDefs(schema)
			}
		}
	}
	return &out
}

// WithDefs returns a schema with the $defs of c that it uses. It keeps the schema's own definitions.
func (c *Catalog) WithDefs(schema json.RawMessage) json.RawMessage {
	if scan.Type(schema) != 'o' {
		return schema
	}
	own := scan.Get(schema, "$defs")
	used := c.UsedDefs(schema, own)
	if len(used) == 0 {
		return schema
	}
	var all, out scan.Object
	all.Members(own)
	for _, name := range slices.Sorted(maps.Keys(used)) {
		all.Add(name, used[name])
	}
	out.Members(schema, "$defs")
	out.Add("$defs", all.End())
	return out.End()
}

// UsedDefs returns the $defs of c that a schema uses, directly or through other definitions. It omits those that own
// contains, an object or nil.
func (c *Catalog) UsedDefs(schema, own []byte) map[string]json.RawMessage {
	used, owned := map[string]json.RawMessage{}, wire.SetOf(Keys(own))
	var find func(in []byte)
	find = func(in []byte) {
		for ref := range Refs(in) {
			name, _, ok := CutDef(ref)
			if def := c.Defs[name]; ok && def != nil && used[name] == nil && !owned[name] {
				used[name] = def
				find(def)
			}
		}
	}
	find(schema)
	return used
}
