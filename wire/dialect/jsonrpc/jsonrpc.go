// Package jsonrpc implements JSON-RPC 2.0 and 1.0 in both roles. It writes exactly one version and reads both. It
// accepts a missing "jsonrpc" member, "error":null beside a result, errors that are strings, and notifications with
// "id":null.
//
// It reads the forms of streams that existing servers use. A notification whose params name a subscription
// (subscription, subscription_id or subscriptionId) is an item. "done":true or an "error" beside it ends the stream.
// Further responses with the id of the subscribe request are also items.
//
// Version 1 writes "params":[] by default, as 1.0 and ovsdb-server require. Node's inspector accepts that for most
// methods; for the others, the user passes {}.
package jsonrpc

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// Version is the version of JSON-RPC to write.
type Version int

const (
	V1 Version = 1 // no "jsonrpc" member, notifications with "id":null, and result and error in each response
	V2 Version = 2
)

// lspCancel is LSP's notification for cancelling a request. A codec always accepts it, and writes it if Options request
// it.
const lspCancel = "$/cancelRequest"

// Options configure what a codec writes. The zero value is version 2.
type Options struct {
	Version Version
	// Cancels makes the codec cancel a local request with the notification lspCancel, with {"id":…} as params. Without it,
	// cancelling a call sends nothing.
	Cancels bool
	// MaxDepth is the maximum nesting (wire.DefaultMaxDepth by default).
	MaxDepth int
	// AnyParams accepts params other than an object or an array.
	AnyParams bool
	// AnyID accepts requests whose id is not a string, a number or null.
	AnyID bool
}

// codec is the state of one connection.
type codec struct {
	o    Options
	last int64
	// idText is spare memory for AppendCall.
	idText []byte
	in     Reader
	// unusualIDs are the ids of the user's raw requests that are arrays, objects or other unusual values, which 1.0
	// allows. They contain no whitespace between tokens.
	unusualIDs map[string]bool
	methods    Texts
}

// NewCodec returns the codec of one connection.
func NewCodec(o Options) dialect.Codec {
	o.Version = cmp.Or(o.Version, V2)
	o.MaxDepth = cmp.Or(o.MaxDepth, wire.DefaultMaxDepth)
	c := &codec{o: o}
	c.in = Reader{Depth: o.MaxDepth, Batches: true, Element: c.element}
	return c
}

// Encode returns the message for op. Its ids are integers from 1. Final in the message means that the first response is
// the only one.
func (c *codec) Encode(op dialect.Op) (wire.Message, error) {
	if len(op.Funcs) > 0 {
		return wire.Message{}, wire.NewFault(wire.Usage, "JSON-RPC does not support function values (@on)", nil)
	}
	switch op.Kind {
	case dialect.Call, dialect.Subscribe:
		return c.request(op), nil
	case dialect.Notify:
		return wire.Message{Kind: wire.Notification, Method: op.Method, Raw: c.write(nil, op.Method, op.Params, op.Extra)}, nil
	case dialect.Cancel:
		return c.cancel(op)
	case dialect.Unsubscribe:
		return c.unsubscribe(op)
	case dialect.Raw:
		return c.raw(op)
	}
	return wire.Message{}, wire.ErrUnsupported
}

func (c *codec) request(op dialect.Op) wire.Message {
	id := op.OfID
	if op.Of != nil || id == nil {
		c.last++
		id = strconv.AppendInt(nil, c.last, 10)
	}
	return wire.Message{
		Kind: wire.Request, ID: id, Method: op.Method,
		Final: op.Kind != dialect.Subscribe,
		Raw:   c.write(id, op.Method, op.Params, op.Extra),
	}
}

// AppendCall appends a call to b (see dialect.Abilities).
func (c *codec) AppendCall(b []byte, op *dialect.Op) (msg []byte, id int64, ok bool) {
	if op.Kind != dialect.Call || len(op.Funcs) > 0 {
		return b, 0, false
	}
	c.last++
	c.idText = strconv.AppendInt(c.idText[:0], c.last, 10)
	return c.append(b, c.idText, op.Method, op.Params, op.Extra), c.last, true
}

