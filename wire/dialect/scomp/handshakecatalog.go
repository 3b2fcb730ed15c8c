package scomp

import (
	"encoding/json"
	"slices"

	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// fromHandshake makes a catalog from a side's part of the handshake (its params or its result). who is the member of
// metadata that identifies that side: "client" or "server".
func fromHandshake(body json.RawMessage, who string) *catalog.Catalog {
	r := newReader()
	metadata := scan.Get(body, "metadata")
	r.more = []json.RawMessage{scan.Get(body, "$defs"), scan.Get(metadata, "$defs")}
	for val := range scan.Elements(scan.Get(body, "bindings")) {
		r.method(val)
	}
	r.c.Info = info(body, metadata, who)
	var rest scan.Object
	for key, val := range scan.Named(body) {
		if !slices.Contains([]string{"protocol", sessionWord, "bindings", "metadata", "$defs"}, key) {
			rest.Add(key, val)
		}
	}
	r.c.Extra = rest.EndOrNil()
	return r.c
}

// info returns name, version and description of a side. The rest of its metadata is in Extra.
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

// A reader collects bindings in a catalog (for the definitions of their schemas, see defsImport).
type reader struct {
	c    *catalog.Catalog
	more []json.RawMessage          // $defs beside the bindings, searched last
	raw  map[string]json.RawMessage // received definitions by name, for those that kept it
	last map[string]int             // by name, the last number that free appended to it
}

func newReader() *reader {
	return &reader{
		c:   &catalog.Catalog{Catalog: 1, Dialect: "scomp", Methods: []catalog.Method{}},
		raw: map[string]json.RawMessage{}, last: map[string]int{},
	}
}

func (r *reader) method(val json.RawMessage) {
	m := catalog.Method{Name: scan.String(scan.Get(val, "name"))}
	if m.Name == "" {
		return
	}
	var rest scan.Object
	for key, v := range scan.Named(val) {
		switch key {
		case "name", "$defs":
		case "description":
			m.Description = scan.String(v)
		case "input":
			m.Params = r.schema(m.Name+".input", v, scan.Get(val, "$defs"))
		case "output":
			m.Result = r.schema(m.Name+".output", v, scan.Get(val, "$defs"))
		case "effects":
			_ = json.Unmarshal(v, &m.Effects)
		case "hints":
			m.Hints = v
		default:
			rest.Add(key, v)
		}
	}
	m.Extra = rest.EndOrNil()
	r.c.Methods = append(r.c.Methods, m)
}
