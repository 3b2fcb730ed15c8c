package dialects

import (
	"encoding/json"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/wire"
	"rpcx/wire/dialect/ro"
	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
)

// roRow is the row of the table: the structured fields of a request.
var roRow = row{
	examples: map[string][]cmdline.Example{
		"call":      {{Says: "A verb of a resource, in RO-JRPC", Command: "rpcx call demo:ro repo/99/issue/7:get"}},
		"subscribe": {{Says: "What comes of one target in RO-JRPC, with nothing sent", Command: "rpcx subscribe ro+ws://localhost:8080/ session/session-9"}},
		"job run":   {{Says: "An upload of the demo", Command: "rpcx job run demo:ro attachment:create filename=report.pdf"}},
	},
	fields: func() Fields { return &roFields{} },
}

// roFields are the structured fields of RO-JRPC beside a method.
type roFields struct {
	resource, verb, subresource string
	target, targetJSON          string
	parent, parentJSON          string
	plain                       bool
}

// Given reports whether one of the flags was.
func (r *roFields) Given() bool { return *r != roFields{} }

// Flags returns the flags anew.
func (r *roFields) Flags() []cmdline.Flag {
	return []cmdline.Flag{
		cmdline.Text(cmdline.GroupRO, "resource", "", "the `RESOURCE`, beside a dotted METHOD", &r.resource),
		cmdline.Text(cmdline.GroupRO, "target", "", "the `TARGET`, as a string: which one of the resource", &r.target),
		cmdline.Text(cmdline.GroupRO, "target-json", "", "the target as `JSON`, such as a number", &r.targetJSON),
		cmdline.Text(cmdline.GroupRO, "verb", "", "the `VERB`", &r.verb),
		cmdline.Text(cmdline.GroupRO, "subresource", "", "the `SUBRESOURCE`", &r.subresource),
		cmdline.Text(cmdline.GroupRO, "parent", "", "the `PARENT`, as a string: which one of the resource owns the subresource", &r.parent),
		cmdline.Text(cmdline.GroupRO, "parent-json", "", "the parent as `JSON`", &r.parentJSON),
		cmdline.Bool(cmdline.GroupRO, "plain", "", "send plain JSON-RPC, without these fields", &r.plain),
	}
}

// Extra returns the fields as an operation has them; nil where none was given. A
// fresh answer is one of no cache over there, either.
func (r *roFields) Extra(l *cmdline.CommandLine, e endpoint.Endpoint, fresh bool) (json.RawMessage, error) {
	cache := ""
	if fresh && !e.Spec().Discovery.IsCached() { // where it is about what the peer says it offers
		cache = "no-cache"
	}
	if !r.Given() && cache == "" {
		return nil, nil
	}
	if e.Spec().Bridge.Fields == nil && e.Socket == "" {
		return nil, l.Usage("--resource, --target and the like, --plain, --cache and --refresh belong to the dialect ro, and this is %s", e.Dialect)
	}
	g := ro.Given{Resource: r.resource, Verb: r.verb, Subresource: r.subresource, Plain: r.plain, Cache: cache}
	var err error
	if g.Target, err = oneOf("target", r.target, r.targetJSON); err != nil {
		return nil, err
	}
	if g.Parent, err = oneOf("parent", r.parent, r.parentJSON); err != nil {
		return nil, err
	}
	return scan.JSON(g), nil
}

// oneOf returns a field that was given as text or as JSON.
func oneOf(name, text, raw string) (json.RawMessage, error) {
	switch {
	case text != "" && raw != "":
		return nil, wire.NewFault(wire.Usage, "--"+name+" and --"+name+"-json say the same thing twice", nil)
	case text != "":
		return scan.AppendQuoted(nil, text), nil
	case raw == "":
		return nil, nil
	}
	val := env.TrimBlank([]byte(raw))
	if err := scan.Valid(val, wire.DefaultMaxDepth); err != nil {
		return nil, wire.NewFault(wire.Usage, "--"+name+"-json is no JSON: "+err.Error(), err)
	}
	return val, nil
}
