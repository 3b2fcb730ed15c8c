// Package scriptling implements the Scriptling plugin protocol 1.0 in both roles. The protocol is JSON-RPC 2.0 with ten
// methods, whose arguments and results are transport Values. The package converts these from and to plain JSON.
//
// A user's method is a function for function.call, unless it is one of the ten methods. Positional params become the
// function's args, and named params its kwargs.
package scriptling

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/scan"
)

// Methods on the wire.
const (
	methodHandshake = "scriptling.handshake"
	methodOpen      = "environment.open"
	methodClose     = "environment.close"
	methodShutdown  = "plugin.shutdown"
	methodCall      = "function.call"
	methodNew       = "object.new"
	methodMethod    = "object.call_method"
	methodDestroy   = "object.destroy"
	methodCallback  = "callback.call"
	methodLog       = "host.log"
)

var wireMethods = []string{
	methodHandshake, methodOpen, methodClose, methodShutdown, methodCall,
	methodNew, methodMethod, methodDestroy, methodCallback, methodLog,
}

// codec is the state of one connection.
type codec struct {
	dialect.Codec
	o         dialect.CodecOptions
	calls     map[string]*call  // local calls by id, as a JSON token
	callbacks map[string]string // hooks of local callbacks by id
	last      int64             // the latest call's id
	lastBack  int               // the number in the latest callback's id
	msgs      []wire.Message
	batch     bool                     // Decode is reading a batch
	calling   func(id string, on bool) // see handler.calling; may be nil
	handshake
}

// A call is a local request whose response has not arrived.
type call struct {
	number int64
	method string // the wire method
	values bool   // the caller needs the result as transport Values
	class  string // the class of an object.new
	object string // the id of the object in an object.call_method or object.destroy
	back   string // the id of the callback in a callback.call
	funcs  []string
}

// perLevel is the number of levels that a list or dict adds to a message: its Value, and its items or entries.
const perLevel = 2

// NewCodec returns the codec of one connection.
func NewCodec(o dialect.CodecOptions) dialect.Codec {
	o.MaxDepth = cmp.Or(o.MaxDepth, wire.DefaultMaxDepth)
	o.Plugin.ShutdownTimeout = cmp.Or(o.Plugin.ShutdownTimeout, time.Second)
	c := &codec{
		Codec: jsonrpc.NewCodec(jsonrpc.Options{MaxDepth: perLevel * o.MaxDepth, AnyID: true, AnyParams: true}),
		o:     o, calls: map[string]*call{}, callbacks: map[string]string{},
	}
	if o.HandshakeDone {
		c.skipHandshake()
	}
	return c
}

// extra contains the members of an Op's Extra in this dialect.
type extra struct {
	Values bool `json:"values"` // args, kwargs and the result are Values
}

// Abilities returns the flows.
func (c *codec) Abilities() dialect.Abilities {
	return dialect.Abilities{Handshake: c.Handshake, Describe: c.Describe, Shutdown: c.Shutdown}
}

// Encode returns the message for op.
func (c *codec) Encode(op dialect.Op) (wire.Message, error) {
	switch op.Kind {
	case dialect.Raw:
		return c.raw(op)
	case dialect.Cancel:
		c.over(string(op.OfID.Key()))
		return wire.Message{}, wire.ErrUnsupported
	case dialect.Call, dialect.Notify:
	default:
		return wire.Message{}, wire.ErrUnsupported
	}
	if op.Method == dialect.FreshID {
		return c.raw(op)
	}
	var x extra
	if op.Extra != nil {
		if err := json.Unmarshal(op.Extra, &x); err != nil {
			return wire.Message{}, wire.NewFault(wire.Usage, "extra: "+err.Error(), err)
		}
	}
	if len(op.Funcs) > 0 && c.o.OneWay {
		return wire.Message{}, wire.NewFault(wire.Usage, "callbacks need a bidirectional transport, which HTTP is not", nil)
	}
	if len(op.Funcs) > 0 && op.Kind == dialect.Notify {
		return wire.Message{}, wire.NewFault(wire.Usage, "a callback is valid only during its call: notifications cannot have one", nil)
	}
	r := request{method: op.Method, params: op.Params, funcs: op.Funcs, values: x.Values, codec: c}
	if err := r.encode(); err != nil {
		return wire.Message{}, err
	}
	if err := c.blocked(op, r); err != nil {
		return wire.Message{}, err
	}
	m, err := c.Codec.Encode(dialect.Op{Kind: op.Kind, Method: r.method, Params: r.params})
	if err != nil {
		return m, err
	}
	c.register(m.ID, r)
	m.Final = false // the call's log lines precede its response
	return m, nil
}

// raw returns the user's own message, whose response is not translated.
func (c *codec) raw(op dialect.Op) (wire.Message, error) {
	m, err := c.Codec.Encode(op)
	if err == nil && m.Kind == wire.Request {
		c.calls[string(m.ID.Key())] = &call{}
	}
	return m, err
}

// register stores how to read the response to a request.
func (c *codec) register(id wire.ID, r request) {
	maps.Copy(c.callbacks, r.made)
	if len(id) == 0 {
		return
	}
	c.last++
	k := &call{number: c.last, method: r.method, values: r.values, funcs: slices.Collect(maps.Keys(r.made))}
	switch r.method {
	case methodNew:
		k.class, _ = scan.Text(scan.Get(r.params, "class"))
	case methodMethod, methodDestroy:
		k.object, _ = scan.Text(scan.Get(r.params, "object_id"))
	case methodCallback:
		k.back, _ = scan.Text(scan.Get(r.params, "id"))
		if c.calling != nil {
			c.calling(k.back, true)
		}
	}
	c.calls[string(id.Key())] = k
}

// over removes a call and its callbacks, whose ids are valid only during the call.
func (c *codec) over(id string) {
	k := c.calls[id]
	if k == nil {
		return
	}
	delete(c.calls, id)
	for _, name := range k.funcs {
		delete(c.callbacks, name)
	}
	if k.method == methodCallback && c.calling != nil {
		c.calling(k.back, false)
	}
}

// blocked rejects a nested call that would deadlock: the peer serializes the calls of an object, and a pending call of
// this object waits for the hook that makes the nested call.
func (c *codec) blocked(op dialect.Op, r request) error {
	if !op.Nested || r.method != methodMethod && r.method != methodDestroy {
		return nil
	}
	id, _ := scan.Text(scan.Get(r.params, "object_id"))
	for _, k := range c.calls {
		if k.method == methodMethod && k.object == id {
			return wire.Errorf(wire.CodeServer, "a call to object %s is pending, and this call would wait for it forever", clip(strconv.Quote(id)))
		}
	}
	return nil
}
