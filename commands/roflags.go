package commands

import (
	"encoding/json"

	"rpcx/wire"
	"rpcx/wire/dialect/ro"
	"rpcx/wire/scan"
	"rpcx/wire/session"
)

// roFlags are the structured fields of RO-JRPC beside a method.
type roFlags struct {
	resource, verb, subresource string
	target, targetJSON          string
	parent, parentJSON          string
	plain                       bool
}

func (r *roFlags) flags() []Flag {
	return []Flag{
		text(groupRO, "resource", "", "the `RESOURCE`, beside a dotted METHOD", &r.resource),
		text(groupRO, "target", "", "the `TARGET`, as a string: which one of the resource", &r.target),
		text(groupRO, "target-json", "", "the target as `JSON`: a number, say", &r.targetJSON),
		text(groupRO, "verb", "", "the `VERB`", &r.verb),
		text(groupRO, "subresource", "", "the `SUBRESOURCE`", &r.subresource),
		text(groupRO, "parent", "", "the `PARENT`, as a string: which one of the resource owns the subresource", &r.parent),
		text(groupRO, "parent-json", "", "the parent as `JSON`", &r.parentJSON),
		boolean(groupRO, "plain", "", "send no structured fields: plain JSON-RPC", &r.plain),
	}
}

// extra are the fields as an operation has them; nil where none was given. A
// fresh answer is one of no cache over there, either.
func (r *roFlags) extra(l *commandLine, e session.Endpoint, fresh bool) (json.RawMessage, error) {
	cache := ""
	if fresh && session.SpecOf(e).CachedCatalog == nil { // where it is about what the peer says it offers
		cache = "no-cache"
	}
	if *r == (roFlags{}) && cache == "" {
		return nil, nil
	}
	if !session.SpecOf(e).RequestFields && e.Socket == "" {
		return nil, l.usage("--resource, --target and the like, --plain and --cache belong to the dialect ro, and this is %s", e.Dialect)
	}
	g := ro.Given{Resource: r.resource, Verb: r.verb, Subresource: r.subresource, Plain: r.plain, Cache: cache}
	var err error
	if g.Target, err = oneOf("target", r.target, r.targetJSON); err != nil {
		return nil, err
	}
	if g.Parent, err = oneOf("parent", r.parent, r.parentJSON); err != nil {
		return nil, err
	}
	return json.Marshal(g)
}

// oneOf is a field that was given as text or as JSON.
func oneOf(name, text, raw string) (json.RawMessage, error) {
	switch {
	case text != "" && raw != "":
		return nil, wire.NewFault(wire.Usage, "--"+name+" and --"+name+"-json say the same thing twice", nil)
	case text != "":
		return scan.AppendQuoted(nil, text), nil
	case raw == "":
		return nil, nil
	}
	val := trimBlank([]byte(raw))
	if err := scan.Valid(val, wire.DefaultMaxDepth); err != nil {
		return nil, wire.NewFault(wire.Usage, "--"+name+"-json is no JSON: "+err.Error(), err)
	}
	return val, nil
}
