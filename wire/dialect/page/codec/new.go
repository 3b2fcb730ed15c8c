package codec

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/scan"
)

// NewCodec returns the codec of one connection.
func (d *Dialect) NewCodec(o dialect.CodecOptions) dialect.Codec { return d.newCodec(o) }

// Abilities returns the dialect file's flows and the properties of its messages. OpenEnded is set because notifications
// that name no stream may be the items of a Subscribe.
func (c *Codec) Abilities() dialect.Abilities {
	of := c.Codec.Abilities() // the messages
	a := dialect.Abilities{
		Handshake: c.Handshake, Prepare: c.Prepare, Describe: c.Describe, Typing: c.Typing, Shutdown: c.Shutdown,
		RequestID: of.RequestID, AnswerID: of.AnswerID, Arrays: c.d.plan.Array(), OpenEnded: true,
		SendsCancel: c.d.Page.Cancel != nil && c.d.Page.Cancel.HTTP == "send",
	}
	if c.d.native.Open != nil {
		a.Job, a.RunningJobs = c.flow.Job, c.flow.RunningJobs
		if !c.o.Serving {
			a.PrepareCall = c.flow.PrepareCall
		}
	}
	if c.d.Page.Input != nil && !c.o.Serving {
		a.Continue = c.Continue
	}
	if c.d.Page.Requests.Params != nil && !c.o.Serving {
		a.CommonParams = c.commonParams
	}
	if c.appends() {
		a.AppendCall = func(b []byte, op *dialect.Op) (msg []byte, id int64, ok bool) {
			if c.own.step.Load() != nil || c.leavesBy(op.Method) || op.Method == dialect.FreshID {
				return b, 0, false // a step of the handshake or of [[leave]] may need it
			}
			return of.AppendCall(b, op)
		}
	}
	return a
}

// appends reports whether each call is one message with one response and needs no state.
func (c *Codec) appends() bool {
	p := c.d.Page
	if c.d.plan != nil && !c.d.plan.Appends() {
		return false
	}
	return p.Call == nil && p.Cancel == nil && p.During == load.During{} && c.d.native.Open == nil && p.Requests.Params == nil && p.Input == nil && !c.o.Serving
}

// leavesBy reports whether a step in [[leave]] uses a method.
func (c *Codec) leavesBy(method string) bool {
	return slices.ContainsFunc(c.d.Page.Leave, func(s load.Goodbye) bool { return s.Call == method || s.Notify == method })
}

// Opened returns the stream that a response opens, according to the dialect file or otherwise according to its base.
func (c *Codec) Opened(op dialect.Op, resp wire.Message) (stream wire.ID, final bool) {
	if s := c.calls[string(resp.ID.Key())]; s != nil && s.stream != nil {
		return s.stream, false
	}
	return c.Codec.Opened(op, resp)
}

// cancelled is the error code in the engine's response to a cancelled request.
const cancelled = "-32800"

// Reply encodes one event of the answer to req. If the peer has cancelled the request, and the dialect file has
// cancel.answer, that is the code of the error response. If it is not a code, Reply returns no message.
func (c *Codec) Reply(req wire.Message, ev wire.Event) ([][]byte, error) {
	if len(c.dropped) > 0 && c.dropped[string(req.ID.Key())] {
		code, ok := c.d.Page.Cancel.Answer.(int64)
		if !ok {
			return nil, nil
		}
		if ev.Err != nil && string(ev.Err.Code) == cancelled {
			e := *ev.Err
			e.Code, e.Raw, ev.Err = strconv.AppendInt(nil, code, 10), nil, &e
		}
	}
	return c.Codec.Reply(req, ev)
}

// write encodes op with the params that the dialect file adds to all requests of a client.
func (c *Codec) write(op dialect.Op) (wire.Message, error) {
	if c.d.Page.Requests.Params != nil && !c.o.Serving {
		var err error
		if op.Params, err = c.commonParams(op.Method, op.Params); err != nil {
			return wire.Message{}, err
		}
	}
	return c.Codec.Encode(op)
}

// commonParams returns the params of a request with the params that the dialect file adds. It leaves params that are
// not an object unchanged.
func (c *Codec) commonParams(method string, params json.RawMessage) (json.RawMessage, error) {
	if len(params) > 0 && scan.Type(params) != 'o' {
		return params, nil
	}
	more, err := c.common(method)
	if err != nil || more == nil {
		return params, err
	}
	return Merged(params, more), nil
}

// common returns the value that the dialect file adds to the params of a method's requests, or nil. It is computed once for each method
// until the kept values change.
func (c *Codec) common(method string) (json.RawMessage, error) {
	const most = 256
	c.mu.Lock()
	if c.shared == nil || len(c.shared) >= most {
		c.shared = map[string]json.RawMessage{}
	}
	shared, kept := c.shared, c.conn.Kept // Keep replaces both
	more, made := shared[method]
	c.mu.Unlock()
	if made {
		return more, nil
	}
	sc := c.Scope()
	sc.Method = method
	more, err := c.d.Page.Requests.Params.First(kept, sc.Value)
	if err != nil {
		return nil, err
	}
	if scan.Type(more) != 'o' {
		more = nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	more = bytes.Clone(more)
	shared[method] = more
	return more, nil
}
