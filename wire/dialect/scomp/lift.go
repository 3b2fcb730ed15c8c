package scomp

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire/scan"
)

const defsPrefix = "#/$defs/"

// A lift moves one schema of a binding, with the definitions that it refers to,
// into the catalog.
type lift struct {
	r      *reader
	name   string            // for the schema itself, should it need one
	id     string            // what it calls itself; "": nothing
	scopes []json.RawMessage // where definitions are looked for, in turn

	order  []string                   // the definitions, as they are found
	defs   map[string]json.RawMessage // by their names there
	names  map[string]string          // there → in the catalog
	root   string                     // the schema's own name in the catalog; "": nothing refers to it
	selves bool                       // a definition refers to the schema itself
	anchor bool                       // something is referred to by a name of its own
}

// schema is a schema of a binding as it can stand in the catalog. beside are the
// binding's own $defs.
func (r *reader) schema(name string, schema, beside json.RawMessage) json.RawMessage {
	l := &lift{
		r: r, name: name, id: strings.TrimSuffix(text(scan.Get(schema, "$id")), "#"),
		scopes: append([]json.RawMessage{scan.Get(schema, "$defs"), beside}, r.more...),
		defs:   map[string]json.RawMessage{}, names: map[string]string{},
	}
	whole := without(schema, "$id") // in the catalog it would hide the definitions
	out := without(whole, "$defs")
	if l.find(out, false); l.anchor {
		out = whole
		l.find(out, false)
	}
	l.place()
	out = changeRefs(out, l.change)
	if l.root == "" {
		return out
	}
	r.define(l.root, out)
	return append(member([]byte{'{'}, schemaRef, scan.AppendQuoted(nil, defRef(l.root))), '}')
}

// find collects the definitions that schema refers to, and those that they do.
func (l *lift) find(schema json.RawMessage, inside bool) {
	eachRef(schema, func(ref string) {
		ref = l.local(ref)
		name, _, ok := cutDef(ref)
		switch {
		case !ok:
			l.selves = l.selves || inside && isSelf(ref)
			l.anchor = l.anchor || strings.HasPrefix(ref, "#") && !isSelf(ref)
			return
		case l.defs[name] != nil:
			return
		}
		for _, defs := range l.scopes {
			if def := scan.Get(defs, name); def != nil {
				l.order, l.defs[name] = append(l.order, name), def
				l.find(def, true)
				return
			}
		}
	})
}

// place puts the definitions into the catalog. They keep their names where those
// are free, or stand for the same there; where one does not, none does, since
// what refers to it means another thing, too.
func (l *lift) place() {
	taken := slices.ContainsFunc(l.order, func(name string) bool {
		return l.r.c.Defs[name] != nil && (l.selves || !scan.Equal(l.r.raw[name], l.defs[name]))
	})
	for _, name := range l.order {
		if l.names[name] = name; taken {
			l.names[name] = l.r.free(name)
			l.r.define(l.names[name], json.RawMessage("true")) // its place
		}
	}
	for _, name := range l.order {
		l.r.define(l.names[name], changeRefs(l.defs[name], l.change))
		if !taken && !l.selves {
			l.r.raw[name] = l.defs[name]
		}
	}
}

// change is ref as it is in the catalog.
func (l *lift) change(ref string) string {
	ref = l.local(ref)
	name, rest, ok := cutDef(ref)
	switch to := l.names[name]; {
	case ok && to != "" && to != name:
		return defRef(to) + rest
	case ok || !isSelf(ref):
		return ref // it has kept its name, or leads nowhere that we know
	}
	if l.root == "" {
		l.root = l.r.free(l.name)
		l.r.define(l.root, json.RawMessage("true")) // its place
	}
	return defRef(l.root) + ref[1:]
}

// local is ref without what the schema calls itself.
func (l *lift) local(ref string) string {
	if rest, ok := strings.CutPrefix(ref, l.id); ok && l.id != "" && (rest == "" || rest[0] == '#') {
		return "#" + strings.TrimPrefix(rest, "#")
	}
	return ref
}

// isSelf says that ref leads to the schema in which it is, or into it.
func isSelf(ref string) bool { return ref == "#" || strings.HasPrefix(ref, "#/") }

// defRef leads to a definition.
func defRef(name string) string { return defsPrefix + url.PathEscape(scan.Escape(name)) }

// cutDef is the definition that ref leads to, and the pointer inside it.
func cutDef(ref string) (name, rest string, ok bool) {
	token, ok := strings.CutPrefix(ref, defsPrefix)
	if i := strings.IndexByte(token, '/'); i >= 0 {
		token, rest = token[:i], token[i:]
	}
	name, err := url.PathUnescape(token)
	return scan.Unescape(name), rest, ok && err == nil
}

func (r *reader) define(name string, def json.RawMessage) {
	if r.c.Defs == nil {
		r.c.Defs = map[string]json.RawMessage{}
	}
	r.c.Defs[name] = def
}

// free is a name that no definition has.
func (r *reader) free(name string) string {
	name = strings.NewReplacer("/", "_", "~", "_", "%", "_", "#", "_").Replace(name)
	for free := name; ; free = name + "-" + strconv.Itoa(r.last[name]+1) {
		if r.last[name]++; r.c.Defs[free] == nil {
			return free
		}
	}
}
