// Package introspect implements the Introspective Streaming RPC protocol in both roles. The protocol is JSON-RPC 2.0 in
// which the answer to every call is a stream of typed events, and every service describes its methods. Package jsonrpc
// reads and writes the messages that carry the events.
//
// The response to a call names a subscription, and its notifications are the stream. A notification belongs to the call
// with its subscription id, whatever its method is. A result that cannot be an id is the whole answer. The package also
// reads other JSON-RPC pub/sub protocols: an item that is not an event of this protocol becomes data.
package introspect

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"unicode"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/scan"
)

// Every service has these methods.
const (
	schemaMethod       = "service_schema"
	moduleSchemaMethod = "service_module_schema"
	hashMethod         = "service_hash"
	unsubscribeMethod  = "service_unsubscribe"
)

// serviceModule is the unlisted module of those methods.
const serviceModule = "service"

// itemMethod is the method of a server's notifications. Clients ignore it, because the subscription id alone assigns an
// item to its stream.
const itemMethod = "service_subscription"

// paramStyles are the values of --params-style, starting with the default. They send an object as the only element of
// an array, unchanged, or as an array of its values, which the caller orders by the schema.
var paramStyles = []string{"wrapped", "object", "positional"}

// codec is a client's state of one connection: JSON-RPC's codec, the service hashes, and the results of discovery.
type codec struct {
	dialect.Codec
	serving bool
	texts   texts
	hashes  hashes
	found   discovery
}

// NewCodec returns the codec of one connection.
func NewCodec(o dialect.CodecOptions) dialect.Codec {
	return &codec{
		Codec:   jsonrpc.NewCodec(jsonrpc.Options{Version: jsonrpc.V2, MaxDepth: o.MaxDepth}),
		serving: o.Serving, found: discovery{kept: o.Discovery},
	}
}

// Abilities returns the flows.
func (c *codec) Abilities() dialect.Abilities {
	return dialect.Abilities{Describe: c.Describe, Typing: c.Typing, Shutdown: c.Shutdown}
}

// Encode returns the message for op. op.Extra may contain "params_style", one of paramStyles, and "verbatim", which is
// true to send the method as typed.
func (c *codec) Encode(op dialect.Op) (wire.Message, error) {
	if c.serving && (op.Kind == dialect.Call || op.Kind == dialect.Notify) {
		op.Method, op.Extra = sentName(op), nil // a call to a client is plain JSON-RPC
		return c.Codec.Encode(op)
	}
	switch op.Kind {
	case dialect.Call, dialect.Subscribe, dialect.Notify:
		op.Method, op.Params, op.Extra = sentName(op), styled(op.Params, scan.String(scan.Get(op.Extra, "params_style"))), nil
		if op.Method != schemaMethod && op.Method != moduleSchemaMethod && op.Method != hashMethod {
			c.found.calls.Add(1)
		}
	case dialect.Unsubscribe:
		if op.Stream == nil {
			return wire.Message{}, wire.ErrUnsupported
		}
		if op.Unsubscribe == "" && op.Of != nil { // the name for known pub/sub servers, or otherwise the protocol's
			op.Unsubscribe = unsubscribeMethod
			if name, known := jsonrpc.UnsubscribeName(sentName(*op.Of)); known {
				op.Unsubscribe = name
			}
		}
	}
	m, err := c.Codec.Encode(op)
	if op.Kind == dialect.Call {
		m.Final = false // the answer is a stream
	}
	return m, err
}

func sentName(op dialect.Op) string {
	if string(scan.Get(op.Extra, "verbatim")) == "true" {
		return op.Method
	}
	return WireName(op.Method)
}

func styled(params json.RawMessage, style string) json.RawMessage {
	switch {
	case len(params) == 0:
		return json.RawMessage("[]")
	case style == "object" || scan.Type(params) != 'o':
		return params
	}
	return scan.ArrayOf(params)
}

// Opened finds the stream that the response to a call names: the result is a stream id or an object with one. Any other
// result is the whole answer. A client's response to a service's call is plain JSON-RPC and opens no stream.
func (c *codec) Opened(op dialect.Op, resp wire.Message) (stream wire.ID, final bool) {
	if op.Kind != dialect.Call && op.Kind != dialect.Subscribe || op.Kind == dialect.Call && c.serving {
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

// longestID bounds the bytes of a subscription id. A longer string is data.
const longestID = 256

// canBeID reports whether a token can be a subscription id: a string without whitespace, or a non-negative integer.
func canBeID(token []byte) bool {
	text, ok := scan.Text(token)
	if !ok {
		return !bytes.ContainsAny(token, "-.eE")
	}
	return text != "" && len(text) <= longestID && !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
}

// Reply returns the messages for one event of the answer to req. The server writes the items itself; their method is
// always itemMethod.
func (c *codec) Reply(req wire.Message, ev wire.Event) ([][]byte, error) {
	if ev.Stream != nil && ev.Kind != wire.Opened {
		req.Method = itemMethod
	}
	return c.Codec.Reply(req, ev)
}

// Types of events.
const (
	typeProgress = "progress"
	typeData     = "data"
	typeError    = "error"
	typeDone     = "done"
	typeGuidance = "guidance"
)

// Decode returns the messages in raw. It marks the last item of a stream as final.
func (c *codec) Decode(raw []byte) (msgs []wire.Message, batch bool, err error) {
	msgs, batch, err = c.Codec.Decode(raw)
	for i := range msgs {
		if m := &msgs[i]; m.Kind == wire.Item && m.Err == nil && scan.Type(m.Body) == 'o' {
			c.item(m)
		}
	}
	return msgs, batch, err
}

// item interprets the payload of an item. The type shows whether the item is the last one. The service hash shows
// whether cached schemas are outdated; guidance about invalid params shows that they may be wrong.
func (c *codec) item(m *wire.Message) {
	var kind, hash, errorKind []byte
	for key, val := range scan.Members(m.Body) {
		switch string(key) {
		case "type":
			kind = val
		case "service_hash":
			hash = val
		case "error_kind":
			errorKind = val
		}
	}
	if string(kind) == `"done"` {
		m.Final = true
	}
	if hash != nil {
		c.hashes.note(hash)
	}
	if string(errorKind) == `"invalid_params"` && string(kind) == `"guidance"` {
		c.hashes.wrong.Store(true)
	}
}

// texts interns short strings of items, such as event types and content types. It is safe for concurrent use.
type texts struct {
	mu    sync.Mutex
	known jsonrpc.Texts
}

// of returns the string in a JSON token, or "" for a token of another type.
func (t *texts) of(token []byte) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text, _ := t.known.Of(token)
	return text
}
