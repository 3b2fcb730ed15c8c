// Package hotrepl implements HotRepl v2 in both roles. HotRepl uses one WebSocket connection, and its messages are JSON
// objects with their own types, without JSON-RPC. A client evaluates code once or every few frames, calls typed
// commands, and polls commands that are jobs.
//
// A Call's Method is the name of a command. An Eval's Method is an operation of the evaluator (eval, complete, reset). A
// Subscribe's Code or Method is the code to watch. Extra contains further members that the specification defines:
// timeoutMs, cursor, intervalFrames, limit, onChange.
//
// On the host, package peer passes a client's messages to the server as notifications, one at a time and in order. The
// server writes complete messages itself.
package hotrepl

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/poll"
	"rpcx/wire/scan"
)

// version is the only supported protocolVersion.
const version = "2"

// codec is the state of one connection.
type codec struct {
	depth  int
	prefix string // the prefix of ids, which distinguishes responses to other clients
	last   int
	sent   map[string]sent // unanswered messages, by id
	host   bool            // the local side is the host and has sent its handshake
	max    int             // the host's maximum size of a message in bytes; 0 if unknown; guarded by the lock of peer.Peer
	out    [3]wire.Message
	jobs   poll.Running // accepted jobs that have not ended

	// Flows also use these fields.
	handshake atomic.Pointer[json.RawMessage] // the host's first message; nil before it
	catalogs  sync.Map                        // the *catalog.Catalog of one command by its name, or of all commands by whole{}
}

// whole is the key of the catalog of all commands.
type whole struct{}

// maxSent bounds the stored unanswered messages.
const maxSent = 4096

// A sent is an unanswered message.
type sent struct {
	kind string
	raw  bool // the user wrote the message; its response may have any type
	all  bool // the user's subscription has a limit: all its ticks are the response, not only the first
}

// isWatch reports whether the user wrote the message and its response consists of ticks.
func (s sent) isWatch() bool { return s.raw && s.kind == typeSubscribe }

// NewCodec returns the codec of one connection.
func NewCodec(o dialect.CodecOptions) dialect.Codec {
	o.MaxDepth = cmp.Or(o.MaxDepth, wire.DefaultMaxDepth)
	return &codec{depth: o.MaxDepth, prefix: wire.RandomHex(6) + "-", sent: map[string]sent{}}
}

// Abilities returns the flows. Unsolicited is set because responses may arrive without a call.
func (c *codec) Abilities() dialect.Abilities {
	return dialect.Abilities{
		Handshake: c.Handshake, Describe: c.Describe, Typing: c.Typing, Job: c.Job, Shutdown: c.Shutdown, RunningJobs: c.jobs.RunningJobs,
		Unsolicited: true,
	}
}

// Encode returns the message for op. A message that is too large for the host is a usage Fault.
func (c *codec) Encode(op dialect.Op) (wire.Message, error) {
	m, err := c.encode(op)
	if err == nil && !c.host && c.max > 0 && len(m.Raw) > c.max {
		return wire.Message{}, wire.NewFault(wire.Usage,
			fmt.Sprintf("the message has %d bytes, but the host accepts at most %d (maxMessageBytes)", len(m.Raw), c.max), nil)
	}
	return m, err
}

func (c *codec) encode(op dialect.Op) (wire.Message, error) {
	if c.host && slices.Contains([]dialect.OpKind{dialect.Eval, dialect.Subscribe, dialect.Call}, op.Kind) {
		return wire.Message{}, hostRequestFault()
	}
	switch op.Kind {
	case dialect.Eval:
		return c.evaluator(op), nil
	case dialect.Subscribe:
		code := cmp.Or(op.Code, op.Method)
		return c.request(typeSubscribe, build("").text("code", code).end(), op.Extra), nil
	case dialect.Call:
		return c.call(op)
	case dialect.Cancel, dialect.Unsubscribe:
		return c.cancel(op)
	case dialect.Internal:
		return c.own(op)
	case dialect.Raw:
		return c.rawMessage(op.Params)
	case dialect.Notify:
		return wire.Message{}, wire.NewFault(wire.Usage, "hotrepl has no notifications: every command has a response", nil)
	}
	return wire.Message{}, wire.ErrUnsupported
}

// evaluator returns an eval, a complete or a reset.
func (c *codec) evaluator(op dialect.Op) wire.Message {
	switch op.Method {
	case typeReset:
		return c.request(typeReset, nil, nil)
	case typeComplete:
		return c.request(typeComplete, build("").text("code", op.Code).end(), op.Extra)
	}
	return c.request(typeEval, build("").text("code", op.Code).end(), op.Extra)
}

