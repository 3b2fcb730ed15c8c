// Package dialect defines the parts of a dialect. A Codec converts operations to messages and messages to events; its
// Abilities include flows of several messages. A Server is the other side of the dialect. A Spec contains both, and
// describes the dialect for the rest of rpcx. The capabilities in a Spec are nil if the dialect lacks them.
//
// A new dialect needs one directory below this one and one line in the table of wire/dialect/all.
//
// Two dialects serve as examples. In HotRepl's host, the Server owns the only client, the frame queue and the table of
// jobs. When Accept gets a second client, it sends session_evicted through the first client's Caller and closes the
// Caller. Accept sends the handshake with Caller.Notify. The Method of a request is its "type". The Server writes the
// responses itself, so Reply returns none. Items have the ID of their request, and no Stream. In Introspect, Opened
// finds the subscription's token in the first response. Decode turns every notification that names a subscription into
// an Item with that Stream (Final if its payload is done). Event converts progress, guidance and data payloads to events.
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

// A codec returns wire.ErrUnsupported for operations that it does not support.
const (
	Call        OpKind = iota // one request with one response, or with a stream if the dialect's calls stream
	Notify                    // a request without a response
	Subscribe                 // a request whose response may open a stream
	Cancel                    // asks the peer to cancel the pending request of Of
	Unsubscribe               // asks the peer to end Stream, which Of opened
	Raw                       // Params is the whole message, sent unchanged
	Watch                     // sends nothing; returns every incoming message, or those of Method
	Eval                      // evaluates Code, or another operation of the evaluator, which Method names
	Internal                  // a message of the dialect's flows; Method is a word of the protocol, never the user's
	JobRun                    // starts the job Method and waits for its end; for the Job kinds, see Abilities.Job
	JobStart                  // starts the job Method; the only event contains the Job
	JobStatus                 // the only event is the status of Job
	JobWait                   // yields the events of Job until its end
	JobCancel
	JobList
)

// An Op is one operation. Its JSON encoding is sent to the process that owns the connection.
type Op struct {
	Kind        OpKind            `json:"op"`
	Method      string            `json:"method,omitempty"`      // for a Watch, see Takes
	Params      json.RawMessage   `json:"params,omitempty"`      // may be nil
	Code        string            `json:"code,omitempty"`        // of Eval
	Job         string            `json:"job,omitempty"`         // the job of JobStatus, JobWait and JobCancel
	Funcs       map[string]string `json:"funcs,omitempty"`       // the name of a hook, by JSON pointer into Params
	Known       *catalog.Catalog  `json:"known,omitempty"`       // describes the hooks in Funcs; may be nil
	Of          *Op               `json:"-"`                     // the operation that a Cancel or Unsubscribe ends
	OfID        wire.ID           `json:"-"`                     // the id of Of's request; for an Internal op, the id to use
	Stream      wire.ID           `json:"-"`                     // the stream that an Unsubscribe ends, or that a Subscribe without a message follows
	Unsubscribe string            `json:"unsubscribe,omitempty"` // the user's method for ending the stream, or ""
	// UnsubscribeParams are the user's params of Unsubscribe, or nil.
	UnsubscribeParams json.RawMessage `json:"unsubscribe_params,omitempty"`
	// Lasting marks a Call that starts a job, and a Subscribe whose user continues to wait after the response. A
	// response that names no stream is then the first item of the stream, not its end (see Abilities.OpenEnded). In an
	// Unsubscribe, Lasting reports that items arrived, which proves that the response named a stream.
	Lasting bool `json:"lasting,omitempty"`
	// Beside is the same string in a Subscribe and in the Watch that accompanies it. The Watch then also shows the
	// response to the Subscribe, unless the response only names a stream.
	Beside string          `json:"beside,omitempty"`
	Extra  json.RawMessage `json:"extra,omitempty"`  // an object with members that are specific to this dialect, or nil
	Nested bool            `json:"nested,omitempty"` // the operation is from a hook of this connection; it must not wait for anything that waits for that hook
	About  wire.ID         `json:"-"`                // the peer's pending request to which the operation belongs; nil if there is none or it is unknown
	Since  *int64          `json:"since,omitempty"`  // for a Watch in a session: the number of the message in the ring after which to start; nil starts with the next message
	// Answer, if set in a Raw op, receives each response, in place of peer.Options.Incoming. It runs on the reader's
	// goroutine, in the order of arrival.
	Answer func(m wire.Message) `json:"-"`
	// Items, if set in a Subscribe, receives each item. The stream then yields only its response and its end. Items
	// runs on the reader's goroutine under the peer's lock; it must not block or call the peer. It may retain m.
	Items func(m wire.Message) `json:"-"`
}

