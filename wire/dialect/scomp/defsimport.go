package scomp

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
)

const defsPrefix = "#/$defs/"

// A defsImport copies one schema of a binding into the catalog, together with the definitions that it refers to. A
// binding's $ref is relative to its own schema, while all methods of a catalog share one $defs. If two bindings use one
// name for different definitions, the definitions are renamed.
type defsImport struct {
	r      *reader
	name   string            // the schema's name in the catalog, used when a $ref leads to its root
	id     string            // its $id, or ""
	scopes []json.RawMessage // the $defs objects that are searched, in this order

	order  []string                   // names of the definitions, in the order of discovery
	defs   map[string]json.RawMessage // the definitions, by the binding's names
	names  map[string]string          // the binding's name → the catalog's name
	root   string                     // the catalog's name of the schema itself; "" means no $ref leads to its root
	selves bool                       // a definition refers to the root of the schema
	anchor bool                       // a $ref names an $anchor, which only works with $id and $defs left in place
}

// schema returns a binding's schema in a form for the catalog, whose $defs then contain its definitions. beside is the
// binding's own $defs, or nil.
func (r *reader) schema(name string, schema, beside json.RawMessage) json.RawMessage {
	d := &defsImport{
		r: r, name: name, id: strings.TrimSuffix(scan.String(scan.Get(schema, "$id")), "#"),
		scopes: append([]json.RawMessage{scan.Get(schema, "$defs"), beside}, r.more...),
		defs:   map[string]json.RawMessage{}, names: map[string]string{},
	}
	whole := scan.Without(schema, "$id") // with an $id, "#/$defs/…" would no longer mean the catalog's
	out := scan.Without(whole, "$defs")
	if d.find(out, false); d.anchor {
		out = whole
		d.find(out, false)
	}
	d.place()
	out = changeRefs(out, d.change)
	if d.root == "" {
		return out
	}
	r.define(d.root, out)
	return scan.Pair(schemaRef, scan.AppendQuoted(nil, defRef(d.root)))
}

// find collects the definitions to which schema refers, directly or through others. inside reports that schema is
// itself a definition.
func (d *defsImport) find(schema json.RawMessage, inside bool) {
	eachRef(schema, func(ref string) {
		ref = d.local(ref)
		name, _, ok := cutDef(ref)
		switch {
		case !ok:
			d.selves = d.selves || inside && isSelf(ref)
			d.anchor = d.anchor || strings.HasPrefix(ref, "#") && !isSelf(ref)
			return
		case d.defs[name] != nil:
			return
		}
		for _, defs := range d.scopes {
			if def := scan.Get(defs, name); def != nil {
				d.order, d.defs[name] = append(d.order, name), def
				d.find(def, true)
				return
			}
		}
	})
}

// place adds the definitions to the catalog. They keep their names if each is free there or already has the same
// meaning. Otherwise all get new names, because a definition that refers to a renamed one changes its meaning, too.
func (d *defsImport) place() {
	taken := slices.ContainsFunc(d.order, func(name string) bool {
		return d.r.c.Defs[name] != nil && (d.selves || !scan.Equal(d.r.raw[name], d.defs[name]))
	})
	for _, name := range d.order {
		if d.names[name] = name; taken {
			d.names[name] = d.r.free(name)
			d.r.define(d.names[name], json.RawMessage("true")) // reserves the name until it is defined below
		}
	}
	for _, name := range d.order {
		d.r.define(d.names[name], changeRefs(d.defs[name], d.change))
		if !taken && !d.selves {
			d.r.raw[name] = d.defs[name]
		}
	}
}

// change returns ref in its form for the catalog.
func (d *defsImport) change(ref string) string {
	ref = d.local(ref)
	name, rest, ok := cutDef(ref)
	switch to := d.names[name]; {
	case ok && to != "" && to != name:
		return defRef(to) + rest
	case ok || !isSelf(ref):
		return ref // it kept its name, or its target is unknown
	}
	if d.root == "" {
		d.root = d.r.free(d.name)
		d.r.define(d.root, json.RawMessage("true")) // reserves the name
	}
	return defRef(d.root) + ref[1:]
}

// local returns ref without the schema's own $id, so that it begins with "#".
func (d *defsImport) local(ref string) string {
	if rest, ok := strings.CutPrefix(ref, d.id); ok && d.id != "" && (rest == "" || rest[0] == '#') {
		return "#" + strings.TrimPrefix(rest, "#")
	}
	return ref
}

// isSelf reports whether ref is a JSON pointer into the schema it stands in.
func isSelf(ref string) bool { return ref == "#" || strings.HasPrefix(ref, "#/") }

// defRef returns the $ref of the definition with that name.
func defRef(name string) string { return defsPrefix + url.PathEscape(scan.Escape(name)) }

// cutDef splits ref into the definition that it names and the pointer inside that. ok is false if it names none.
func cutDef(ref string) (name, rest string, ok bool) {
	token, ok := strings.CutPrefix(ref, defsPrefix)
	if i := strings.IndexByte(token, '/'); i >= 0 {
		token, rest = token[:i], token[i:]
	}
	name, err := url.PathUnescape(token)
	return scan.Unescape(name), rest, ok && err == nil
}

func (r *reader) define(name string, def json.RawMessage) {
	wire.Put(&r.c.Defs, name, def)
}

// free returns name, or name-1, name-2…: the first that no definition has.
func (r *reader) free(name string) string {
	name = strings.NewReplacer("/", "_", "~", "_", "%", "_", "#", "_").Replace(name)
	for free := name; ; free = name + "-" + strconv.Itoa(r.last[name]+1) {
		if r.last[name]++; r.c.Defs[free] == nil {
			return free
		}
	}
}
