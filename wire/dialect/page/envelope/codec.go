package envelope

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
)

// Options configure a codec. The zero value is usable.
type Options struct {
	MaxDepth int                  // the maximum nesting (wire.DefaultMaxDepth by default)
	Serving  bool                 // the local side is the server
	Conn     func() *program.Conn // returns the variables of the connection; may be nil
}

// codec is the state of one connection.
type codec struct {
	plan    *Plan
	o       Options
	last    int64
	in      jsonrpc.Reader
	heads   heads
	parts   []part // the parts of the current message; its memory is reused
	method  []byte // the quoted method of the current message; its memory is reused
	id      []byte // the id of an appended call; its memory is reused
	methods jsonrpc.Texts
	ours    order // local requests if messages have no ids
	theirs  order // the peer's requests
}

// New returns the codec of one connection.
func New(p *Plan, o Options) dialect.Codec {
	o.MaxDepth = cmp.Or(o.MaxDepth, wire.DefaultMaxDepth)
	c := &codec{plan: p, o: o}
	c.in = jsonrpc.Reader{Depth: o.MaxDepth, Batches: p.names.Batches, Element: c.element}
	return c
}

// Abilities returns the members that contain ids ("id" if the id is not at the top level). OpenEnded is set because
// notifications that name no stream may be the items of a Subscribe.
func (c *codec) Abilities() dialect.Abilities {
	return dialect.Abilities{
		RequestID: c.plan.request.id.member("id"), AnswerID: c.plan.response.id.member("id"),
		OpenEnded: true, AppendCall: c.AppendCall,
	}
}

// Encode returns the message for op.
func (c *codec) Encode(op dialect.Op) (wire.Message, error) {
	if len(op.Funcs) > 0 {
		return wire.Message{}, wire.Usagef("%s does not support function values (@on)", c.plan.page.Name)
	}
	switch op.Kind {
	case dialect.Call, dialect.Subscribe, dialect.Internal:
		return c.request(op)
	case dialect.Notify:
		raw, err := c.call(nil, &op)
		return wire.Message{Kind: wire.Notification, Method: op.Method, Raw: raw}, err
	case dialect.Unsubscribe:
		return c.unsubscribe(op)
	case dialect.Raw:
		return c.raw(op)
	}
	return wire.Message{}, wire.ErrUnsupported
}

func (c *codec) request(op dialect.Op) (wire.Message, error) {
	id := op.OfID
	if op.Of != nil || id == nil || c.plan.names.IDs == "none" {
		id = c.newID()
	}
	raw, err := c.call(id, &op)
	if err != nil {
		return wire.Message{}, err
	}
	if c.plan.names.IDs == "none" {
		c.ours.open = append(c.ours.open, id)
	}
	return wire.Message{Kind: wire.Request, ID: id, Method: op.Method, Final: op.Kind != dialect.Subscribe, Raw: raw}, nil
}

func (c *codec) newID() wire.ID {
	c.last++
	id := strconv.AppendInt(nil, c.last, 10)
	if c.plan.names.IDs == "string" {
		return slices.Concat([]byte(`"`), id, []byte(`"`))
	}
	return id
}

// unsubscribe returns a request that calls the user's method for ending a stream.
func (c *codec) unsubscribe(op dialect.Op) (wire.Message, error) {
	if op.Unsubscribe == "" {
		return wire.Message{}, wire.ErrUnsupported
	}
	var params json.RawMessage
	switch {
	case op.Of != nil && op.Of.UnsubscribeParams != nil:
		params = op.Of.UnsubscribeParams
	case op.Of != nil:
		params = op.Of.Params
	}
	return c.request(dialect.Op{Kind: dialect.Unsubscribe, Method: op.Unsubscribe, Params: params})
}