// FreshID is the method of a Call that is encoded only to get an unused id. A Raw message with a used id is sent with
// that id instead.
const FreshID = "\x00fresh"

// A Codec converts operations to messages and messages to events, for one connection and one role. It does no I/O,
// starts no goroutine and makes no callbacks. A peer.Peer calls all its methods except Event while it holds its lock.
type Codec interface {
	// Encode returns the message for op in Raw, with ID if a response will follow. Final means that the first response
	// is the only one. For a Cancel or Unsubscribe that the dialect cannot express, Encode returns wire.ErrUnsupported,
	// and the caller forgets the call without sending a message. The codec chooses ids, which are unique on this
	// connection. A message with a Stream and without Raw is not sent. In that case, op follows that stream, which
	// other operations may also follow, and its first message is a null result.
	Encode(op Op) (wire.Message, error)
	// Decode returns the messages in raw. batch reports whether raw was a batch, whose responses are sent as one
	// message. The messages are valid until the next Decode, and only while raw is unchanged. An error ends the
	// connection after the returned messages. If a malformed message can be answered, Decode returns it as Invalid
	// instead.
	Decode(raw []byte) (msgs []wire.Message, batch bool, err error)
	// Opened interprets a successful response to a Subscribe or Call. It returns the stream that the response opens, or
	// nil, and whether the response ends the call. Items may also have the id of the request.
	Opened(op Op, resp wire.Message) (stream wire.ID, final bool)
	// Reply returns the messages, if any, for one event of the answer to req. If it fails, it may also return messages to send instead.
	Reply(req wire.Message, ev wire.Event) ([][]byte, error)
	// Event sets ev to the event that the user sees for m. ev may refer to m's bytes. Event does not allocate for plain
	// data. Any goroutine may call it.
	Event(m *wire.Message, ev *wire.Event) error
	// Abilities returns the codec's other abilities. A peer.Peer calls it once for the abilities that each message
	// needs, and otherwise at each use.
	Abilities() Abilities
}

// EventOf returns the event that the user sees for m, according to c, a Codec or a conversation. A caller with many
// messages calls Event directly and reuses the event.
func EventOf(c eventer, m wire.Message) (ev wire.Event, err error) {
	err = c.Event(&m, &ev)
	return ev, err
}

type eventer interface {
	Event(m *wire.Message, ev *wire.Event) error
}

// A Stream yields the messages that answer an operation, and then io.EOF.
type Stream interface {
	// Next returns the next message, or io.EOF after the final one. The message is valid until the next call. When ctx
	// ends, Next returns its error, and the stream remains readable.
	Next(ctx context.Context) (wire.Message, error)
	// Cancel forgets the stream. If the dialect has a message for it, Cancel also cancels the stream on the peer. It
	// returns when ctx ends. After the stream has ended, it does nothing.
	Cancel(ctx context.Context) error
}

// A Finisher is a Stream that can stop without losing messages. After Finish, Next returns the messages received so far
// and then io.EOF. The peer receives no message. Only a Watch is a Finisher.
type Finisher interface {
	Finish(ctx context.Context) error
}

// Finish stops st without losing messages if st is a Finisher. Otherwise it cancels st.
func Finish(ctx context.Context, st Stream) error {
	if f, ok := st.(Finisher); ok {
		return f.Finish(ctx)
	}
	return st.Cancel(ctx)
}

// Waiting reports whether st.Next would return at once. It returns false if st has no method Waiting.
func Waiting(st Stream) bool {
	w, ok := st.(interface{ Waiting() bool })
	return ok && w.Waiting()
}

// Severed reports whether st ended because its connection ended. It returns false if st has no method Severed.
func Severed(st Stream) bool {
	s, ok := st.(interface{ Severed() bool })
	return ok && s.Severed()
}

