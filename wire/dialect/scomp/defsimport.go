package scomp

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// A defsImport copies one schema of a binding, with its definitions, into the catalog. A binding's $ref is relative to
// its own schema, but all methods of a catalog share one $defs. If two bindings use one name for different definitions,
// definitions are renamed.
type defsImport struct {
	r      *reader
	name   string            // the name in the catalog for the schema, if a $ref refers to its root
	id     string            // the $id, or ""
	scopes []json.RawMessage // $defs objects in search order

	order  []string                   // the definitions' names in the order of discovery
	defs   map[string]json.RawMessage // by their names in the binding
	names  map[string]string          // the name in the catalog, by the name in the binding
	root   string                     // the catalog's name of the schema itself; "" if no $ref refers to its root
	selves bool                       // a definition refers to the schema's root
	anchor bool                       // a $ref names an $anchor, so $id and $defs must stay in place
}

// schema converts a binding's schema for the catalog and adds its definitions to the catalog's $defs. beside is the
// binding's own $defs, or nil.
func (r *reader) schema(name string, schema, beside json.RawMessage) json.RawMessage {
	d := &defsImport{
		r: r, name: name, id: strings.TrimSuffix(scan.String(scan.Get(schema, "$id")), "#"),
		scopes: append([]json.RawMessage{scan.Get(schema, "$defs"), beside}, r.more...),
		defs:   map[string]json.RawMessage{}, names: map[string]string{},
	}
	whole := scan.Without(schema, "$id") // with an $id, "#/$defs/…" would not refer to the catalog
	out := scan.Without(whole, "$defs")
	if d.find(out, false); d.anchor {
		out = whole
		d.find(out, false)
	}
	d.place()
	out = catalog.ChangeRefs(out, d.change)
	if d.root == "" {
		return out
	}
	wire.Put(&r.c.Defs, d.root, out)
	return scan.Pair("$ref", scan.AppendQuoted(nil, catalog.DefRef(d.root)))
}

// find collects the definitions that schema uses, directly or through other definitions. inside means that schema is
// itself a definition.
func (d *defsImport) find(schema json.RawMessage, inside bool) {
	for ref := range catalog.Refs(schema) {
		ref = d.local(ref)
		name, _, ok := catalog.CutDef(ref)
		switch {
		case !ok:
			d.selves = d.selves || inside && isSelf(ref)
			d.anchor = d.anchor || strings.HasPrefix(ref, "#") && !isSelf(ref)
		case d.defs[name] == nil:
			for _, defs := range d.scopes {
				if def := scan.Get(defs, name); def != nil {
					d.order, d.defs[name] = append(d.order, name), def
					d.find(def, true)
					break
				}
			}
		}
	}
}

// place adds the definitions to the catalog. They keep their names if each name is unused or has the same meaning in
// the catalog. Otherwise all get new names, because renaming a definition also changes the definitions that refer to
// it.
func (d *defsImport) place() {
	taken := slices.ContainsFunc(d.order, func(name string) bool {
		return d.r.c.Defs[name] != nil && (d.selves || !scan.Equal(d.r.raw[name], d.defs[name]))
	})
	for _, name := range d.order {
		if d.names[name] = name; taken {
			d.names[name] = d.r.free(name)
			wire.Put(&d.r.c.Defs, d.names[name], json.RawMessage("true")) // reserves the name
		}
	}
	for _, name := range d.order {
		wire.Put(&d.r.c.Defs, d.names[name], catalog.ChangeRefs(d.defs[name], d.change))
		if !taken && !d.selves {
			d.r.raw[name] = d.defs[name]
		}
	}
}

// change returns ref as it must be in the catalog.
func (d *defsImport) change(ref string) string {
	ref = d.local(ref)
	name, rest, ok := catalog.CutDef(ref)
	switch to := d.names[name]; {
	case ok && to != "" && to != name:
		return catalog.DefRef(to) + rest
	case ok || !isSelf(ref):
		return ref // the target kept its name or is unknown
	}
	if d.root == "" {
		d.root = d.r.free(d.name)
		wire.Put(&d.r.c.Defs, d.root, json.RawMessage("true")) // reserves the name
	}
	return catalog.DefRef(d.root) + ref[1:]
}

// local returns ref without the schema's own $id. The result begins with "#".
func (d *defsImport) local(ref string) string {
	if rest, ok := strings.CutPrefix(ref, d.id); ok && d.id != "" && (rest == "" || rest[0] == '#') {
		return "#" + strings.TrimPrefix(rest, "#")
	}
	return ref
}

// isSelf reports whether ref is a JSON pointer into its own schema.
func isSelf(ref string) bool { return ref == "#" || strings.HasPrefix(ref, "#/") }

// free returns the first name that is not in use: name, name-1, name-2 and so on.
func (r *reader) free(name string) string {
	name = strings.NewReplacer("/", "_", "~", "_", "%", "_", "#", "_").Replace(name)
	for free := name; ; free = name + "-" + strconv.Itoa(r.last[name]+1) {
		if r.last[name]++; r.c.Defs[free] == nil {
			return free
		}
	}
}
