package jsonrpc

import (
	"bytes"
	"cmp"
	"encoding/json"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// Reply returns the message for one event of the answer to req. It omits progress, logs and guidance, which JSON-RPC
// cannot express.
func (c *codec) Reply(req wire.Message, ev wire.Event) ([][]byte, error) {
	if req.Kind == wire.Notification {
		return nil, nil
	}
	var b []byte
	switch {
	case ev.Kind == wire.Opened:
		b = c.answer(req.ID, ev.Stream, nil)
	case ev.Stream != nil:
		b = c.item(cmp.Or(ev.Method, req.Method), ev)
	case ev.Kind == wire.Data:
		b = c.answer(req.ID, ev.Data, nil)
	case ev.Kind == wire.Failure && ev.Err != nil:
		b = c.answer(req.ID, nil, ev.Err)
	}
	if b == nil {
		return nil, nil
	}
	return [][]byte{b}, nil
}

// answer writes a response with an unchanged id.
func (c *codec) answer(id wire.ID, result []byte, e *wire.Error) []byte {
	o := scan.AppendObject(make([]byte, 0, 64+len(id)+len(result)))
	if c.o.Version == V2 {
		o.Text("jsonrpc", "2.0")
	}
	o.Compact("id", scan.OrNull(id))
	if e == nil || c.o.Version == V1 {
		if e != nil {
			result = nil
		}
		o.Compact("result", scan.OrNull(result))
	}
	switch {
	case e != nil:
		o.Compact("error", e.JSON())
	case c.o.Version == V1:
		o.Add("error", null)
	}
	return o.End()
}

// item writes an item or the end of a stream: a notification whose params contain the subscription, and a result, an
// error or done.
func (c *codec) item(method string, ev wire.Event) []byte {
	var params scan.Object
	params.Add("subscription", ev.Stream)
	switch {
	case ev.Kind == wire.Data:
		params.Compact("result", scan.OrNull(ev.Data))
	case ev.Kind == wire.Done:
		params.Bool("done", true)
	case ev.Kind == wire.Failure && ev.Err != nil:
		params.Compact("error", ev.Err.JSON())
	default:
		return nil
	}
	return c.write(nil, method, params.End(), nil)
}

// Event sets ev to the user's event for m.
func (c *codec) Event(m *wire.Message, ev *wire.Event) error {
	SetEvent(ev, m, nil)
	if m.Kind == wire.Item && m.Body == nil && m.Err == nil { // also for a watch, which continues after the stream
		ev.Kind, ev.Data, ev.Method = wire.Done, nil, ""
	}
	return nil
}

// SetEvent sets ev to the user's event for m: a result, the payload of an item, an error, the end of a stream, or the
// params of other messages. A value that is not a message is data as a whole. extra are the extra members, or nil.
func SetEvent(ev *wire.Event, m *wire.Message, extra json.RawMessage) {
	*ev = wire.Event{Kind: wire.Data, Final: m.Final, Data: m.Body, Extra: extra}
	switch {
	case m.Kind == wire.Invalid:
		ev.Data = m.Raw
	case m.Err != nil:
		ev.Kind, ev.Data, ev.Err = wire.Failure, nil, m.Err
		if m.Kind == wire.Item && !m.Final {
			ev.Extra = scan.Splice([]byte(cmp.Or(string(extra), "{}")), "recoverable", []byte("true"))
		}
		return
	case m.Kind == wire.Item && m.Final && m.Body == nil:
		ev.Kind = wire.Done
		return
	}
	if ev.Data == nil {
		ev.Data = null
	}
	if m.Kind == wire.Notification || m.Kind == wire.Item {
		ev.Method = m.Method
	}
}

// isStop reports whether an item is {"event":"stop"}, which some servers (Polkadot's chainHead) send at the end of a
// stream. That object is itself an item.
func isStop(item []byte) bool {
	const longest = 64 // in bytes, including whitespace
	if len(item) > longest || scan.Type(item) != 'o' {
		return false
	}
	m := scan.ReadObject(item, 1)
	key, val, ok := m.Next()
	if !ok || string(key) != "event" || string(val) != `"stop"` {
		return false
	}
	_, _, more := m.Next()
	return !more
}

// failure reads the error of a response. If the error is a string beside a message, as in WebDriver BiDi, the string is
// its code.
func (f *fields) failure() *wire.Error {
	e := ReadError(f.err)
	if text, ok := scan.Text(f.text); ok && scan.Type(f.err) == 's' {
		e.Code, e.Message, e.Raw = f.err, text, nil
	}
	return e
}

// ReadError reads the value of a message's error member, in any of the forms that servers use.
func ReadError(val []byte) *wire.Error {
	e := &wire.Error{Raw: val}
	if text, ok := scan.Text(val); ok {
		e.Message = text
		return e
	}
	if scan.Type(val) != 'o' {
		e.Message = string(scan.Compact(nil, val))
		return e
	}
	e.Code, e.Data = scan.Get(val, "code"), scan.Get(val, "data")
	message := scan.Get(val, "message")
	text, ok := scan.Text(message)
	switch {
	case ok:
		e.Message = text
	case message != nil && !isNull(message):
		e.Message = string(scan.Compact(nil, message))
	case e.Code == nil:
		e.Message = string(scan.Compact(nil, val))
	}
	if e.Code != nil && !isID(e.Code) {
		e.Code = nil
	}
	if r := scan.Get(e.Data, "retryable"); r != nil {
		var yes bool
		if json.Unmarshal(r, &yes) == nil {
			e.Retryable = &yes
		}
	}
	return e
}

// raw returns a whole message unchanged.
func (c *codec) raw(op dialect.Op) (wire.Message, error) {
	if err := scan.Valid(op.Params, c.o.MaxDepth); err != nil {
		return wire.Message{}, wire.NewFault(wire.Usage, "the message is not JSON: "+err.Error(), err)
	}
	raw := bytes.Clone(op.Params)
	m := wire.Message{Kind: wire.Notification, Raw: raw, Final: true}
	switch i := scan.Skip(raw, 0); raw[i] {
	case '{':
		var f fields
		_, _ = f.read(raw, i, c.o.MaxDepth) // raw is valid
		m = wire.Message{}
		c.message(&f, raw, &m)
		c.ownID(&f, &m)
	case '[':
	default:
		m = Invalid(raw, nil, "a message must be an object")
	}
	m.Raw, m.Final = raw, true
	if m.Kind != wire.Request {
		if m.Kind == wire.Invalid && len(m.ID) > 0 { // an error response would have that id
			m.Kind, m.Err = wire.Request, nil
			return m, nil
		}
		m.ID = nil
	}
	return m, nil
}

// ownID turns m into a request if only the type of its id is invalid.
func (c *codec) ownID(f *fields, m *wire.Message) {
	if m.Kind != wire.Invalid || m.Method == "" || f.id == nil || isID(f.id) || isNull(f.id) {
		return
	}
	id := scan.Minify(nil, f.id)
	wire.Put(&c.unusualIDs, string(id), true)
	*m = wire.Message{Kind: wire.Request, ID: id, Method: m.Method, Params: f.params, Body: f.params}
}
