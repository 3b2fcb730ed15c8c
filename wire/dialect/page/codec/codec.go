package codec

import (
	"bytes"
	"encoding/json"
	"strconv"
	"sync"
	"sync/atomic"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
)

// A Codec is the codec of a dialect file for one connection.
type Codec struct {
	dialect.Codec // reads and writes messages, without the dialect file's flows
	d             *Dialect
	o             dialect.CodecOptions
	out           []wire.Message
	calls         map[string]*call // local calls by id; a stream stays until its end
	streams       []*call
	tokens        int64
	flow          Flow
	entrance      *entrance
	dropped       map[string]bool // ids of requests that the peer has cancelled; only with cancel.answer

	own       manualStep
	beats     chan []byte               // the peer's heartbeats to answer; a nil value starts the local heartbeats; nil if the dialect file has none
	described atomic.Pointer[described] // the peer's last catalog, or nil

	mu       sync.Mutex // guards the members below, which flows also use
	conn     program.Conn
	shared   map[string]json.RawMessage // the common params of requests, by method; nil until they are computed
	awaited  *awaitedMessages           // nil after the handshake
	pendings map[*pending]bool          // the peer's requests whose hook is running, if the dialect file defines a response in case the local call is cancelled
	steps    stepsTaken
}

type wholeHandshake struct{}

// maxCalls bounds the stored calls, because responses may never arrive.
const maxCalls = 1 << 16

// A call is a local call that has no response yet, or whose stream is open.
type call struct {
	id     wire.ID
	method string // as the user typed it
	params json.RawMessage
	token  json.RawMessage // nil if no token was sent
	unwrap unwrapping      // how to unwrap its response
	rule   *load.Subscribe // the rule for its stream; nil if it opens none
	stream wire.ID
	result json.RawMessage // the response that opened the stream
	extra  json.RawMessage // the extra members of its request, or nil
	begun  bool            // an item has arrived

	companion Companion // may be nil
}

// newCodec returns the codec of one connection.
func (d *Dialect) newCodec(o dialect.CodecOptions) *Codec {
	c := &Codec{d: d, o: o, calls: map[string]*call{}, awaited: &awaitedMessages{}, pendings: map[*pending]bool{}, steps: stepsTaken{taken: map[any]bool{}}, entrance: &entrance{}}
	c.Codec = d.messages(o, c.now)
	c.conn.Version, c.conn.Logs = o.Handshake.Info.Version, o.Handshake.Logs
	c.conn.Serving, c.conn.Path = o.Serving, o.Path
	c.conn.Meta = o.Handshake.Settings
	c.conn.Hooks = o.Handshake.Offers.Names()
	if d.Page.Alive.Of(o.Serving) != nil && !o.OneWay {
		c.beats = make(chan []byte, 2*maxBeats)
	}
	if c.flow = (NoFlow{}); d.native.Open != nil {
		c.flow = d.native.Open(c)
	}
	return c
}

// Again returns a codec, in the state after the handshake, for another connection of the same client.
func (c *Codec) Again() *Codec {
	again := c.d.newCodec(c.o)
	again.entrance.open = true
	return again
}

// Serving reports whether the local side is the server.
func (c *Codec) Serving() bool { return c.o.Serving }

// scope returns the variables for programs that run for a call.
func (c *Codec) scope(s *call) *program.Scope {
	sc := c.Scope()
	sc.Method, sc.Params, sc.ID, sc.Token, sc.Result, sc.Extra = s.method, s.params, json.RawMessage(s.id), s.token, s.result, s.extra
	return sc
}

// Scope returns the variables of the connection. The caller may add those of a message.
func (c *Codec) Scope() *program.Scope { return &program.Scope{Conn: c.now()} }

// now returns a copy of the connection's variables.
func (c *Codec) now() *program.Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	conn := c.conn
	return &conn
}

// Encode returns the message for op.
func (c *Codec) Encode(op dialect.Op) (wire.Message, error) {
	m, err := c.encode(op)
	if op.Kind != dialect.Internal && err == nil {
		c.noteOwn(&m)
	}
	return m, err
}

