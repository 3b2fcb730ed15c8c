// Package dialect defines the parts of a dialect: a Codec, which converts operations to messages and messages to
// events, with Abilities such as flows of several messages; a Server, which is the dialect's other side; and a Spec,
// which has both and describes the dialect for the rest of rpcx. A Spec has data that every dialect has, and
// capabilities, which are nil if a dialect lacks them.
//
// A new dialect is one directory below this one and its line in the table, wire/dialect/all.
//
// Two dialects that are unlike JSON-RPC use them as follows. In HotRepl's host, the Server holds its only client, the
// frame queue and the job table. Accept of a second client sends session_evicted through the first Caller and closes
// it. Accept sends the handshake with Caller.Notify. A request's Method is its "type". Reply writes "<type>_result" or
// "<type>_error" for a Data or Failure event of that request, and items with the request's id, so that a subscription's
// Stream is its request's ID. In Introspect, Opened finds the subscription's token in the first response. Decode makes
// an Item with that Stream of every notification that names a subscription (Final if its payload is done), and Event
// converts progress, guidance and data payloads to events.
package dialect

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
)

// An OpKind is the kind of an operation.
type OpKind uint8

// These are the operations. A codec returns wire.ErrUnsupported for kinds that it does not support.
const (
	Call        OpKind = iota // one request, one answer (or a stream, if the dialect's calls stream)
	Notify                    // a request without an answer
	Subscribe                 // a request whose answer may open a stream
	Cancel                    // requests that the peer cancel the pending request of Of
	Unsubscribe               // requests that the peer end Stream, which Of opened
	Raw                       // Params is the whole message, sent unchanged
	Watch                     // sends nothing; returns every incoming message, or those of Method
	Eval                      // evaluates Code
	Internal                  // a message of the dialect's own flows; Method is a word of the protocol and never comes from the user
	JobRun                    // starts the job Method and waits for it; see Abilities.Job, also for the following kinds
	JobStart                  // starts the job Method; the only answer contains the Job
	JobStatus                 // the only answer is the status of Job
	JobWait                   // returns the events of Job until it has ended
	JobCancel                 // cancels Job
	JobList                   // lists the known jobs
)

// An Op is one operation. Its JSON encoding is sent to the process that holds the connection.
type Op struct {
	Kind        OpKind            `json:"op"`
	Method      string            `json:"method,omitempty"`      // for a Watch, see Takes
	Params      json.RawMessage   `json:"params,omitempty"`      // nil for none
	Code        string            `json:"code,omitempty"`        // of Eval
	Job         string            `json:"job,omitempty"`         // the job of JobStatus, JobWait and JobCancel
	Funcs       map[string]string `json:"funcs,omitempty"`       // JSON pointer inside Params → name of the hook that answers it
	Known       *catalog.Catalog  `json:"known,omitempty"`       // describes the hooks in Funcs, or nil
	Of          *Op               `json:"-"`                     // the operation that a Cancel or Unsub ends
	OfID        wire.ID           `json:"-"`                     // the id of that operation's request; for an Internal op, the id to use
	Stream      wire.ID           `json:"-"`                     // the stream that an Unsub ends
	Unsubscribe string            `json:"unsubscribe,omitempty"` // the method that ends the stream, if the user gave one; "" if derived from Method
	// UnsubscribeParams are the params of Unsubscribe, if the user gave them.
	UnsubscribeParams json.RawMessage `json:"unsubscribe_params,omitempty"`
	// Lasting marks a Call that starts a job, and a Subscribe for which the user waits longer than for its answer. An
	// answer that names no stream is then the stream's first item, not its end (see Abilities.OpenEnded). In an
	// Unsubscribe, it reports that items have arrived, which shows that the answer named a stream.
	Lasting bool `json:"lasting,omitempty"`
	// Beside is the same text in a Subscribe and in a Watch of some methods that accompanies it. The Watch then also
	// shows the answer to the Subscribe, unless that only names a stream. With "", the Watch does not.
	Beside string          `json:"beside,omitempty"`
	Extra  json.RawMessage `json:"extra,omitempty"`  // members that only this dialect knows (an object), or nil
	Nested bool            `json:"nested,omitempty"` // the operation is from a hook of this connection, and must not wait for anything that waits for the hook
	About  wire.ID         `json:"-"`                // the peer's request that is being answered when op is sent, or nil if unknown
	Since  *int64          `json:"since,omitempty"`  // for a Watch in a session: start with the messages after this number in the session's ring; nil to start now
	// Answer, if set in a Raw op, receives each answer to it, which peer.Options.Incoming then does not receive. It
	// runs on the reader's goroutine, in the order of arrival.
	Answer func(m wire.Message) `json:"-"`
	// Items, if set in a Subscribe, is called with each item. The stream then yields only its response and its end. It
	// runs on the reader's goroutine while the peer's lock is held, so that it must not block or call the peer. It may
	// keep m.
	Items func(m wire.Message) `json:"-"`
}

