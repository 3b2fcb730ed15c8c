package ro

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/scan"
)

// Describe calls rpc.describe, a plain method. It returns wire.ErrUnsupported if the peer lacks that method.
func (c *codec) Describe(ctx context.Context, caller dialect.Caller) (*catalog.Catalog, error) {
	doc, err := dialect.Discover(ctx, caller, describe)
	if err != nil {
		return nil, err
	}
	return FromDescription(doc)
}

// FromDescription makes a catalog from the result of rpc.describe, whose form the specification does not define. It
// accepts any JSON that lists resources with verbs, or methods: in arrays or objects, as names or as objects. Unknown
// members become members of Extra. Errors are Faults of kind Protocol.
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
		if !r.rest.Empty() {
			r.c.Extra = scan.Pair("resources", r.rest.End())
		}
	}
	if !r.found {
		return nil, wire.NewFault(wire.Protocol, "the response to rpc.describe lists neither resources nor methods", nil)
	}
	return r.c, nil
}

// A reader collects the methods of one description.
type reader struct {
	c     *catalog.Catalog
	found bool        // whether a list of resources or methods exists; the list may be empty
	rest  scan.Object // the description of each resource, without verbs
}

// document reads a description that is an object: its lists and the facts about the peer.
func (r *reader) document(doc []byte) {
	var rest scan.Object
	for key, val := range scan.Named(doc) {
		_, isText := scan.Text(val)
		switch {
		case key == "resources":
			r.list(resources, "", val)
		case key == "methods" || key == "capabilities" && !r.found:
			r.list(either, "", val)
		case key == "info" && scan.Type(val) == 'o':
			r.info(val)
		case key == "$defs" || key == "schemas":
			_ = json.Unmarshal(val, &r.c.Defs)
		case key == "title" || !isText || !r.about(key, val):
			rest.Add(key, val)
		}
	}
	r.beside(rest)
}

// beside stores the members of a description other than its lists.
func (r *reader) beside(rest scan.Object) {
	said := rest.EndOrNil()
	if !r.found && allLists(said) { // each member can only be a resource
		r.list(either, "", said)
		rest, said = scan.Object{}, nil
	}
	if !r.rest.Empty() {
		rest.Add("resources", r.rest.End())
		said = rest.End()
	}
	r.c.Extra = said
}

// allLists reports whether all members of obj are arrays or objects. obj may be nil.
func allLists(obj []byte) bool {
	return obj != nil && every(obj, func(_ string, val []byte) bool { return scan.Type(val) == 'o' || scan.Type(val) == 'a' })
}

// every reports whether is returns true for all members of obj.
func every(obj []byte, is func(key string, val []byte) bool) bool {
	for key, val := range scan.Named(obj) {
		if !is(key, val) {
			return false
		}
	}
	return true
}

func (r *reader) info(val []byte) {
	var rest scan.Object
	for key, val := range scan.Named(val) {
		if !r.about(key, val) {
			rest.Add(key, val)
		}
	}
	r.c.Info.Extra = rest.EndOrNil()
}

// about stores a member that describes the peer. It returns false for other members.
func (r *reader) about(key string, val []byte) bool {
	text, _ := scan.Text(val)
	switch key {
	case "name", "title":
		r.c.Info.Name = text
	case "version":
		r.c.Info.Version = text
	case "description":
		r.c.Info.Description = text
	default:
		return false
	}
	return true
}

// entries is what a list contains.
type entries int

const (
	either entries = iota // resources or methods
	resources
	verbs // verbs of the resource in prefix
)

// list reads a list, which is an array or an object with the names as keys. prefix is the resource that contains its
// entries.
func (r *reader) list(of entries, prefix string, val []byte) {
	r.found = true
	switch scan.Type(val) {
	case 'a':
		for v := range scan.Elements(val) {
			if text, ok := scan.Text(v); ok {
				r.entry(of, prefix, text, nil)
			} else if scan.Type(v) == 'o' {
				r.entry(of, prefix, nameIn(v), v)
			}
		}
	case 'o':
		for key, v := range scan.Named(val) {
			r.entry(of, prefix, key, v)
		}
	}
}

// nameIn returns the name of a listed object: its method or name, or its structured fields joined by dots.
func nameIn(obj []byte) string {
	text := func(key string) string { s, _ := scan.Text(scan.Get(obj, key)); return s }
	fields := []string{text("resource"), text("subresource"), text("verb")}
	fields = slices.DeleteFunc(fields, func(s string) bool { return s == "" })
	return cmp.Or(text("method"), text("name"), strings.Join(fields, "."))
}

// entry reads one entry of a list.
func (r *reader) entry(of entries, prefix, name string, val []byte) {
	name = strings.Replace(name, ":", ".", 1)
	simple := !strings.Contains(name, ".")
	if prefix != "" && !strings.HasPrefix(name, prefix+".") {
		name = prefix + "." + name
	}
	t := scan.Type(val)
	switch {
	case strings.HasSuffix("."+name, "."): // an entry without a name
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

// inside maps the members of a resource's description that are lists to what they contain.
var inside = map[string]entries{"verbs": verbs, "actions": verbs, "methods": verbs, "subresources": resources}

// nested reports whether an object lists verbs or subresources.
func nested(obj []byte) bool {
	for key := range scan.Named(obj) {
		if _, lists := inside[key]; lists {
			return true
		}
	}
	return false
}

// resource reads the description of a resource: its lists, its verbs, and other members.
func (r *reader) resource(name string, val []byte) {
	var rest scan.Object
	before := len(r.c.Methods)
	if text, ok := scan.Text(val); ok {
		rest.Text("description", text)
	}
	for key, v := range scan.Named(val) {
		of, lists := inside[key]
		where, known := places[key]
		switch {
		case lists:
			r.list(of, name, v)
		case !known && scan.Type(v) == 'o' && !nested(val):
			r.entry(verbs, name, key, v)
		case where != "name":
			rest.Add(key, v)
		}
	}
	switch {
	case !rest.Empty():
		r.rest.Add(name, rest.End())
	case len(r.c.Methods) == before: // keep at least that the resource exists
		r.rest.Add(name, []byte(`{}`))
	}
}

// manyVerbs reports whether the members of an object are verbs, not parts of one method's description.
func manyVerbs(obj []byte) bool {
	return scan.Count(obj) > 0 && every(obj, func(key string, val []byte) bool {
		t := scan.Type(val)
		return places[key] == "" && (t == 'o' || t == 's' || t == '0')
	})
}
