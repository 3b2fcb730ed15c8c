package ro

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/scan"
)

// Describe asks with rpc.describe, a plain method. It returns
// wire.ErrUnsupported where the far side does not have it.
func (c *codec) Describe(ctx context.Context, caller dialect.Caller) (*catalog.Catalog, error) {
	doc, err := caller.Call(ctx, describe, nil)
	var e *wire.Error
	switch {
	case errors.As(err, &e) && string(e.Code) == "-32601":
		return nil, wire.ErrUnsupported
	case err != nil:
		return nil, err
	}
	return FromDescription(doc)
}

// FromDescription makes a catalog of an answer to rpc.describe, whatever shape
// it has, as long as it lists resources with verbs, or methods: in arrays or as
// members, by their names or as objects that say more. What has no place in a
// catalog is kept in its extra members. Failures are Faults of kind Protocol.
func FromDescription(doc json.RawMessage) (*catalog.Catalog, error) {
	doc = scan.Trim(doc)
	if scan.Get(doc, "openrpc") != nil {
		c, err := jsonrpc.FromOpenRPC(doc)
		if err == nil {
			c.Dialect = "ro"
		}
		return c, err
	}
	r := &reader{c: &catalog.Catalog{Catalog: 1, Dialect: "ro", Methods: []catalog.Method{}}}
	switch scan.Type(doc) {
	case 'o':
		r.document(doc)
	case 'a':
		r.list(either, "", doc)
		if r.rest != nil {
			r.c.Extra = closed(member(nil, "resources", closed(r.rest)))
		}
	}
	if !r.found {
		return nil, wire.NewFault(wire.Protocol, "the answer to rpc.describe lists neither resources nor methods", nil)
	}
	return r.c, nil
}

// A reader collects methods.
type reader struct {
	c     *catalog.Catalog
	found bool   // a list, be it empty
	rest  []byte // what is said of resources beside their verbs, by their names; not closed
}

// document reads an object: what it says of the peer, and its lists.
func (r *reader) document(doc []byte) {
	var rest []byte
	for key, val := range each(doc) {
		text, isText := scan.Text(val)
		switch {
		case key == "resources":
			r.list(resources, "", val)
		case key == "methods" || key == "capabilities" && !r.found:
			r.list(either, "", val)
		case key == "info" && scan.Type(val) == 'o':
			r.info(val)
		case key == "$defs" || key == "schemas":
			_ = json.Unmarshal(val, &r.c.Defs)
		case key == "name" && isText:
			r.c.Info.Name = text
		case key == "version" && isText:
			r.c.Info.Version = text
		case key == "description" && isText:
			r.c.Info.Description = text
		default:
			rest = member(rest, key, val)
		}
	}
	if !r.found && allLists(closed(rest)) { // each member is a resource, if anything is
		r.list(either, "", closed(rest))
		rest = nil
	}
	if r.rest != nil {
		rest = member(rest, "resources", closed(r.rest))
	}
	r.c.Extra = closed(rest)
}

// allLists says that obj, which may be nil, has members that are all arrays or
// objects.
func allLists(obj []byte) bool {
	for _, val := range each(obj) {
		if t := scan.Type(val); t != 'o' && t != 'a' {
			return false
		}
	}
	return obj != nil
}

func (r *reader) info(val []byte) {
	var rest []byte
	for key, val := range each(val) {
		text, _ := scan.Text(val)
		switch key {
		case "name", "title":
			r.c.Info.Name = text
		case "version":
			r.c.Info.Version = text
		case "description":
			r.c.Info.Description = text
		default:
			rest = member(rest, key, val)
		}
	}
	r.c.Info.Extra = closed(rest)
}

// kinds of what a list holds.
type entries int

const (
	either    entries = iota // resources or methods
	resources                // resources or subresources
	verbs                    // of the resource that is the prefix
)

// list reads a list, in an array or as members, below a prefix of names.
func (r *reader) list(of entries, prefix string, val []byte) {
	r.found = true
	switch scan.Type(val) {
	case 'a':
		for v := range elements(val) {
			if text, ok := scan.Text(v); ok {
				r.entry(of, prefix, text, nil)
			} else if scan.Type(v) == 'o' {
				r.entry(of, prefix, nameIn(v), v)
			}
		}
	case 'o':
		for key, v := range each(val) {
			r.entry(of, prefix, key, v)
		}
	}
}

