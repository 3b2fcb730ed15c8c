package scriptling

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// Decode finds the messages in raw: a result comes out as plain JSON, a
// callback.call as a request for its hook.
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
			return // over HTTP alone it is answered
		}
	}
	c.msgs = append(c.msgs, *m)
}

// lenient takes an object without a method for what it may be: an answer whose
// result was left out, or without an id something that a plugin printed. No
// answer would help.
func lenient(m *wire.Message) {
	switch {
	case m.Final || scan.Type(m.Raw) != 'o' || scan.Valid(m.Raw, wire.DefaultMaxDepth) != nil || scan.Get(m.Raw, "method") != nil:
	case len(m.ID) > 0:
		m.Kind, m.Err, m.Body = wire.Response, nil, json.RawMessage("null")
	default:
		m.Kind, m.Err = wire.Notification, nil
	}
}

// isEmptyBatch says that an invalid message is an array of nothing.
func isEmptyBatch(m *wire.Message) bool {
	inner, opens := bytes.CutPrefix(bytes.TrimSpace(m.Raw), []byte{'['})
	inner, closes := bytes.CutSuffix(inner, []byte{']'})
	return opens && closes && len(bytes.TrimSpace(inner)) == 0
}

// response reads the answer to a call of ours.
func (c *codec) response(m *wire.Message) {
	k := c.calls[string(m.ID)]
	if k == nil && c.o.OneWay && len(c.calls) == 1 && !c.batch { // a reply's id is not looked at there
		for id, only := range c.calls {
			m.ID, k = wire.ID(id), only
		}
	}
	if k == nil {
		c.mistaken(m)
		return
	}
	c.over(string(m.ID))
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

// made is the reference to a new object. Its id alone matters.
func (c *codec) made(k *call, val []byte) ([]byte, error) {
	if t, _ := scan.Text(scan.Get(val, "type")); t == "remote" {
		val = scan.Get(val, "remote")
	}
	r, ok := readRef(val)
	if !ok {
		return nil, fmt.Errorf("%s is no reference to an object", excerpt(val))
	}
	if r.library == "" {
		r.library = c.library()
	}
	if r.class == "" {
		r.class = k.class
	}
	return r.plain(nil), nil
}

// mistaken fails the call that a response was meant for whose id has another
// type: it would wait for ever.
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
	*m = broken(m, fmt.Sprintf("the id %s came back as %s", text, excerpt(m.ID)))
	m.ID = wire.ID(text)
	c.over(text)
}

// broken is an answer that is none. It fails its call.
func broken(m *wire.Message, what string) wire.Message {
	data, _ := json.Marshal(what)
	e := wire.NewError(wire.CodeInvalidRequest, "Invalid answer")
	e.Data = data
	return wire.Message{Kind: wire.Invalid, ID: m.ID, Final: true, Raw: m.Raw, Err: e}
}

// inbound reads a request of the far side. What it logs is shown in its order:
// beside the latest call, or of none.
func (c *codec) inbound(m *wire.Message) {
	if v := scan.Get(m.Raw, "jsonrpc"); v != nil && string(v) != `"2.0"` {
		c.refuse(m, wire.CodeInvalidRequest, "jsonrpc is not \"2.0\"")
		return
	}
	switch m.Method {
	case methodCallback:
		c.called(m)
	case methodLog:
		if c.isHost() && checkLog(m.Params) == nil {
			c.msgs = append(c.msgs, wire.Message{
				Kind: wire.Item, ID: c.latest(), Method: methodLog, Params: m.Params, Body: m.Body, Raw: m.Raw, Beside: true,
			})
		}
	}
}

// refuse makes of a request one that is answered with an error.
func (c *codec) refuse(m *wire.Message, code int, what string) {
	if m.Kind == wire.Request {
		m.Kind, m.Err = wire.Invalid, wire.NewError(code, what)
	}
}

// called makes of a callback.call the request for its hook. One that has
// expired is left for the handler to refuse.
func (c *codec) called(m *wire.Message) {
	id, _ := scan.Text(scan.Get(m.Params, "id"))
	hook, ok := c.callbacks[id]
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

// plainArguments is what a hook gets: args and kwargs, decoded.
func plainArguments(params []byte) (json.RawMessage, error) {
	b, err := plainItems([]byte(`{"args":`), scan.Get(params, "args"))
	if err == nil {
		b, err = plainEntries(append(b, `,"kwargs":`...), scan.Get(params, "kwargs"))
	}
	return append(b, '}'), err
}

// latest is the id of the call of a user that came last of those that wait: the
// one that the far side is most likely at work for. nil: there is none.
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

// Reply writes one event of the answer to req. What a callback answers is a
// Value.
func (c *codec) Reply(req wire.Message, ev wire.Event) ([][]byte, error) {
	if ev.Kind == wire.Data && req.Kind == wire.Request {
		switch method, _ := scan.Text(scan.Get(req.Raw, "method")); method {
		case methodCallback, methodLog:
			data := ev.Data
			if data == nil {
				data = json.RawMessage("null")
			}
			value, err := encoder{}.value(nil, data, "")
			if err != nil {
				return nil, err
			}
			ev.Data = value
		}
	}
	return c.Codec.Reply(req, ev)
}

// Event is what a user sees of m.
func (c *codec) Event(m wire.Message) (wire.Event, error) {
	if m.Kind == wire.Item && m.Method == methodLog {
		return logEvent(m.Params), nil
	}
	return c.Codec.Event(m)
}

// logEvent is a host.log as an event: its key and value arguments are in extra,
// by name where they are pairs.
func logEvent(params []byte) wire.Event {
	ev := wire.Event{Kind: wire.Log}
	level, _ := scan.Text(scan.Get(params, "level"))
	ev.Level = logLevel(level)
	ev.Message, _ = scan.Text(scan.Get(params, "message"))
	args, err := plainItems(nil, scan.Get(params, "args"))
	if err != nil {
		ev.Extra = append(append([]byte(`{"args":`), scan.Compact(nil, scan.Get(params, "args"))...), '}')
		return ev
	}
	if pairs, ok := named(args); ok {
		ev.Extra = pairs
	} else if string(args) != "[]" {
		ev.Extra = append(append([]byte(`{"args":`), args...), '}')
	}
	return ev
}

// logLevel is a level as a user sees it: "warning" is warn, what is unknown is
// info.
func logLevel(said string) string {
	level := strings.ToLower(said)
	if level == "warning" {
		return "warn"
	}
	if slices.Contains(Levels, level) {
		return level
	}
	return "info"
}

// Levels are the levels of host.log, the least first.
var Levels = []string{"trace", "debug", "info", "warn", "error", "fatal"}

// named makes an object of an array of keys and values; ok is false where it is
// none, or names something twice.
func named(args []byte) (obj json.RawMessage, ok bool) {
	b := []byte{'{'}
	seen := map[string]bool{}
	m := scan.Array(args, wire.DefaultMaxDepth)
	for {
		_, key, more := m.Next()
		if !more {
			break
		}
		name, isText := scan.Text(key)
		_, val, paired := m.Next()
		if !isText || !paired || seen[name] {
			return nil, false
		}
		seen[name] = true
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(append(b, key...), ':'), val...)
	}
	return append(b, '}'), len(seen) > 0
}

// checkLog says what is wrong with the params of a host.log.
func checkLog(params []byte) error {
	if scan.Type(params) != 'o' {
		return errors.New("host.log needs params")
	}
	if level := scan.Get(params, "level"); level != nil && scan.Type(level) != 's' {
		return errors.New("the level of a host.log is " + strconv.Quote(excerpt(level)))
	}
	return nil
}