// write returns a request, or without an id a notification.
func (c *codec) write(id wire.ID, method string, params, extra json.RawMessage) []byte {
	return c.append(make([]byte, 0, 64+len(method)+len(params)+len(extra)), id, method, params, extra)
}

// append is like write, but appends to b.
func (c *codec) append(b []byte, id wire.ID, method string, params, extra json.RawMessage) []byte {
	o := scan.AppendObject(b)
	if c.o.Version == V2 {
		o.Text("jsonrpc", "2.0")
	}
	switch {
	case id != nil:
		o.Add("id", id)
	case c.o.Version == V1:
		o.Add("id", null)
	}
	o.Text("method", method)
	switch {
	case len(params) > 0:
		o.Compact("params", params)
	case c.o.Version == V1: // 1.0 requires params; the user gives {} for servers that need an object
		o.Add("params", []byte("[]"))
	}
	o.Inside(extra)
	return o.End()
}

func (c *codec) cancel(op dialect.Op) (wire.Message, error) {
	if !c.o.Cancels || len(op.OfID) == 0 {
		return wire.Message{}, wire.ErrUnsupported
	}
	params := scan.Pair("id", op.OfID)
	return wire.Message{Kind: wire.Cancel, Target: op.OfID, Raw: c.write(nil, lspCancel, params, nil)}, nil
}

// unsubscribe ends a stream by its id. Without an id, it sends the params of the request that opened the stream. If no
// item has arrived and only rpcx servers have the method, the response may have been a value, and unsubscribe sends
// nothing.
func (c *codec) unsubscribe(op dialect.Op) (wire.Message, error) {
	method := op.Unsubscribe
	if method == "" && op.Of != nil {
		var known bool
		if method, known = UnsubscribeName(op.Of.Method); !known && !(op.Stream != nil && op.Lasting) {
			return wire.Message{}, wire.ErrUnsupported
		}
	}
	if method == "" {
		return wire.Message{}, wire.ErrUnsupported
	}
	var params json.RawMessage
	switch {
	case op.Of != nil && op.Of.UnsubscribeParams != nil:
		params = op.Of.UnsubscribeParams
	case op.Stream != nil:
		params = scan.ArrayOf(op.Stream)
	case op.Of != nil:
		params = op.Of.Params
	}
	return c.request(dialect.Op{Kind: dialect.Unsubscribe, Method: method, Params: params}), nil
}

// Abilities reports that the codec requests catalogs and appends calls. It also reports that notifications without a
// stream may belong to a request.
func (c *codec) Abilities() dialect.Abilities {
	return dialect.Abilities{Describe: c.Describe, AppendCall: c.AppendCall, OpenEnded: true}
}

// Opened finds the stream in the response to a subscribe request: its id, or an object that names it. After true, null and
// {}, items contain the request's id. Any other value is the only item.
func (c *codec) Opened(op dialect.Op, resp wire.Message) (stream wire.ID, final bool) {
	if op.Kind != dialect.Subscribe {
		return nil, true
	}
	switch scan.Type(resp.Body) {
	case 's', 'n':
		return wire.ID(resp.Body), false
	case 't', '0':
		return nil, false
	case 'o':
		for key, val := range scan.Members(resp.Body) {
			if isSubscription(key) && isID(val) {
				return val, false
			}
			final = true
		}
		return nil, final
	}
	return nil, true
}

// isSubscription reports whether a member of this name contains a stream's id.
func isSubscription(key []byte) bool {
	switch string(key) {
	case "subscription", "subscription_id", "subscriptionId":
		return true
	}
	return false
}

// isID reports whether a valid value can be an id: a string or a number.
func isID(val []byte) bool {
	t := scan.Type(val)
	return t == 's' || t == 'n'
}

func isNull(val []byte) bool { return bytes.Equal(val, null) }

// IDOrNil returns id, or nil if it is not a valid id.
func IDOrNil(id []byte) wire.ID {
	if isID(id) {
		return id
	}
	return nil
}

func (c *codec) idOrNil(id []byte) wire.ID {
	if c.o.AnyID {
		return id
	}
	return IDOrNil(id)
}
