// Package ro implements RO-JRPC in both roles. RO-JRPC is JSON-RPC 2.0 with structured routing fields in requests
// (resource, target, verb, subresource, parent) and with async results. An async result is a message with the verb
// yield or return, and with its own address.
//
// Package jsonrpc implements everything else. A message without those fields is plain JSON-RPC.
//
// An async result belongs to the call whose id is its request_id, or else to the call whose response named its target.
// Each Subscribe that follows its resource and target also receives it. After a response with the status accepted or pending, a
// call continues until a return, or a result with the status error.
package ro

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/scan"
)

// codec is a client's state of one connection: JSON-RPC's codec, and the calls that may get async results.
type codec struct {
	dialect.Codec
	calls     map[string]*call  // by request id
	places    map[string]string // the ids of requests, by target or place (see placeOf)
	unclaimed recent            // the places of results that belong to no call
	finished  recent            // ids of calls that a return has ended
	jobs      jobs
	out       []wire.Message
}

type call struct {
	kind     dialect.OpKind
	job      bool // whether the user started the call as a job
	method   string
	deferred bool     // later results were announced or have arrived
	released bool     // the caller cancelled the call, which is still in codec.jobs
	own      string   // the place of the request's own target, or ""
	named    []string // its keys in codec.places
}

// NewCodec returns the codec of one connection.
func NewCodec(o dialect.CodecOptions) dialect.Codec {
	return &codec{
		Codec: jsonrpc.NewCodec(jsonrpc.Options{MaxDepth: o.MaxDepth}),
		calls: map[string]*call{}, places: map[string]string{},
	}
}

// Abilities returns the flows. Unsolicited is set because results can arrive without a call.
func (c *codec) Abilities() dialect.Abilities {
	return dialect.Abilities{Describe: c.Describe, Job: c.Job, Unsolicited: true}
}

// Follows reports whether op is a Subscribe of a path without a verb, which sends nothing (see Encode).
func Follows(op dialect.Op) bool {
	_, ok := followed(op)
	return ok
}

// Encode returns the message for op. op.Method has the user's form (see Parse), and op.Extra contains the fields beside
// the method (see Given). A Subscribe of a path without a verb, such as session/session-9, sends nothing and
// follows the async results of that target.
func (c *codec) Encode(op dialect.Op) (wire.Message, error) {
	switch op.Kind {
	case dialect.Call, dialect.Notify, dialect.Subscribe:
	case dialect.Cancel:
		c.leave(string(op.OfID.Key()))
		return wire.Message{}, wire.ErrUnsupported
	case dialect.Unsubscribe:
		c.leave(string(op.OfID.Key()))
		if op.Unsubscribe == "" {
			return wire.Message{}, wire.ErrUnsupported
		}
		op = dialect.Op{Kind: dialect.Call, Method: op.Unsubscribe}
	default:
		return c.Codec.Encode(op)
	}
	if len(op.Funcs) > 0 {
		return wire.Message{}, wire.Usagef("RO-JRPC does not support function values (@on)")
	}
	if place, ok := followed(op); ok {
		return wire.Message{Stream: wire.ID(place)}, nil
	}
	a, extra, err := request(op)
	if err != nil {
		return wire.Message{}, err
	}
	op.Method, op.Extra = a.Method, extra
	m, err := c.Codec.Encode(op)
	if err != nil || m.ID == nil {
		return m, err
	}
	m.Final = false
	k := &call{kind: op.Kind, job: op.Lasting, method: a.Method}
	if text, ok := targetText(a.Target); ok && a.Resource != "" {
		k.own = placeOf(strings.TrimSuffix(a.Method, "."+a.Verb), text)
	}
	c.calls[string(m.ID.Key())] = k
	return m, nil
}

