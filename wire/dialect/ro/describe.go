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
		r.list("", doc)
	}
	if !r.found {
		return nil, wire.NewFault(wire.Protocol, "the answer to rpc.describe lists neither resources nor methods", nil)
	}
	return r.c, nil
}

// A reader collects methods.
type reader struct {
	c     *catalog.Catalog
	found bool // a list, be it empty
}

// document reads an object: what it says of the peer, and its lists.
func (r *reader) document(doc []byte) {
	var rest []byte
	for key, val := range each(doc) {
		text, isText := scan.Text(val)
		switch {
		case key == "resources" || key == "methods" || key == "capabilities" && !r.found:
			r.list("", val)
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
	if !r.found && rest != nil { // each member is a resource, if anything is
		for _, val := range each(closed(rest)) {
			if t := scan.Type(val); t != 'o' && t != 'a' {
				r.c.Extra = closed(rest)
				return
			}
		}
		r.list("", closed(rest))
		return
	}
	r.c.Extra = closed(rest)
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

// list reads resources, verbs or methods, in an array or as members, below a
// prefix of names.
func (r *reader) list(prefix string, val []byte) {
	r.found = true
	switch scan.Type(val) {
	case 'a':
		for v := range elements(val) {
			if text, ok := scan.Text(v); ok {
				r.entry(prefix, text, nil)
			} else if scan.Type(v) == 'o' {
				r.entry(prefix, nameIn(v), v)
			}
		}
	case 'o':
		for key, v := range each(val) {
			r.entry(prefix, key, v)
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
	resource, sub, verb := text("resource"), text("subresource"), text("verb")
	switch {
	case resource != "" && sub != "" && verb != "":
		return resource + "." + sub + "." + verb
	case resource != "" && verb != "":
		return resource + "." + verb
	case verb != "":
		return verb
	}
	return resource
}

// entry reads one of a list: a resource with its verbs, or a verb or method.
func (r *reader) entry(prefix, name string, val []byte) {
	if name == "" {
		return
	}
	if prefix != "" {
		name = prefix + "." + name
	}
	name = strings.Replace(name, ":", ".", 1)
	verbs, subs := scan.Get(val, "verbs"), scan.Get(val, "subresources")
	for _, key := range []string{"actions", "methods"} {
		if verbs == nil {
			verbs = scan.Get(val, key)
		}
	}
	isResource := prefix == "" && !strings.Contains(name, ".")
	switch {
	case verbs != nil || subs != nil:
		if verbs != nil {
			r.list(name, verbs)
		}
		if subs != nil {
			r.list(name, subs)
		}
	case isResource && scan.Type(val) == 'a', isResource && scan.Type(val) == 'o' && manyVerbs(val):
		r.list(name, val)
	default:
		r.method(name, val)
	}
}

// manyVerbs says that an object holds verbs as its members, and is none itself.
func manyVerbs(obj []byte) bool {
	some := false
	for key, val := range each(obj) {
		if _, known := places[key]; known || scan.Type(val) != 'o' && scan.Type(val) != 's' {
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