func (c *Codec) encode(op dialect.Op) (wire.Message, error) {
	if (op.Kind == dialect.Call || op.Kind == dialect.Subscribe) && op.Method != dialect.FreshID {
		return c.request(op)
	}
	c.flow.Mark(&op)
	switch op.Kind {
	case dialect.Eval:
		return c.eval(op)
	case dialect.Internal: // unchanged
		op.Kind = dialect.Call
		return c.write(op)
	case dialect.Cancel:
		if c.d.Page.Cancel != nil {
			return c.cancel(op)
		}
	case dialect.Unsubscribe:
		switch s := c.calls[string(op.OfID.Key())]; {
		case s != nil && s.rule != nil:
			return c.unsubscribe(op, s)
		case s != nil && s.works(): // an Unsubscribe does not end work
			c.forget(s)
			return wire.Message{}, wire.ErrUnsupported
		}
	}
	return c.Codec.Encode(op)
}

// request encodes a call of the user, inside another call if the dialect file wraps calls.
func (c *Codec) request(op dialect.Op) (wire.Message, error) {
	if !c.d.tracks {
		return c.Codec.Encode(op)
	}
	s, more := &call{method: op.Method, params: bytes.Clone(op.Params)}, takeMore(&op)
	if op.Kind == dialect.Subscribe {
		if err := c.subscription(&op, s); err != nil {
			return wire.Message{}, err
		}
	}
	if err := c.wrap(&op, s); err != nil {
		return wire.Message{}, err
	}
	if scan.Type(more) == 'o' {
		op.Params = Merged(op.Params, more)
	}
	s.companion = c.flow.Accompany(&op)
	m, err := c.send(op, s)
	if err != nil && s.companion != nil {
		s.companion.Over()
	}
	return m, err
}

// send encodes a call and stores it until its response arrives.
func (c *Codec) send(op dialect.Op, s *call) (wire.Message, error) {
	if err := c.addToken(&op, s); err != nil {
		return wire.Message{}, err
	}
	m, err := c.write(op)
	if err != nil {
		return m, err
	}
	s.id, m.Method, s.extra = m.ID.Clone(), s.method, bytes.Clone(c.d.plan.Beside(m.Raw))
	if s.rule != nil {
		c.tokens++
		s.stream = append(strconv.AppendInt(append(make([]byte, 0, 22), '"'), c.tokens, 10), '"')
		c.streams = append(c.streams, s)
	}
	if len(c.calls) >= maxCalls {
		clear(c.calls)
	}
	c.calls[string(s.id.Key())] = s
	return m, nil
}

// wrap replaces a call with a call that wraps it, if the dialect file wraps calls.
func (c *Codec) wrap(op *dialect.Op, s *call) error {
	rule := c.d.Page.Call
	if rule == nil || c.o.Serving || op.Kind != dialect.Call && s.rule == nil {
		return nil
	}
	if plain, err := c.d.isPlain(op.Method); plain || err != nil {
		return err
	}
	if s.rule != nil { // the call is not wrapped, but its result may mean an error
		s.unwrap.fail = rule.Error
		return nil
	}
	sc := c.scope(s)
	method, err := rule.Method.First(op.Params, sc.Value)
	if err != nil {
		return err
	}
	if op.Params, err = rule.Params.First(op.Params, sc.Value); err != nil {
		return err
	}
	op.Method, s.unwrap = scan.String(method), unwrapping{rule.Result, rule.Error}
	c.trace("%s is sent as %s %s", s.method, op.Method, op.Params)
	return nil
}

// addToken adds to the params of op a token that the peer's notifications about the call contain.
func (c *Codec) addToken(op *dialect.Op, s *call) error {
	rule := c.d.Page.During.Token
	if rule == nil || c.o.Serving || len(op.Params) > 0 && scan.Type(op.Params) != 'o' {
		return nil
	}
	c.tokens++
	s.token = strconv.AppendInt(nil, c.tokens, 10)
	more, err := rule.First(op.Params, c.scope(s).Value)
	if err != nil || scan.Type(more) != 'o' {
		return err
	}
	op.Params = Merged(op.Params, more)
	return nil
}

// Merged returns obj with the members of more merged into it recursively. The values in more take precedence. If obj is
// not an object, Merged returns more.
func Merged(obj, more []byte) []byte {
	if scan.Type(obj) != 'o' {
		return more
	}
	var o scan.Object
	for key, val := range scan.Named(obj) {
		if add := scan.Get(more, key); add != nil {
			val = Merged(val, add)
			if scan.Type(add) != 'o' {
				val = add
			}
		}
		o.Add(key, val)
	}
	for key, val := range scan.Named(more) {
		if scan.Get(obj, key) == nil {
			o.Add(key, val)
		}
	}
	return o.End()
}

// Event sets ev to the user's event for m.
func (c *Codec) Event(m *wire.Message, ev *wire.Event) error {
	if m.Event != nil {
		*ev = *m.Event
		return nil
	}
	return c.Codec.Event(m, ev)
}
