package scriptling

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// Decode finds the messages in raw. It converts results to plain JSON, and a callback.call to a request for its hook.
func (c *codec) Decode(raw []byte) ([]wire.Message, bool, error) {
	msgs, batch, err := c.Codec.Decode(raw)
	c.batch = batch
	clear(c.msgs)
	c.msgs = c.msgs[:0]
	for i := range msgs {
		c.message(&msgs[i])
	}
	return c.msgs, batch, err
}

func (c *codec) message(m *wire.Message) {
	if m.Kind == wire.Invalid {
		lenient(m)
	}
	switch m.Kind {
	case wire.Response:
		c.response(m)
	case wire.Request, wire.Notification:
		c.inbound(m)
	case wire.Invalid:
		if !c.o.OneWay && !c.batch && isEmptyBatch(m) {
			return // only HTTP requires a response to it
		}
	}
	c.msgs = append(c.msgs, *m)
}

// lenient interprets an object without a method. With an id, the object is a response without a result. Without an id,
// the object is output of a plugin.
func lenient(m *wire.Message) {
	switch {
	case m.Final || scan.Type(m.Raw) != 'o' || scan.Valid(m.Raw, wire.DefaultMaxDepth) != nil || scan.Get(m.Raw, "method") != nil:
	case len(m.ID) > 0:
		m.Kind, m.Err, m.Body = wire.Response, nil, json.RawMessage("null")
	default:
		m.Kind, m.Err = wire.Notification, nil
	}
}

// isEmptyBatch reports whether an invalid message is an empty array.
func isEmptyBatch(m *wire.Message) bool {
	inner, opens := bytes.CutPrefix(bytes.TrimSpace(m.Raw), []byte{'['})
	inner, closes := bytes.CutSuffix(inner, []byte{']'})
	return opens && closes && len(bytes.TrimSpace(inner)) == 0
}

// response reads the response to a local call.
func (c *codec) response(m *wire.Message) {
	k := c.calls[string(m.ID.Key())]
	if k == nil && c.o.OneWay && len(c.calls) == 1 && !c.batch { // over HTTP, a reply's id does not matter
		for id, only := range c.calls {
			m.ID, k = wire.ID(id), only
		}
	}
	if k == nil {
		c.mistaken(m)
		return
	}
	c.over(string(m.ID.Key()))
	m.Final = true
	if m.Err != nil || k.values {
		return
	}
	var body []byte
	var err error
	switch k.method {
	case methodCall, methodMethod, methodCallback, methodLog:
		body, err = plain(nil, m.Body)
	case methodNew:
		body, err = c.made(k, m.Body)
	default:
		return
	}
	if err != nil {
		*m = broken(m, err.Error())
		return
	}
	m.Body = body
}

// made reads the result of an object.new, in which only the id is required.
func (c *codec) made(k *call, val []byte) ([]byte, error) {
	if t, _ := scan.Text(scan.Get(val, "type")); t == "remote" {
		val = scan.Get(val, "remote")
	}
	r, ok := readRef(val)
	if !ok {
		return nil, fmt.Errorf("%s is not a reference to an object", excerpt(val))
	}
	r.library = cmp.Or(r.library, c.library())
	r.class = cmp.Or(r.class, k.class)
	return r.plain(nil), nil
}

// mistaken fails the call that a response answers with an id of another type ("1" for 1). Otherwise the call would wait
// forever.
func (c *codec) mistaken(m *wire.Message) {
	text := string(m.ID)
	if s, ok := scan.Text(m.ID); ok {
		text = s
	}
	if i := strings.IndexByte(text, '.'); i > 0 && strings.Trim(text[i+1:], "0") == "" {
		text = text[:i]
	}
	if text == string(m.ID) || c.calls[text] == nil {
		return
	}
	*m = broken(m, fmt.Sprintf("the id %s was returned as %s", text, excerpt(m.ID)))
	m.ID = wire.ID(text)
	c.over(text)
}

// broken returns an Invalid message that fails the call with m's id.
func broken(m *wire.Message, what string) wire.Message {
	e := wire.NewError(wire.CodeInvalidRequest, "Invalid response").WithData(what)
	return wire.Message{Kind: wire.Invalid, ID: m.ID, Final: true, Raw: m.Raw, Err: e}
}

// inbound reads a request from the peer. A host.log becomes an item of the latest call.
func (c *codec) inbound(m *wire.Message) {
	if v := scan.Get(m.Raw, "jsonrpc"); v != nil && string(v) != `"2.0"` {
		c.refuse(m, wire.CodeInvalidRequest, "jsonrpc is not \"2.0\"")
		return
	}
	switch m.Method {
	case methodCallback:
		c.called(m)
	case methodLog:
		if c.hosts.Load() && checkLog(m.Params) == nil {
			c.msgs = append(c.msgs, wire.Message{
				Kind: wire.Item, ID: c.latest(), Method: methodLog, Params: m.Params, Body: m.Body, Raw: m.Raw, Beside: true,
			})
		}
	}
}

// refuse turns a request into an Invalid message, whose response is the error.
func (c *codec) refuse(m *wire.Message, code int, what string) {
	if m.Kind == wire.Request {
		m.Kind, m.Err = wire.Invalid, wire.NewError(code, what)
	}
}

// called turns a callback.call into a request for its hook. It leaves an expired callback unchanged; the handler
// rejects it.
func (c *codec) called(m *wire.Message) {
	hook, ok := c.callbacks[scan.String(scan.Get(m.Params, "id"))]
	if !ok {
		return
	}
	params, err := plainArguments(m.Params)
	if err != nil {
		c.refuse(m, wire.CodeServer, err.Error())
		return
	}
	m.Method, m.Params, m.Body = hook, params, params
}

// plainArguments returns the args and kwargs of a call as plain JSON for a hook.
func plainArguments(params []byte) (json.RawMessage, error) {
	args, err := plainItems(nil, scan.Get(params, "args"))
	if err != nil {
		return nil, err
	}
	kwargs, err := plainEntries(nil, scan.Get(params, "kwargs"))
	if err != nil {
		return nil, err
	}
	var o scan.Object
	o.Add("args", args)
	o.Add("kwargs", kwargs)
	return o.End(), nil
}

// latest returns the id of the user's latest pending call, which the peer is probably handling, or nil.
func (c *codec) latest() wire.ID {
	var id wire.ID
	last := int64(0)
	for token, k := range c.calls {
		if k.number > last && slices.Contains([]string{methodCall, methodNew, methodMethod, methodDestroy}, k.method) {
			id, last = wire.ID(token), k.number
		}
	}
	return id
}

// Reply returns the message for one event of the answer to req. The result of a callback is a transport Value.
func (c *codec) Reply(req wire.Message, ev wire.Event) ([][]byte, error) {
	if ev.Kind == wire.Data && req.Kind == wire.Request {
		switch method, _ := scan.Text(scan.Get(req.Raw, "method")); method {
		case methodCallback, methodLog:
			value, err := encoder{}.value(nil, scan.OrNull(ev.Data), "")
			if err != nil {
				return nil, err
			}
			ev.Data = value
		}
	}
	return c.Codec.Reply(req, ev)
}

// Event sets ev to the user's event for m.
func (c *codec) Event(m *wire.Message, ev *wire.Event) error {
	if m.Kind == wire.Item && m.Method == methodLog {
		*ev = logEvent(m.Params)
		return nil
	}
	return c.Codec.Event(m, ev)
}