// FreshID is the method of a Call that is encoded only to get a fresh id. A Raw message whose own id is in use is sent
// under that id.
const FreshID = "\x00fresh"

// A Codec converts operations to messages and messages to events, for one connection and one role (client or server).
// It does no I/O, starts no goroutine and makes no callbacks. The peer calls its methods while it holds its lock,
// except Event.
type Codec interface {
	// Encode returns the message for op: Raw, with ID if there will be a response. Final means that the first response
	// is the only one, so that no item can belong to the operation. For a Cancel or Unsubscribe that the dialect cannot
	// express, it returns wire.ErrUnsupported, and the peer then only forgets the call. The codec chooses the ids,
	// which are unique on this connection. A message with a Stream and no Raw means that nothing is sent: op follows
	// that stream, as other operations may, and its first message is a null result.
	Encode(op Op) (wire.Message, error)
	// Decode returns the messages in raw. batch reports whether they arrived as one batch, whose responses are sent as
	// one message. The slice and the messages are valid until the next Decode, and only as long as raw is. An error
	// ends the connection after the returned messages have been handled. A malformed message that can be answered is
	// returned as Invalid instead.
	Decode(raw []byte) (msgs []wire.Message, batch bool, err error)
	// Opened interprets a successful response to a Subscribe or Call. It returns the stream that the response opens, or
	// nil, and whether the call ends with it. Items may also have the id of the request.
	Opened(op Op, resp wire.Message) (stream wire.ID, final bool)
	// Reply returns the messages (none, one or several) for one event of the answer to req.
	Reply(req wire.Message, ev wire.Event) ([][]byte, error)
	// JoinBatch joins the answers to a batch into one message.
	JoinBatch(replies [][]byte) []byte
	// Event sets ev to the event that a user sees for m. ev may refer to m's bytes. Event does not allocate for plain
	// data, and may be called from any goroutine.
	Event(m *wire.Message, ev *wire.Event) error
	// Abilities returns the codec's other abilities. It is called when the connection is opened, and where an ability
	// is used, except for abilities that each message needs.
	Abilities() Abilities
}

// EventOf returns the event that a user sees for m, according to c, a Codec or a conversation. A caller with many
// messages calls Event directly and reuses the event.
func EventOf(c eventer, m wire.Message) (ev wire.Event, err error) {
	err = c.Event(&m, &ev)
	return ev, err
}

type eventer interface {
	Event(m *wire.Message, ev *wire.Event) error
}

// A Stream is the answer to an operation: messages until io.EOF.
type Stream interface {
	// Next returns the next message, which is valid until the following Next, or io.EOF after the final one. When ctx
	// ends, it returns ctx's error, and the stream can still be read.
	Next(ctx context.Context) (wire.Message, error)
	// Cancel cancels the stream on the peer, if the dialect has a message for that, and forgets the stream. It returns
	// no later than ctx ends. After the end of the stream it does nothing.
	Cancel(ctx context.Context) error
}

// A Finisher is a Stream that can be stopped without losing messages. After Finish it accepts no more messages. Next
// returns those that have arrived by then, followed by io.EOF. The peer receives no message, so Finish is only for a
// Watch.
type Finisher interface {
	Finish(ctx context.Context) error
}

// If st is a Finisher, Finish stops it without losing messages; otherwise it cancels st.
func Finish(ctx context.Context, st Stream) error {
	if f, ok := st.(Finisher); ok {
		return f.Finish(ctx)
	}
	return st.Cancel(ctx)
}

// These are optional interfaces of a Stream.
type (
	// A waiter reports whether Next would return immediately.
	waiter interface{ Waiting() bool }
	// A severed Stream reports whether it ended because its connection ended.
	severed interface{ Severed() bool }
)

// Waiting reports whether Next would return immediately. It returns false if st cannot tell.
func Waiting(st Stream) bool {
	w, ok := st.(waiter)
	return ok && w.Waiting()
}

// Severed reports whether st ended because its connection ended.
func Severed(st Stream) bool {
	s, ok := st.(severed)
	return ok && s.Severed()
}

// CancelTimeout bounds the time for sending a cancel to the peer.
const CancelTimeout = 2 * time.Second