// followed returns the place (see placeOf) that op follows. ok is false unless op is a Subscribe without a verb.
func followed(op dialect.Op) (place string, ok bool) {
	if op.Kind == dialect.Subscribe && op.Stream != nil {
		return string(op.Stream), true
	}
	var g Given
	if op.Extra != nil && (json.Unmarshal(op.Extra, &g) != nil || g.asks()) {
		return "", false
	}
	if op.Kind != dialect.Subscribe || op.Params != nil || strings.Contains(op.Method, ":") {
		return "", false
	}
	a, err := Parse(op.Method + ":" + verbYield)
	target, has := targetText(a.Target)
	if err != nil || !has {
		return "", false
	}
	return placeOf(strings.TrimSuffix(a.Method, "."+verbYield), target), true
}

// placeOf returns the place of async results: a key made from their resource and target.
func placeOf(resource, target string) string { return resource + "\x00" + target }

// Given are the fields that a user sets beside the method. They are the Extra of an Op, and are never sent in this
// form.
type Given struct {
	Address
	Meta  json.RawMessage `json:"meta"`
	Cache string          `json:"cache"`
	Plain bool            `json:"plain"` // send no structured fields
}

// asks reports whether a field requires a request. Cache alone does not.
func (g Given) asks() bool {
	return g.Resource != "" || g.Verb != "" || g.Subresource != "" || g.Target != nil || g.Parent != nil || g.Meta != nil || g.Plain
}

// Resolve combines a method with the fields beside it. Its usage Faults name the rule of the specification that the
// result violates.
func Resolve(method string, g Given) (Address, error) {
	a, err := Parse(method)
	if err != nil {
		return a, err
	}
	a.Resource, a.Verb, a.Subresource = cmp.Or(g.Resource, a.Resource), cmp.Or(g.Verb, a.Verb), cmp.Or(g.Subresource, a.Subresource)
	for _, f := range []struct {
		name  string
		given json.RawMessage
		to    *json.RawMessage
	}{{"target", g.Target, &a.Target}, {"parent", g.Parent, &a.Parent}} {
		switch _, ok := targetText(f.given); {
		case f.given == nil:
			continue
		case !ok:
			return a, wire.Usagef("a %s must be a string or a number, not %s", f.name, f.given)
		case *f.to != nil && !bytes.Equal(*f.to, f.given):
			return a, wire.Usagef("%s has the %s %s, but --set %s has another one", method, f.name, *f.to, f.name)
		}
		*f.to = f.given
	}
	if err := a.refusal(method); err != nil || !g.Plain {
		return a, err
	}
	if a.Target != nil || a.Parent != nil || g.Meta != nil {
		return a, wire.Usagef("a plain request cannot have a target, a parent or meta: give them as params, or remove plain")
	}
	return Address{Method: a.Method}, nil
}

// refusal returns a usage Fault for an address that rpcx must not send, or nil. method is the user's method.
func (a Address) refusal(method string) error {
	switch rule := a.broken(); {
	case rule != "":
		return wire.Usagef("RO-JRPC: %s", rule)
	case reserved(a.Verb) || a.Resource == "" && reserved(dotted(method).Verb):
		return wire.Usagef("RO-JRPC: the verb %s is reserved for async results, from server to client", a.Verb)
	case a.Resource == "" && a.Target != nil:
		return wire.Usagef("RO-JRPC: target needs a resource and a verb, but %q is neither PATH:VERB nor a dotted name", method)
	}
	return nil
}

// request returns the address of op and the extra top-level members.
func request(op dialect.Op) (a Address, extra json.RawMessage, err error) {
	var g Given
	if op.Extra != nil {
		if err := json.Unmarshal(op.Extra, &g); err != nil {
			return a, nil, wire.Usagef("the fields beside %q: %v", op.Method, err)
		}
	}
	if a, err = Resolve(op.Method, g); err != nil {
		return a, nil, err
	}
	var o scan.Object
	if a.Resource != "" {
		a.addTo(&o)
	}
	o.Add("meta", g.Meta)
	o.SomeText("cache", g.Cache)
	return a, o.EndOrNil(), nil
}
