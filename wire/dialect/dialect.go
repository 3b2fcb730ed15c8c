// Package dialect holds the interfaces that a dialect implements: a Codec, which
// turns operations into messages and messages into events; flows, which need
// several messages; and a Server, which answers as the dialect's other side.
//
// A new dialect is one folder below this one and its line in the table,
// wire/dialect/all.
//
// How two dialects that are unlike JSON-RPC fill them. HotRepl's host: its Server
// holds the one client it has (Accept of a second says session_evicted through the
// first Caller and closes it), the frame queue and the job table; Accept sends the
// handshake with Caller.Notify; a request's Method is its "type"; Reply writes
// "<type>_result" or "<type>_error" for a Data or Failure event of that request,
// and items that carry the request's id, so a subscription's Stream is its
// request's ID. Introspect: Opened finds the subscription's token in the first
// response, Decode makes an Item with that Stream of every notification that names
// a subscription, Final where its payload is done, and Event turns progress,
// guidance and data payloads into events.
package dialect

import (
	"context"
	"encoding/json"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
)

// An OpKind says what an operation does.
type OpKind uint8

// The operations. A codec answers wire.ErrUnsupported for those that its
// dialect does not have.
const (
	Call        OpKind = iota // one request, one answer (or a stream, where the dialect's calls stream)
	Notify                    // a request that wants no answer
	Subscribe                 // a request whose answer opens a stream
	Cancel                    // asks the far side to give up Of, a request that is pending
	Unsubscribe               // asks the far side to end Stream, which Of opened
	Raw                       // Params is the whole message, sent as it stands
	Watch                     // sends nothing: every message that comes in, or those of Method
	Eval                      // Code is evaluated
	Internal                  // a message of the dialect's own flows: Method is a word of the protocol, never a user's
	JobRun                    // the job Method is started, and waited for: see JobRunner, as for those that follow
	JobStart                  // it is started; the one answer says what Job it is
	JobStatus                 // the one answer says how Job stands
	JobWait                   // what comes of Job until it is over
	JobCancel                 // Job is given up
	JobList                   // the jobs that are known
)

// An Op is one operation.
type Op struct {
	Kind        OpKind
	Method      string            // of a Watch: see Takes
	Params      json.RawMessage   // nil: none
	Code        string            // of Eval
	Job         string            // of JobStatus, JobWait and JobCancel: which
	Funcs       map[string]string // JSON pointer inside Params → name of the hook that answers it
	Known       *catalog.Catalog  // describes hooks that Funcs names; nil: nothing is known of them
	Of          *Op               // the operation that a Cancel or Unsub ends
	OfID        wire.ID           // the id of that operation's request
	Stream      wire.ID           // the stream that an Unsub ends
	Unsubscribe string            // how the stream is ended, where the user said it; "": derived from Method
	// UnsubscribeParams are the params of Unsubscribe, where the user said them too.
	UnsubscribeParams json.RawMessage
	// Lasting says of a Subscribe that the user waits for more than its answer: one that
	// names no stream is its first item then, and not its end (see OpenEnded).
	Lasting bool
	// Beside, of a Watch of some methods and a Subscribe alike, has the Watch show the
	// answer to the Subscribe, too, unless it only names a stream. "": it does not.
	Beside string
	Extra  json.RawMessage // members that only this dialect knows (an object); nil: none
	Nested bool            // a hook of this connection asks: it must not wait for what waits for it
	About  wire.ID         // the far side's request in whose answering this is said; nil: none is known
	Since  *int64          // of a Watch in a session: what its ring holds after that number, and goes on; nil: none
	// Answer, of a Raw op, gets its answers in place of peer.Options.Incoming: on
	// the reader's goroutine, in their place among all that comes in. May be nil.
	Answer func(m wire.Message)
	// Items, of a Subscribe, gets the items in place of the stream, which then has
	// its response and its end alone: on the reader's goroutine and under the
	// peer's lock, so it must neither wait nor call back. m may be kept. May be nil.
	Items func(m wire.Message)
}

// FreshID is the method of a Call that is encoded for its id alone: a Raw
// message is sent under it, whose own id is taken.
const FreshID = "\x00fresh"

// A Codec turns operations into messages and messages into events, for one
// connection and one role. It does no I/O, starts nothing and calls nobody
// back; the peer calls it under its lock, but for Event.
type Codec interface {
	// Encode returns the message that asks for op: Raw, and ID when an answer
	// will come; Final says that its first response is its only answer, so that no
	// item can be its. For a Cancel or Unsub that the dialect cannot say it returns
	// wire.ErrUnsupported, and the peer then only forgets the call. Ids are the
	// codec's: unique on this connection. A message with a Stream and no Raw says
	// that nothing is to be sent: the op follows that stream, among others who do, and
	// its first message is an answer of null.
	Encode(op Op) (wire.Message, error)
	// Decode returns the messages in raw; batch says that they came as one
	// batch, whose answers go back as one. The slice and the messages are valid
	// until the next Decode, as long as raw is. An error ends the connection, after
	// the messages that come with it; what can be answered comes as an Invalid
	// message instead.
	Decode(raw []byte) (msgs []wire.Message, batch bool, err error)
	// Opened says what a response (without error) to a Subscribe or Call op
	// means: the stream that it opens, nil when none; and whether the call is
	// over with it. Items may also come with the request's own id.
	Opened(op Op, resp wire.Message) (stream wire.ID, final bool)
	// Reply returns the messages that carry one event of the answer to req:
	// none, one or several.
	Reply(req wire.Message, ev wire.Event) ([][]byte, error)
	// JoinBatch makes one message of the answers to a batch.
	JoinBatch(replies [][]byte) []byte
	// Event sets ev to what a user sees of m. It keeps m's bytes, does not allocate for
	// plain data, and may be called from any goroutine.
	Event(m *wire.Message, ev *wire.Event) error
}