// nameIn is what an object in a list is called.
func nameIn(obj []byte) string {
	text := func(key string) string { s, _ := scan.Text(scan.Get(obj, key)); return s }
	for _, key := range []string{"method", "name"} {
		if s := text(key); s != "" {
			return s
		}
	}
	var names []string
	for _, key := range []string{"resource", "subresource", "verb"} {
		if s := text(key); s != "" {
			names = append(names, s)
		}
	}
	return strings.Join(names, ".")
}

// entry reads one of a list.
func (r *reader) entry(of entries, prefix, name string, val []byte) {
	name = strings.Replace(name, ":", ".", 1)
	simple := !strings.Contains(name, ".")
	if prefix != "" && !strings.HasPrefix(name, prefix+".") {
		name = prefix + "." + name
	}
	t := scan.Type(val)
	switch {
	case strings.HasSuffix("."+name, "."): // it has no name
	case of == verbs:
		r.method(name, val)
	case t == 'o' && nested(val):
		r.resource(name, val)
	case t == 'a' && simple:
		r.list(verbs, name, val)
	case t == 'o' && simple && manyVerbs(val):
		r.list(verbs, name, val)
	case of == resources && simple:
		r.resource(name, val)
	default:
		r.method(name, val)
	}
}

// inside are the members of a resource's description that list what is below
// it.
var inside = map[string]entries{"verbs": verbs, "actions": verbs, "methods": verbs, "subresources": resources}

// nested says that an object lists verbs or subresources.
func nested(obj []byte) bool {
	for key := range each(obj) {
		if _, ok := inside[key]; ok {
			return true
		}
	}
	return false
}

// resource reads what is said of a resource: its lists, verbs that are members
// of it, and the rest.
func (r *reader) resource(name string, val []byte) {
	var rest []byte
	before := len(r.c.Methods)
	if text, ok := scan.Text(val); ok {
		rest = member(nil, "description", wire.AppendString(nil, text))
	}
	for key, v := range each(val) {
		of, lists := inside[key]
		where, known := places[key]
		switch {
		case lists:
			r.list(of, name, v)
		case !known && scan.Type(v) == 'o' && !nested(val):
			r.entry(verbs, name, key, v)
		case where != "name":
			rest = member(rest, key, v)
		}
	}
	switch {
	case rest != nil:
		r.rest = member(r.rest, name, closed(rest))
	case len(r.c.Methods) == before: // all that is said is that it is there
		r.rest = member(r.rest, name, []byte(`{}`))
	}
}

// manyVerbs says that an object holds verbs as its members, and is none itself.
func manyVerbs(obj []byte) bool {
	some := false
	for key, val := range each(obj) {
		t := scan.Type(val)
		if _, known := places[key]; known || t != 'o' && t != 's' && t != '0' {
			return false
		}
		some = true
	}
	return some
}

// places are the members of a method's description, by what a catalog calls
// them.
var places = map[string]string{
	"name": "name", "method": "name", "resource": "name", "verb": "name", "subresource": "name",
	"description": "description", "summary": "description", "doc": "description",
	"params": "params", "parameters": "params", "input": "params", "inputSchema": "params", "input_schema": "params",
	"result": "result", "returns": "result", "output": "result", "outputSchema": "result", "output_schema": "result",
	"kind": "kind", "cache": "cache", "hints": "hints", "effects": "effects",
}

// method reads what is said of one method; val may be a text, or nothing.
func (r *reader) method(name string, val []byte) {
	m := catalog.Method{Name: name}
	var rest []byte
	if text, ok := scan.Text(val); ok {
		m.Description = text
	}
	if scan.Type(val) == 'o' {
		for key, v := range each(val) {
			if !place(&m, places[key], v) {
				rest = member(rest, key, v)
			}
		}
	}
	m.Extra = closed(rest)
	r.c.Methods = append(r.c.Methods, m)
}

// place puts val where a catalog has it; false where it has no place.
func place(m *catalog.Method, where string, val []byte) bool {
	text, isText := scan.Text(val)
	switch where {
	case "name":
	case "description":
		if m.Description == "" {
			m.Description = text
		}
		return isText
	case "params":
		m.Params = schemaOf(val)
		return m.Params != nil
	case "result":
		m.Result = schemaOf(val)
		return m.Result != nil
	case "kind":
		m.Kind = catalog.Kind(text)
		return isText
	case "cache":
		m.Cache = val
	case "hints":
		m.Hints = val
	case "effects":
		return json.Unmarshal(val, &m.Effects) == nil
	default:
		return false
	}
	return true
}