func (c *codec) call(op dialect.Op) (wire.Message, error) {
	args := op.Params
	switch {
	case args == nil:
		args = json.RawMessage("{}")
	case scan.Type(args) != 'o':
		return wire.Message{}, wire.NewFault(wire.Usage, "the params of a hotrepl command must be an object: give key=value, or one JSON object", nil)
	}
	return c.request(typeCall, build("").text("name", op.Method).raw("args", args).end(), op.Extra), nil
}

// cancel returns the message that cancels a pending eval, subscription or command. It has no ID, because it gets no
// response.
func (c *codec) cancel(op dialect.Op) (wire.Message, error) {
	if of := op.Of; of == nil || len(op.OfID) == 0 || of.Kind != dialect.Eval && of.Kind != dialect.Subscribe && of.Kind != dialect.Call {
		return wire.Message{}, wire.ErrUnsupported
	}
	m := c.request(typeCancel, scan.Pair("targetId", op.OfID), nil)
	delete(c.sent, string(m.ID.Key()))
	if op.Of.Kind == dialect.Subscribe {
		delete(c.sent, string(op.OfID))
	}
	m.ID = nil
	return m, nil
}

// hostRequestFault returns the usage Fault for a request from a host to its client, because clients do not answer
// requests.
func hostRequestFault() error {
	return wire.NewFault(wire.Usage, "a hotrepl host sends no requests to its client", nil)
}

// own returns the message for an Internal op. On a host, op.Params is the complete message. On a client, own adds the
// type and an id.
func (c *codec) own(op dialect.Op) (wire.Message, error) {
	if op.Method == typeHandshake {
		c.host = true
		c.max = number(scan.Get(scan.Get(op.Params, "limits"), "maxMessageBytes"))
	}
	switch {
	case !isClientType(op.Method):
		return wire.Message{Kind: wire.Notification, Method: op.Method, Raw: op.Params}, nil
	case c.host:
		return wire.Message{}, hostRequestFault()
	case op.Method == typeJobCancel:
		c.jobs.SetRunning(scan.Get(op.Params, "jobId"), false)
	}
	return c.request(op.Method, nil, op.Params), nil
}

// rawMessage returns the user's message unchanged. On a client, a message with an id is a request, unless it is a
// cancel. A host can send messages of types that clients never send. A cancelled subscription ends at once, because the
// host sends no further message for it.
func (c *codec) rawMessage(msg json.RawMessage) (wire.Message, error) {
	id := wire.ID(scan.Get(msg, "id"))
	kind, _ := scan.Text(scan.Get(msg, "type"))
	m := wire.Message{Kind: wire.Notification, Method: kind, Raw: msg}
	switch {
	case c.host && isClientType(kind):
		return wire.Message{}, hostRequestFault()
	case c.host:
		return m, nil
	case kind == typeCancel:
		if target := scan.Get(msg, "targetId"); c.sent[string(scan.Canonical(target))].isWatch() {
			delete(c.sent, string(scan.Canonical(target)))
			m.Kind, m.Target = wire.Cancel, wire.ID(target)
		}
		return m, nil
	case len(id) == 0 && isClientType(kind):
		return wire.Message{}, wire.NewFault(wire.Usage, kind+" needs an id: without one, the host does not answer", nil)
	case len(id) == 0:
		return m, nil
	}
	if len(c.sent) < maxSent {
		c.sent[string(id.Key())] = sent{kind: kind, raw: true, all: number(scan.Get(msg, "limit")) > 0}
	}
	m.Kind, m.ID = wire.Request, id
	return m, nil
}

// request returns a message with a new id and the members of about and extra. Both are objects or nil.
func (c *codec) request(kind string, about, extra json.RawMessage) wire.Message {
	c.last++
	id := wire.ID(strconv.Quote(c.prefix + strconv.Itoa(c.last)))
	if len(c.sent) < maxSent {
		c.sent[string(id.Key())] = sent{kind: kind}
	}
	b := build(kind).id(id)
	b.o.Inside(about)
	b.o.Inside(extra)
	return wire.Message{
		Kind: wire.Request, ID: id, Method: kind, Raw: b.end(), Final: kind != typeSubscribe && kind != typeCall,
	}
}

// Opened reports that every response is final, because the values of a subscription are items with the request's id.
func (c *codec) Opened(dialect.Op, wire.Message) (wire.ID, bool) { return nil, true }

// Reply returns no messages: a client gets no requests, and the host writes its responses itself.
func (c *codec) Reply(wire.Message, wire.Event) ([][]byte, error) { return nil, nil }

// number returns the integer part of a number, at most math.MaxInt32, and 0 for negative numbers and other values. In
// JSON, an integer may have a fraction or an exponent.
func number(val []byte) int {
	n, err := strconv.ParseFloat(string(val), 64)
	switch {
	case errors.Is(err, strconv.ErrRange) && n > 0, n >= math.MaxInt32:
		return math.MaxInt32
	case err != nil, n < 0:
		return 0
	}
	return int(n)
}
