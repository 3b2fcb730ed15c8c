// Package scomp implements scomp v0.1 in both roles. scomp is JSON-RPC 2.0 with four methods: handshake, eval, invoke
// and release_ref. Either side may invoke the other's bindings at any time.
//
// A user's METHOD is the name of a binding, or "ref:ID" for a function of the peer. An invoke of the peer is a request
// whose Method is the binding, or the hook of a local function. The codec finds problems of requests (before the
// handshake, or with a released reference) in order of arrival, and stores them in Err. The handler responds with that
// error.
//
// spellings.go contains the names that the specification leaves open.
package scomp

import (
	"cmp"
	"encoding/json"
	"slices"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/scan"
)

// codec is the state of one connection: JSON-RPC 2.0 with translated methods and results.
type codec struct {
	dialect.Codec
	intro     dialect.HandshakeOptions
	refs      refs
	evalQueue evalQueue
	evals     map[string]bool // ids of unanswered evals, including cancelled ones

	begun     bool // the local side has sent the handshake, or the peer a valid one
	handshake peerHandshake
}

// NewCodec returns the codec of one connection. It uses MaxDepth and Handshake of o.
func NewCodec(o dialect.CodecOptions) dialect.Codec {
	return &codec{
		Codec: jsonrpc.NewCodec(jsonrpc.Options{Version: jsonrpc.V2, MaxDepth: cmp.Or(o.MaxDepth, wire.DefaultMaxDepth)}),
		intro: o.Handshake, evals: map[string]bool{},
	}
}

// Abilities returns the flows.
func (c *codec) Abilities() dialect.Abilities {
	return dialect.Abilities{Handshake: c.Handshake, Describe: c.Describe, Typing: c.Typing, Shutdown: c.Shutdown, Declared: c.Declared}
}

// Encode returns the message for op.
func (c *codec) Encode(op dialect.Op) (wire.Message, error) {
	switch op.Kind {
	case dialect.Eval:
		return c.eval(op)
	case dialect.Call:
		params, err := c.invoke(op)
		if err != nil {
			return wire.Message{}, err
		}
		return c.request(dialect.Call, invokeWord, op.Method, params)
	case dialect.Internal:
		if op.Method == handshake {
			c.begun = true
		}
		if op.Method == releaseWord {
			return c.request(dialect.Notify, releaseWord, releaseWord, op.Params)
		}
		return c.request(dialect.Call, op.Method, op.Method, op.Params)
	case dialect.Raw:
		return c.raw(op)
	case dialect.Notify:
		return wire.Message{}, wire.NewFault(wire.Usage, "scomp has no notifications: every invoke has a response", nil)
	case dialect.Subscribe:
		return wire.Message{}, CheckName(op.Method, true)
	}
	return wire.Message{}, wire.ErrUnsupported
}

// CheckName returns a usage Fault for a subscription, which scomp does not have, and for "ref:" without an id.
func CheckName(method string, subscribe bool) error {
	switch {
	case subscribe:
		return wire.NewFault(wire.Usage, "scomp has no streams: call invokes a binding, eval runs code", nil)
	case method == RefPrefix:
		return wire.NewFault(wire.Usage, `"ref:" lacks the id of a function: "ref:ID", as in the peer's value`, nil)
	}
	return nil
}

// request returns a message with the wire method word. method is the user's name for the method in errors and events.
func (c *codec) request(kind dialect.OpKind, word, method string, params json.RawMessage) (wire.Message, error) {
	m, err := c.Codec.Encode(dialect.Op{Kind: kind, Method: word, Params: params})
	m.Method = method
	return m, err
}

// raw returns the user's message. It rejects batches, and requests without an id ("No notifications" in the
// specification), which would run without a response. An eval in the user's message also counts as pending.
func (c *codec) raw(op dialect.Op) (wire.Message, error) {
	if scan.Type(op.Params[scan.Skip(op.Params, 0):]) == 'a' {
		return wire.Message{}, wire.NewFault(wire.Usage, "scomp has no batches: send each message by itself", nil)
	}
	m, err := c.Codec.Encode(op)
	if err != nil {
		return m, err
	}
	switch word := wordOf(m); {
	case len(m.ID) == 0 && slices.Contains([]string{evalWord, invokeWord, handshake}, word):
		return wire.Message{}, wire.NewFault(wire.Usage,
			word+" needs an id: scomp has no notifications except "+releaseWord, nil)
	case len(m.ID) > 0 && word == evalWord:
		c.evals[string(m.ID.Key())] = true
	case word == releaseWord:
		c.refs.drop(scan.Get(m.Raw, "params"))
	}
	return m, nil
}

func (c *codec) eval(op dialect.Op) (wire.Message, error) {
	if op.Nested && len(c.evals) > 0 {
		return wire.Message{}, kindError(wire.CodeServer, kindEval, "another eval on this connection is pending, and this one would wait for it")
	}
	m, err := c.request(dialect.Call, evalWord, evalWord, scan.Pair("code", scan.AppendQuoted(nil, op.Code)))
	if err == nil {
		c.evals[string(m.ID.Key())] = true
	}
	return m, err
}

// invoke returns the params for an invoke of a binding or of the peer's function.
func (c *codec) invoke(op dialect.Op) (json.RawMessage, error) {
	input, err := c.refs.insertFunctions(op.Params, op.Funcs, op.Known)
	if err != nil {
		return nil, err
	}
	word, name := bindingSpellings[0], op.Method
	if id, ok := cutRef(op.Method); ok {
		word, name = referenceSpellings[0], id
	}
	input = scan.Or(input, []byte("{}")) // without parameters, the input is an empty object
	var o scan.Object
	o.Text(word, name)
	o.Add(inputSpellings[0], input)
	return o.End(), nil
}

// Opened reports that the first response ends a call, because scomp has no streams.
func (c *codec) Opened(dialect.Op, wire.Message) (wire.ID, bool) { return nil, true }

// Reply returns the response to req. It wraps the results of eval and invoke as {"value": …}.
func (c *codec) Reply(req wire.Message, ev wire.Event) ([][]byte, error) {
	word := ""
	if req.Kind == wire.Request {
		word = wordOf(req)
	}
	if word == evalWord {
		c.evalQueue.leave(string(req.ID))
	}
	if ev.Kind == wire.Data && (word == evalWord || word == invokeWord) {
		ev.Data = scan.Pair(valueWord, scan.OrNull(ev.Data))
	}
	return c.Codec.Reply(req, ev)
}

// Event sets ev to an event with the result's value. Extra contains the other members of the result.
func (c *codec) Event(m *wire.Message, ev *wire.Event) error {
	err := c.Codec.Event(m, ev)
	if err == nil && m.Kind == wire.Response && m.Err == nil {
		ev.Data, ev.Extra = unwrap(m.Body)
	}
	return err
}

// unwrap splits a result into its value and the other members. A result without such a member is itself the value.
func unwrap(result json.RawMessage) (value, extra json.RawMessage) {
	if value = scan.Get(result, valueWord); value == nil {
		return result, nil
	}
	var rest scan.Object
	rest.Named(result, valueWord)
	return value, rest.EndOrNil()
}

// wordOf returns the wire method of a request.
func wordOf(req wire.Message) string {
	return scan.String(lastMember(req.Raw, "method"))
}

var null = json.RawMessage("null")

// kindError returns an error whose data.kind is kind.
func kindError(code int, kind, message string) *wire.Error {
	return wire.NewError(code, message).WithData(map[string]string{"kind": kind})
}
