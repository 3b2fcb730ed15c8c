package scomp

import (
	"cmp"
	"encoding/json"
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// Decode reads what came as JSON-RPC and says what it means here.
func (c *codec) Decode(raw []byte) (msgs []wire.Message, batch bool, err error) {
	msgs, batch, err = c.Codec.Decode(raw)
	if err != nil {
		return nil, false, err
	}
	if batch {
		msgs = msgs[:1]
		msgs[0] = wire.Message{Kind: wire.Invalid, Raw: raw, Err: wire.NewError(wire.CodeInvalidRequest, "scomp has no batches")}
		return msgs, false, nil
	}
	for i := range msgs {
		c.translate(&msgs[i])
	}
	return msgs, false, nil
}

// translate makes of a message of JSON-RPC what it is in scomp.
func (c *codec) translate(m *wire.Message) {
	switch m.Kind {
	case wire.Response:
		c.response(m)
	case wire.Request:
		c.incoming(m)
	case wire.Item, wire.Cancel, wire.Notification: // there is but one notification
		m.Kind, m.Stream, m.Target, m.Final, m.Err, m.Body = wire.Notification, nil, nil, false, nil, m.Params
		if m.Method == releaseWord {
			c.refs.release(m.Params)
		}
	}
}

// response reads an answer: which class of error it is, and the functions that
// it hands out.
func (c *codec) response(m *wire.Message) {
	if len(c.evals) > 0 {
		delete(c.evals, string(m.ID))
	}
	if m.Err == nil {
		c.refs.hold(m.Body)
		return
	}
	m.Err.Kind = text(scan.Get(m.Err.Data, "kind"))
	if result := scan.Get(m.Raw, "result"); result != nil && string(result) != "null" {
		*m = wire.Message{
			Kind: wire.Invalid, ID: m.ID, Final: true, Raw: m.Raw,
			Err: wire.NewError(wire.CodeInvalidRequest, "an answer with both a result and an error"),
		}
	}
}

// incoming reads a request of theirs. What is wrong with it is in its Err.
func (c *codec) incoming(m *wire.Message) {
	word := m.Method
	if word == handshake {
		m.Err = c.theirs(m.Params)
		return
	}
	if c.role == unknown {
		m.Err = kindError(wire.CodeInvalidRequest, kindHandshake, "the handshake comes before "+quoted(word))
	}
	switch {
	case word == invokeWord:
		c.invoked(m)
	case m.Err != nil:
	case word == evalWord:
		c.turns.enter(string(m.ID))
	case word == releaseWord: // with an id, which it need not have: it is answered
		c.refs.release(m.Params)
	}
}

// invoked reads an invoke of theirs.
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
		if m.Method = name; c.intro.Functions[name] || strings.ContainsRune(name, 0) { // a function, which only its reference reaches
			m.Err = wire.NewError(wire.CodeNoMethod, "unknown binding: "+name)
		}
	}
}

// theirs judges a handshake of the far side.
func (c *codec) theirs(params json.RawMessage) *wire.Error {
	if c.role != unknown {
		return kindError(wire.CodeInvalidRequest, kindHandshake, "a second handshake")
	}
	if val := scan.Get(params, "protocol"); text(val) != protocol {
		said := "none"
		if val != nil {
			said = string(scan.Compact(nil, val[:min(len(val), 80)]))
		}
		return kindError(wire.CodeInvalidRequest, kindHandshake, `the protocol is "`+protocol+`" here, not `+said)
	}
	c.role = asServer
	c.greet.set(params, "client")
	return nil
}

// invocation reads the params of an invoke in every spelling.
func invocation(params json.RawMessage) (name, ref string, input json.RawMessage) {
	name, input = text(first(params, nameWords)), first(params, inputWords)
	if fn := first(params, refWords); name == "" {
		ref = cmp.Or(refID(fn), functionID(fn))
	}
	return name, ref, input
}

func quoted(name string) string {
	if len(name) > 80 {
		name = name[:80] + "…"
	}
	return string(scan.AppendQuoted(nil, name))
}