// CancelAnyway cancels st within CancelTimeout, even if ctx has ended.
func CancelAnyway(ctx context.Context, st Stream) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), CancelTimeout)
	defer cancel()
	_ = st.Cancel(ctx)
}

// A Caller lets flows and servers send on a connection. *peer.Peer is one.
type Caller interface {
	// Open starts op and returns its answer.
	Open(ctx context.Context, op Op) (Stream, error)
	// Call makes a call and returns its only result. If the peer returns an error, Call returns it as a *wire.Error.
	Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
	// CallOp is like Call, for an operation with any settings.
	CallOp(ctx context.Context, op Op) (json.RawMessage, error)
	// Notify sends op, which has no answer.
	Notify(ctx context.Context, op Op) error
	// CloseWith ends the connection with a code and a reason, if the transport supports them.
	CloseWith(code int, reason string) error
	// Connection returns the description of the connection. Every call returns the same value.
	Connection() *Connection
}

// A Connection describes a Caller's connection, and its functions other than calls. The zero value is usable.
type Connection struct {
	Codec          Codec             // nil if the Caller does not provide it
	Name           string            // the peer's name in warnings; "" for the only peer
	SingleExchange bool              // the connection is a single exchange of the peer
	Identity       string            // the identity that the client has proved, if several connections can belong to the same client; "" if the connection is the client
	Vars           map[string]string // other variables of the connection's hooks, or nil
	Answers        []string          // the methods that the client answers, if each call names them; otherwise nil
	SingleResponse bool              // the peer accepts only a single message, the answer to its request
	HTTPSession    wire.HTTPSession  // the session of the connection's exchanges; nil if the transport has none

	// Ask answers a request of the peer that is part of another message, as if it had arrived separately. key is its id.
	// The error is wire.ErrUnsupported if no hook answers the method. It may be nil.
	Ask func(ctx context.Context, key, method string, params json.RawMessage) (json.RawMessage, error)
	// Warn warns the user of a problem that makes no call fail. It may be nil.
	Warn func(text string)
	// Tell shows the user an event that belongs to no call. It may be nil.
	Tell func(ev wire.Event)
	// Settle waits until no handler runs and all answers have been sent, or until ctx or the connection ends. It may be
	// nil.
	Settle func(ctx context.Context) error
}

// An Inbound is one request or notification from the peer.
type Inbound struct {
	Msg  wire.Message // a copy, which the handler may keep
	Emit func(wire.Event) error
	// Order is the number of the message on the connection. Requests are handled concurrently, so that the handler of a
	// request may start after that of a later notification.
	Order uint64
	// A handler sets Answered if its events were the whole answer, as for a stream. The result of Handle is then
	// ignored.
	Answered bool
}

// opNames are the words for the operations that a user can request.
var opNames = map[OpKind]string{
	Call: "call", Notify: "notify", Subscribe: "subscribe", Raw: "raw", Watch: "watch", Eval: "eval",
	JobRun: "job.run", JobStart: "job.start", JobStatus: "job.status", JobWait: "job.wait", JobCancel: "job.cancel", JobList: "job.list",
}

// MarshalText returns the name of k. It fails for operations that a user cannot request.
func (k OpKind) MarshalText() ([]byte, error) {
	if name, ok := opNames[k]; ok {
		return []byte(name), nil
	}
	return nil, wire.ErrUnsupported
}

// UnmarshalText sets k to the operation with the name b.
func (k *OpKind) UnmarshalText(b []byte) error {
	for kind, name := range opNames {
		if name == string(b) {
			*k = kind
			return nil
		}
	}
	return wire.Usagef("unknown operation %q", b)
}

// Takes reports whether a Watch shows messages of a method. The Watch's Method lists the wanted names, one per line, in
// which * stands for any characters. "" accepts all messages, including those without a method.
func (op *Op) Takes(method string) bool {
	if op.Method == "" || op.Method == method {
		return true
	}
	for name := range strings.SplitSeq(op.Method, "\n") {
		if Matches(name, method) {
			return true
		}
	}
	return false
}

// Matches reports whether pattern, in which * stands for any characters, matches all of name. It is used for watches and for
// a server's policy.
func Matches(pattern, name string) bool {
	first, rest, star := strings.Cut(pattern, "*")
	name, ok := strings.CutPrefix(name, first)
	if !ok || !star {
		return ok && name == ""
	}
	for {
		part, more, star := strings.Cut(rest, "*")
		if !star {
			return strings.HasSuffix(name, part)
		}
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name, rest = name[i+len(part):], more
	}
}