// EventOf returns what a user sees of m, which a Codec or a conversation knows. Where
// there are many, Event is given memory that is used again.
func EventOf(c eventer, m wire.Message) (ev wire.Event, err error) {
	err = c.Event(&m, &ev)
	return ev, err
}

type eventer interface {
	Event(m *wire.Message, ev *wire.Event) error
}

// A Stream is the answer to an operation: messages until io.EOF.
type Stream interface {
	// Next returns the next message, valid until the following Next; io.EOF
	// after the final one. When ctx ends it returns ctx's error, and the stream
	// can go on being read.
	Next(ctx context.Context) (wire.Message, error)
	// Cancel tells the far side that nobody wants the rest, where the dialect
	// can say so, and forgets the stream. It is bounded by ctx and may be called
	// after the end, when it does nothing.
	Cancel(ctx context.Context) error
}

// A Finisher is a Stream that can be left without a loss: after Finish it takes in nothing
// more, and Next returns what has come by then, then io.EOF. The far side is told nothing,
// so that it is for a Watch.
type Finisher interface {
	Finish(ctx context.Context) error
}

// Finish leaves st without a loss where it is a Finisher; else it is cancelled.
func Finish(ctx context.Context, st Stream) error {
	if f, ok := st.(Finisher); ok {
		return f.Finish(ctx)
	}
	return st.Cancel(ctx)
}

// CancelTimeout bounds how long telling the far side that a stream is cancelled may
// take.
const CancelTimeout = 2 * time.Second

// CancelAnyway cancels st even where ctx has ended, within CancelTimeout.
func CancelAnyway(ctx context.Context, st Stream) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), CancelTimeout)
	defer cancel()
	_ = st.Cancel(ctx)
}

// A Caller lets flows and servers send on a connection. *peer.Peer is one.
type Caller interface {
	// Open starts op and returns its answer.
	Open(ctx context.Context, op Op) (Stream, error)
	// Call is Open of a Call and its one result. An error that the far side
	// answered is a *wire.Error.
	Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
	// Notify sends op and expects nothing.
	Notify(ctx context.Context, op Op) error
	// CloseWith ends the connection with a code and a reason, where its
	// transport has them.
	CloseWith(code int, reason string) error
}

// A Warner is a Caller that can warn the user of what no call fails with.
type Warner interface {
	Warn(text string)
}

// A Notifier is a Caller that can show the user an event that belongs to no call.
type Notifier interface {
	Tell(ev wire.Event)
}

// UnsolicitedStreams marks a Codec whose peer opens streams by itself: when a
// stream that is not known ends, that must not be taken as the answer to the only
// pending call, unless it came in that call's own exchange.
type UnsolicitedStreams interface {
	// UnsolicitedStreams does nothing.
	UnsolicitedStreams()
}

// CancelSender marks a Codec whose cancels are sent over HTTP, too, where all others only
// hang up.
type CancelSender interface {
	// SendsCancel does nothing.
	SendsCancel()
}

// An IDNamer is a Codec whose messages may hold ids in other members than "id".
type IDNamer interface {
	// IDMembers returns the members that hold the id in requests and in answers.
	IDMembers() (request, answer string)
}

// ArrayMessages is a Codec one message of which may be an array.
type ArrayMessages interface {
	// ArrayMessages reports whether every message is one: then none is several.
	ArrayMessages() bool
}

// OpenEnded marks a Codec whose peers may answer a Subscribe in any form and
// send its items without naming a stream, so that the answer does not say how
// long the subscription lasts.
type OpenEnded interface {
	// OpenEnded does nothing.
	OpenEnded()
}

// A Handler answers the peer's requests, each in a goroutine of its own: Handle
// may block, call back and emit events before it returns. Notifications are
// handed over one at a time, in order.
type Handler interface {
	Handle(ctx context.Context, in *Inbound) (json.RawMessage, error)
	// Close releases what the handler holds for its connection.
	Close() error
}

// An Ignorer is a Handler that knows, without waiting and whoever holds a lock, that it
// would answer notifications of a method with "method not found". They are not handed
// over then.
type Ignorer interface {
	// Ignores is called by one goroutine at a time.
	Ignores(method string) bool
}

// An Inbound is one request or notification from the peer.
type Inbound struct {
	Msg  wire.Message // cloned; it may be kept
	Emit func(wire.Event) error
	// Order is greater in what came later on the connection: requests are handled beside each
	// other, so that one may be begun behind a notification that came after it.
	Order uint64
	// Answered is set by a handler whose events were the whole answer, such as a
	// stream's: the result of Handle is then dropped.
	Answered bool
}
