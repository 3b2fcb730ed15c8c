// Package introspect speaks the Introspective Streaming RPC protocol, both
// roles: JSON-RPC 2.0 whose every call is answered by a stream of typed events,
// and whose services tell what they offer. What is on the wire below the events
// is package jsonrpc's.
//
// A call's response names a subscription, its notifications are the stream:
// they belong together by the subscription's id alone. A result that is no id
// is the whole answer. Any JSON-RPC pub/sub is read as well: an item that is no
// event of the protocol is data.
package introspect

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/scan"
)

// The methods that every service has.
const (
	schemaMethod       = "service_schema"
	moduleSchemaMethod = "service_module_schema"
	hashMethod         = "service_hash"
	unsubscribeMethod  = "service_unsubscribe"
)

// serviceModule is the module of those methods, which no service lists.
const serviceModule = "service"

// itemMethod is the method of the notifications that we write; what a far side
// writes there does not matter.
const itemMethod = "service_subscription"

// Styles are the ways to send params that are an object, the usual one first:
// as the one element of an array, as they are, or as the values alone (which
// whoever knows the schema has made of them).
var Styles = []string{"wrapped", "object", "positional"}

// Options are what a codec needs. The zero value is usable.
type Options struct {
	// MaxDepth is the greatest nesting that is read. 0 means
	// wire.DefaultMaxDepth.
	MaxDepth int
}

// codec is the state for one connection.
type codec struct {
	dialect.Codec // of JSON-RPC
	words         words
	hashes        hashes
	found         discovery
}

// NewCodec returns the codec for one connection.
func NewCodec(o Options) dialect.Codec {
	return &codec{Codec: jsonrpc.NewCodec(jsonrpc.Options{Version: jsonrpc.V2, MaxDepth: o.MaxDepth})}
}

// Encode writes op. Of op.Extra it takes params_style, one of Styles.
func (c *codec) Encode(op dialect.Op) (wire.Message, error) {
	switch op.Kind {
	case dialect.Call, dialect.Subscribe, dialect.Notify:
		style, _ := scan.Text(scan.Get(op.Extra, "params_style"))
		op.Method, op.Params, op.Extra = WireName(op.Method), styled(op.Params, style), nil
	case dialect.Unsub:
		if op.Stream == nil {
			return wire.Message{}, wire.ErrUnsupported
		}
		if op.Unsubscribe == "" && op.Of != nil {
			op.Unsubscribe = unsubscribeOf(WireName(op.Of.Method))
		}
	}
	m, err := c.Codec.Encode(op)
	if op.Kind == dialect.Call {
		m.Final = false // the answer is a stream
	}
	return m, err
}

// styled is params as they are sent.
func styled(params json.RawMessage, style string) json.RawMessage {
	switch {
	case len(params) == 0:
		return json.RawMessage("[]")
	case style == "object" || scan.Type(params) != 'o':
		return params
	}
	return append(append(json.RawMessage{'['}, params...), ']')
}

// unsubscribeOf is the method that ends a stream of method: by the patterns that
// other servers have, else the protocol's own.
func unsubscribeOf(method string) string {
	if name, known := jsonrpc.UnsubscribeName(method); known {
		return name
	}
	return unsubscribeMethod
}

// Opened finds the stream in the response to a call: its id, or an object that
// names it. Anything else, what can be no id included, is the answer itself.
func (c *codec) Opened(op dialect.Op, resp wire.Message) (stream wire.ID, final bool) {
	if op.Kind != dialect.Call && op.Kind != dialect.Subscribe {
		return c.Codec.Opened(op, resp)
	}
	switch scan.Type(resp.Body) {
	case 's', 'n':
		if canBeID(resp.Body) {
			return wire.ID(resp.Body), false
		}
	case 'o':
		op.Kind = dialect.Subscribe
		if stream, _ = c.Codec.Opened(op, resp); stream != nil {
			return stream, false
		}
	}
	return nil, true
}

// longestID is more than any server's ids have.
const longestID = 256

// canBeID says that a text or a number may name a stream: one word, or a count.
func canBeID(token []byte) bool {
	text, ok := scan.Text(token)
	if !ok {
		return !bytes.ContainsAny(token, "-.eE")
	}
	return text != "" && len(text) <= longestID && !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
}

// Reply writes one event of the answer to req. The items of a stream are written
// whole by the server; they go out under one name.
func (c *codec) Reply(req wire.Message, ev wire.Event) ([][]byte, error) {
	if ev.Stream != nil && ev.Kind != wire.Opened {
		req.Method = itemMethod
	}
	return c.Codec.Reply(req, ev)
}
