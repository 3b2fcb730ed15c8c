package scomp

import (
	"cmp"
	"encoding/json"
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// Decode reads raw as JSON-RPC 2.0 and translates it. A batch becomes one Invalid message, to which the response is
// -32600 ("No batching" in the specification).
func (c *codec) Decode(raw []byte) (msgs []wire.Message, batch bool, err error) {
	msgs, batch, err = c.Codec.Decode(raw)
	if err != nil {
		return nil, false, err
	}
	if batch {
		whole := wire.Message{Kind: wire.Invalid, Raw: raw, Err: wire.NewError(wire.CodeInvalidRequest, "scomp has no batches")}
		for i := range msgs {
			if msgs[i].Kind == wire.Request { // the peer waits for a response, in either role
				whole.Method, whole.ID = msgs[i].Method, wire.ID(null)
			}
		}
		msgs = msgs[:1]
		msgs[0] = whole
		return msgs, false, nil
	}
	for i := range msgs {
		c.translate(&msgs[i])
	}
	return msgs, false, nil
}

// translate converts a JSON-RPC message to its meaning in scomp.
func (c *codec) translate(m *wire.Message) {
	switch m.Kind {
	case wire.Response:
		c.response(m)
	case wire.Request:
		c.incoming(m)
	case wire.Item, wire.Cancel, wire.Notification: // there is only one notification
		m.Kind, m.Stream, m.Target, m.Final, m.Err, m.Body = wire.Notification, nil, nil, false, nil, m.Params
		if m.Method == releaseWord {
			c.refs.release(m.Params)
		}
	}
}

// response reads a response. It records the data.kind of an error and the function values in a result.
func (c *codec) response(m *wire.Message) {
	delete(c.evals, string(m.ID.Key()))
	if m.Err == nil {
		c.refs.hold(m.Body)
		return
	}
	m.Err.Kind = scan.String(scan.Get(m.Err.Data, "kind"))
	if result := scan.Get(m.Raw, "result"); result != nil && string(result) != "null" {
		*m = wire.Message{
			Kind: wire.Invalid, ID: m.ID, Final: true, Raw: m.Raw,
			Err: wire.NewError(wire.CodeInvalidRequest, "a response with both a result and an error"),
		}
	}
}

// incoming reads a request from the peer. It stores the first problem in Err, which the handler sends as the response.
func (c *codec) incoming(m *wire.Message) {
	word := m.Method
	if word == handshake {
		m.Err = c.checkHandshake(m.Params)
		return
	}
	if !c.begun {
		m.Err = kindError(wire.CodeInvalidRequest, kindHandshake, "the handshake must precede "+quoted(word))
	}
	switch {
	case word == invokeWord:
		c.invoked(m)
	case m.Err != nil:
	case word == evalWord:
		c.evalQueue.enter(string(m.ID))
	case word == releaseWord: // it has an id, which is optional, and is answered
		c.refs.release(m.Params)
	}
}

// invoked reads an invoke from the peer and finds its hook.
func (c *codec) invoked(m *wire.Message) {
	name, ref, input := invocation(m.Params)
	c.refs.hold(input)
	m.Params, m.Body = input, input
	switch {
	case m.Err != nil:
	case ref != "":
		var ok bool
		if m.Method, ok = c.refs.answers(ref); !ok {
			m.Method = RefPrefix + ref
			m.Err = unknownRef(ref)
		}
	case name == "":
		m.Err = wire.NewError(wire.CodeInvalidParams, "invoke needs the name of a binding, or a function reference")
	default:
		if m.Method = name; c.intro.Functions[name] || strings.ContainsRune(name, 0) { // a function can be called only by reference
			m.Err = wire.NewError(wire.CodeNoMethod, "unknown binding: "+name)
		}
	}
}

// checkHandshake checks the params of the peer's handshake and stores them. It returns an error for a second handshake
// and for an unsupported protocol.
func (c *codec) checkHandshake(params json.RawMessage) *wire.Error {
	if c.begun {
		return kindError(wire.CodeInvalidRequest, kindHandshake, "a second handshake")
	}
	if val := scan.Get(params, "protocol"); scan.String(val) != protocol {
		got := "none"
		if val != nil {
			got = string(scan.Compact(nil, val[:min(len(val), 80)]))
		}
		return kindError(wire.CodeInvalidRequest, kindHandshake, `expected the protocol "`+protocol+`", not `+got)
	}
	c.begun = true
	c.handshake.set(params, "client")
	return nil
}

// invocation reads the params of an invoke in any spelling of spellings.go: the name of a binding, or the ref of a
// function.
func invocation(params json.RawMessage) (name, ref string, input json.RawMessage) {
	name, input = scan.String(firstOf(params, bindingSpellings)), firstOf(params, inputSpellings)
	if fn := firstOf(params, referenceSpellings); name == "" {
		ref = cmp.Or(refID(fn), functionID(fn))
	}
	return name, ref, input
}

func quoted(name string) string {
	return string(scan.AppendQuoted(nil, wire.Excerpt(name, 80)))
}