// CancelTimeout bounds sending a cancel to the peer.
const CancelTimeout = 2 * time.Second

// CancelAnyway cancels st within CancelTimeout, even after the end of ctx.
func CancelAnyway(ctx context.Context, st Stream) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), CancelTimeout)
	defer cancel()
	_ = st.Cancel(ctx)
}

// Drain reads st until its end or the end of ctx, and returns the error with which it ended.
func Drain(ctx context.Context, st Stream) error {
	for {
		if _, err := st.Next(ctx); err != nil {
			return err
		}
	}
}

// A Caller lets flows and servers send messages on a connection. *peer.Peer implements it.
type Caller interface {
	// Open starts op and returns its stream.
	Open(ctx context.Context, op Op) (Stream, error)
	// Call makes a call and returns its only result. It returns an error of the peer as a *wire.Error.
	Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
	// CallOp is like Call, but for any operation.
	CallOp(ctx context.Context, op Op) (json.RawMessage, error)
	// Notify sends op, which has no response.
	Notify(ctx context.Context, op Op) error
	// CloseWith ends the connection with a code and a reason, if the transport supports them.
	CloseWith(code int, reason string) error
	// Connection describes the connection. It returns the same value each time.
	Connection() *Connection
}

// A Connection describes a Caller's connection, and offers functions other than calls. The zero value is usable.
type Connection struct {
	Codec          Codec             // may be nil
	Name           string            // the peer's name in warnings, or "" for the only peer
	SingleExchange bool              // the connection serves one exchange that the peer started (see wire.SingleExchange)
	Identity       string            // the client's authenticated identity if a client may have several connections, or ""
	Vars           map[string]string // additional variables for the connection's hooks; may be nil
	Answers        []string          // the methods that the client can answer, in dialects whose calls list them; otherwise nil
	SingleResponse bool              // the peer accepts only one message, the response to its request
	HTTPSession    wire.HTTPSession  // the session of the connection's exchanges, or nil

	// Ask answers a request of the peer that is part of another message, as if it had arrived separately. key serves as
	// the id of that request. Ask returns wire.ErrUnsupported if no hook answers the method. Ask may be nil.
	Ask func(ctx context.Context, key, method string, params json.RawMessage) (json.RawMessage, error)
	// Warn warns the user about a problem that does not fail a call. It may be nil.
	Warn func(text string)
	// Tell shows the user an event that belongs to no call. It may be nil.
	Tell func(ev wire.Event)
	// Settle waits until no handler runs and all responses have been sent, or until ctx or the connection ends. It may
	// be nil.
	Settle func(ctx context.Context) error
}

// An Inbound is one request or notification from the peer.
type Inbound struct {
	Msg  wire.Message // a copy, which the handler may retain
	Emit func(wire.Event) error
	// Order is the number of the message on the connection. Handlers run concurrently: the handler of a request may
	// start after the handler of a later notification.
	Order uint64
	// Answered reports that the handler's events were the whole answer, as for a stream. The result of Handle is then
	// ignored.
	Answered bool
}

// opNames are the names of the operations that users can request.
var opNames = map[OpKind]string{
	Call: "call", Notify: "notify", Subscribe: "subscribe", Raw: "raw", Watch: "watch", Eval: "eval",
	JobRun: "job.run", JobStart: "job.start", JobStatus: "job.status", JobWait: "job.wait", JobCancel: "job.cancel", JobList: "job.list",
}

// MarshalText returns the name of k. It fails for operations that users cannot request.
func (k OpKind) MarshalText() ([]byte, error) {
	if name, ok := opNames[k]; ok {
		return []byte(name), nil
	}
	return nil, wire.ErrUnsupported
}

// UnmarshalText sets k to the operation that b names.
func (k *OpKind) UnmarshalText(b []byte) error {
	for kind, name := range opNames {
		if name == string(b) {
			*k = kind
			return nil
		}
	}
	return wire.Usagef("unknown operation %q", b)
}

// Takes reports whether a Watch shows messages of a method. The Watch's Method lists names, one per line, in which *
// matches any characters. "" accepts all messages, including those without a method.
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

// Matches reports whether pattern matches the whole name. * matches any characters. Watches and server policies use it.
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
