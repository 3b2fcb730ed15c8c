package scomp

import (
	"encoding/json"
	"slices"

	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// fromGreeting makes a catalog from a side's part of the handshake (its params
// or its result); who is the member of metadata that identifies that side:
// "client" or "server".
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

// info returns name and version of a side; the rest of its metadata is in Extra.
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

// A reader collects bindings in a catalog; see defsImport for what becomes of
// their schemas' definitions.
type reader struct {
	c    *catalog.Catalog
	more []json.RawMessage          // $defs beside the bindings, searched last
	raw  map[string]json.RawMessage // definitions as they came, by name, for those that kept it
	last map[string]int             // per name: the last number that free appended to it
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

// without returns obj without the member key.
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
