package jsonrpc

import (
	"rpcx/wire"
	"rpcx/wire/scan"
)

// Reply writes one event of the answer to req. JSON-RPC has no place for
// progress, logs and guidance: they make no message.
func (c *codec) Reply(req wire.Message, ev wire.Event) ([][]byte, error) {
	if req.Kind == wire.Notification {
		return nil, nil
	}
	var b []byte
	switch {
	case ev.Kind == wire.Opened:
		b = c.answer(req.ID, ev.Stream, nil)
	case ev.Stream != nil:
		b = c.item(req.Method, ev)
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

// answer writes a response; the id is echoed byte for byte.
func (c *codec) answer(id wire.ID, result []byte, e *wire.Error) []byte {
	b := make([]byte, 0, 64+len(id)+len(result))
	b = append(b, '{')
	if c.o.Version == V2 {
		b = append(b, `"jsonrpc":"2.0",`...)
	}
	b = appendOr(append(b, `"id":`...), id, "null")
	if e == nil || c.o.Version == V1 {
		b = append(b, `,"result":`...)
		if e != nil {
			result = nil
		}
		b = appendOr(b, result, "null")
	}
	switch {
	case e != nil:
		b = scan.Compact(append(b, `,"error":`...), e.JSON())
	case c.o.Version == V1:
		b = append(b, `,"error":null`...)
	}
	return append(b, '}')
}

// item writes a piece or the end of a stream (section 8 of the design).
func (c *codec) item(method string, ev wire.Event) []byte {
	params := append([]byte(`{"subscription":`), ev.Stream...)
	switch {
	case ev.Kind == wire.Data:
		params = appendOr(append(params, `,"result":`...), ev.Data, "null")
	case ev.Kind == wire.Done:
		params = append(params, `,"done":true`...)
	case ev.Kind == wire.Failure && ev.Err != nil:
		params = scan.Compact(append(params, `,"error":`...), ev.Err.JSON())
	default:
		return nil
	}
	return c.write(nil, method, append(params, '}'), nil)
}

func appendOr(b, val []byte, instead string) []byte {
	if len(val) == 0 {
		return append(b, instead...)
	}
	return scan.Compact(b, val)
}

// JoinBatch makes one array of replies.
func (c *codec) JoinBatch(replies [][]byte) []byte {
	b := []byte{'['}
	for i, r := range replies {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, r...)
	}
	return append(b, ']')
}

// Event is what a user sees of m: a result or an item's payload, an error, the
// end of a stream, the params of anything else. What is no message at all is
// shown whole.
func (c *codec) Event(m wire.Message) (wire.Event, error) {
	ev := wire.Event{Kind: wire.Data, Final: m.Final, Data: m.Body}
	switch {
	case m.Kind == wire.Invalid:
		ev.Data = m.Raw
	case m.Err != nil:
		return wire.Event{Kind: wire.Failure, Final: m.Final, Err: m.Err}, nil
	case m.Kind == wire.Item && m.Body == nil:
		return wire.Event{Kind: wire.Done, Final: true}, nil
	}
	if ev.Data == nil {
		ev.Data = null
	}
	return ev, nil
}
