package scomp

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// fromGreeting makes a catalog of what a side said in the handshake; who is the
// member of its metadata that names it.
func fromGreeting(body json.RawMessage, who string) *catalog.Catalog {
	r := reader{c: &catalog.Catalog{Catalog: 1, Dialect: "scomp", Methods: []catalog.Method{}}}
	metadata := scan.Get(body, "metadata")
	r.more = []json.RawMessage{scan.Get(body, "$defs"), scan.Get(metadata, "$defs")}
	for val := range elements(scan.Get(body, "bindings")) {
		r.method(val)
	}
	r.c.Info = info(body, metadata, who)
	rest := []byte{'{'}
	for key, val := range members(body) {
		if !slices.Contains([]string{"protocol", sessionWord, "bindings", "metadata", "$defs"}, key) {
			rest = member(rest, key, val)
		}
	}
	if len(rest) > 1 {
		r.c.Extra = append(rest, '}')
	}
	return r.c
}

// info is who a side is, with all else that its metadata say.
func info(body, metadata json.RawMessage, who string) catalog.Info {
	self := scan.Get(metadata, who)
	i := catalog.Info{Name: text(scan.Get(self, "name")), Version: text(scan.Get(self, "version"))}
	about := []byte{'{'}
	if session := scan.Get(body, sessionWord); session != nil {
		about = member(about, sessionWord, session)
	}
	for key, val := range members(metadata) {
		if key == who {
			val = without(without(val, "name"), "version")
		}
		if key != "$defs" && (key != who || string(val) != "{}") {
			about = member(about, key, val)
		}
	}
	if len(about) > 1 {
		i.Extra = append(about, '}')
	}
	return i
}

// A reader collects bindings in a catalog. Their schemas refer to their own
// roots; in a catalog $defs are shared, under names of their own where two
// bindings mean different things by one name.
type reader struct {
	c    *catalog.Catalog
	more []json.RawMessage // $defs that stand outside the bindings
	last map[string]int    // the number of the last name that was made of a name
}

func (r *reader) method(val json.RawMessage) {
	m := catalog.Method{Name: text(scan.Get(val, "name"))}
	if m.Name == "" {
		return
	}
	rest := []byte{'{'}
	for key, v := range members(val) {
		switch key {
		case "name", "$defs":
		case "description":
			m.Description = text(v)
		case "input":
			m.Params = r.schema(m.Name+".input", v, scan.Get(val, "$defs"))
		case "output":
			m.Result = r.schema(m.Name+".output", v, scan.Get(val, "$defs"))
		case "effects":
			_ = json.Unmarshal(v, &m.Effects)
		case "hints":
			m.Hints = v
		default:
			rest = member(rest, key, v)
		}
	}
	if len(rest) > 1 {
		m.Extra = append(rest, '}')
	}
	r.c.Methods = append(r.c.Methods, m)
}

// schema is a schema of a binding as it can stand in the catalog. beside are the
// binding's own $defs.
func (r *reader) schema(name string, schema, beside json.RawMessage) json.RawMessage {
	own := scan.Get(schema, "$defs")
	names := map[string]string{} // in the schema → in the catalog
	root := ""                   // where the schema itself is, when it refers to itself
	var change func(ref string) string
	change = func(ref string) string {
		inner, ok := strings.CutPrefix(ref, defsPrefix)
		switch {
		case ok:
			first, rest, more := strings.Cut(inner, "/")
			if more {
				rest = "/" + rest
			}
			for _, defs := range append([]json.RawMessage{own, beside}, r.more...) {
				if def := scan.Get(defs, first); def != nil && names[first] == "" {
					names[first] = r.reserve(first, def, change, names)
				}
			}
			if to := names[first]; to != "" {
				return defsPrefix + to + rest
			}
		case strings.HasPrefix(ref, "#"):
			if root == "" {
				root = r.free(name)
				r.define(root, json.RawMessage("true")) // its place
			}
			return defsPrefix + root + ref[1:]
		}
		return ref // it leads nowhere that we know
	}
	out := changeRefs(without(schema, "$defs"), change)
	if root == "" {
		return out
	}
	r.define(root, out)
	return append(member([]byte{'{'}, schemaRef, scan.AppendQuoted(nil, defsPrefix+root)), '}')
}

// reserve puts a definition into the catalog and returns its name there.
func (r *reader) reserve(name string, def json.RawMessage, change func(string) string, names map[string]string) string {
	if have := r.c.Defs[name]; have != nil && !scan.Equal(have, def) {
		name = r.free(name)
	}
	names[name] = name
	r.define(name, def) // it may refer to itself
	r.define(name, changeRefs(def, change))
	return name
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
	if r.last == nil {
		r.last = map[string]int{}
	}
	for free := name; ; free = name + "-" + strconv.Itoa(r.last[name]+1) {
		if r.last[name]++; r.c.Defs[free] == nil {
			return free
		}
	}
}

// without is an object without one of its members.
func without(obj json.RawMessage, key string) json.RawMessage {
	if scan.Get(obj, key) == nil {
		return obj
	}
	b := []byte{'{'}
	for k, val := range members(obj) {
		if k != key {
			b = member(b, k, val)
		}
	}
	return append(b, '}')
}