// raw returns the user's message unchanged.
func (c *codec) raw(op dialect.Op) (wire.Message, error) {
	if err := scan.Valid(op.Params, c.o.MaxDepth); err != nil {
		return wire.Message{}, wire.NewFault(wire.Usage, "the message is not JSON: "+err.Error(), err)
	}
	raw := slices.Clone(op.Params)
	theirs := c.theirs
	var m wire.Message
	if _, err := c.element(raw, scan.Skip(raw, 0), c.o.MaxDepth, &m); err != nil {
		m = wire.Message{Kind: wire.Notification}
	}
	c.theirs = theirs
	m.Raw, m.Final = raw, true
	switch {
	case m.Kind == wire.Request && c.plan.names.IDs == "none":
		m.ID = c.newID()
		c.ours.open = append(c.ours.open, m.ID)
	case m.Kind == wire.Notification && c.asks(raw): // the next message is the response
		m.Kind, m.Err = wire.Invalid, wire.NewError(wire.CodeInvalidRequest, "a request without an id")
	case m.Kind != wire.Request && m.Kind != wire.Invalid:
		m.ID = nil
	}
	return m, nil
}

// asks reports whether a message without an id is a request: it has the member for the method of requests, which differs from
// that of events.
func (c *codec) asks(raw []byte) bool {
	p := c.plan
	return p.request.method.head >= 0 && p.request.method.head != p.event.method.head && !p.version2 &&
		scan.Get(raw, p.request.method.path[0]) != nil
}

// Opened returns no stream, because the codec in package codec decides which calls open a stream. If items contain the id of their
// request, they may follow the response to a Subscribe, unless the response is the last message.
func (c *codec) Opened(op dialect.Op, resp wire.Message) (stream wire.ID, final bool) {
	if c.plan.ends {
		if ok, ends := c.plan.Ends(resp.Raw, c.scope()); ok {
			return nil, ends
		}
	}
	return nil, op.Kind != dialect.Subscribe || !c.plan.items
}

// Reply writes one event of the answer to req. An event with a Stream is a whole message that the server has written.
func (c *codec) Reply(req wire.Message, ev wire.Event) ([][]byte, error) {
	var b []byte
	var err error
	switch {
	case req.Kind == wire.Notification:
	case ev.Stream != nil:
		b = c.plan.repeating(req, c.counted(ev.Data))
	case ev.Kind == wire.Data:
		b, err = c.answer(req, ev, nil)
	case ev.Kind == wire.Failure && ev.Err != nil:
		b, err = c.answer(req, ev, ev.Err)
	}
	switch {
	case b == nil:
		return nil, err
	case c.plan.names.IDs == "none" || len(c.theirs.open) > 0:
		return c.theirs.inTurn(req.ID, b, ev.Final || ev.Kind == wire.Failure || c.plan.response.more.head < 0), err
	}
	return [][]byte{b}, err
}

// extra returns the extra members of a received message.
func (c *codec) extra(raw []byte) json.RawMessage {
	if !c.plan.extras {
		return c.plan.Beside(raw)
	}
	return c.plan.Extra(raw, c.scope())
}

// Event sets ev to the user's event for m.
func (c *codec) Event(m *wire.Message, ev *wire.Event) error {
	jsonrpc.SetEvent(ev, m, c.extra(m.Raw))
	return nil
}

// Appends reports whether codecs of the plan can append calls: no program writes calls, ids are integers, and each call
// has one response.
func (c *Plan) Appends() bool {
	counted := c.names.IDs == "" || c.names.IDs == "integer"
	free := len(c.forbidden) == 0 && len(c.request.none) == 0 // users may add any member
	return free && c.page.Write.Request == nil && counted && c.request.id.head >= 0 && !c.array && c.response.more.head < 0 && !c.items
}

// AppendCall appends a call if Appends returns true (see dialect.Abilities).
func (c *codec) AppendCall(b []byte, op *dialect.Op) (msg []byte, id int64, ok bool) {
	if op.Kind != dialect.Call || len(op.Funcs) > 0 || !c.plan.Appends() {
		return b, 0, false
	}
	c.id = strconv.AppendInt(c.id[:0], c.last+1, 10)
	flat, err := c.lay(&c.plan.request, c.id, op.Method, op.Params)
	if err != nil {
		return b, 0, false
	}
	c.last++
	return appended(b, c.parts, flat, op.Extra), c.last, true
}
