package catalog

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

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
		m.Params, m.Result = withDefs(m.Params, c.Defs), withDefs(m.Result, c.Defs)
		if m.Events != nil {
			m.Events = maps.Clone(m.Events)
			for name, schema := range m.Events {
				m.Events[name] = withDefs(schema, c.Defs)
			}
		}
	}
	return &out
}

// withDefs adds to a schema the defs that it uses, directly or indirectly. It keeps the schema's own definitions.
func withDefs(schema json.RawMessage, defs map[string]json.RawMessage) json.RawMessage {
	if scan.Type(schema) != 'o' {
		return schema
	}
	own := scan.Get(schema, "$defs")
	used := map[string]bool{}
	var find func(in []byte)
	find = func(in []byte) {
		for name := range refsIn(in) {
			if def := defs[name]; def != nil && !used[name] && scan.Get(own, name) == nil {
				used[name] = true
				find(def)
			}
		}
	}
	find(schema)
	if len(used) == 0 {
		return schema
	}
	var all, out scan.Object
	all.Members(own)
	for _, name := range slices.Sorted(maps.Keys(used)) {
		all.Add(name, defs[name])
	}
	for key, val := range scan.Named(schema) {
		if key != "$defs" {
			out.Add(key, val)
		}
	}
	out.Add("$defs", all.End())
	return out.End()
}

// refsIn returns the names of the $defs that a schema uses.
func refsIn(schema []byte) map[string]bool {
	names := map[string]bool{}
	var walk func(in []byte)
	walk = func(in []byte) {
		switch scan.Type(in) {
		case 'a':
			for v := range scan.Elements(in) {
				walk(v)
			}
		case 'o':
			for key, val := range scan.Named(in) {
				if key != "$ref" {
					walk(val)
					continue
				}
				if name, ok := strings.CutPrefix(scan.String(val), "#/$defs/"); ok {
					name, _, _ = strings.Cut(name, "/")
					names[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)] = true
				}
			}
		}
	}
	walk(schema)
	return names
}
