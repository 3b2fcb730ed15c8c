package scomp

import (
	"encoding/json"
	"slices"

	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// fromGreeting makes a catalog of what a side said in the handshake; who is the
// member of its metadata that names it.
func fromGreeting(body json.RawMessage, who string) *catalog.Catalog {
	r := newReader()
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
	more []json.RawMessage          // $defs that stand outside the bindings
	raw  map[string]json.RawMessage // definitions as they came, where they kept their names
	last map[string]int             // the number of the last name that was made of a name
}

func newReader() *reader {
	return &reader{
		c:   &catalog.Catalog{Catalog: 1, Dialect: "scomp", Methods: []catalog.Method{}},
		raw: map[string]json.RawMessage{}, last: map[string]int{},
	}
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
