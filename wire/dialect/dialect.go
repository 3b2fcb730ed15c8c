// Package dialect holds the interfaces that a dialect fills: a Codec, which
// turns operations into messages and messages into events; Flows, which need
// several messages; and a Server, which is the dialect's other side.
//
// A new dialect is one folder below this one and one row in session's table.
//
// How two dialects that are unlike JSON-RPC fill them. HotRepl's host: its
// Server holds the one client it has (Accept of a second says session_evicted
// through the first Caller and closes it), the frame queue and the job table;
// Accept sends the handshake with Caller.Notify; a request's Method is its
// "type"; Reply writes "<type>_result" or "<type>_error" for a Data or Failure
// event of that request, and items that carry the request's id, so a
// subscription's Stream is its request's ID. Introspect: Opened finds the
// subscription's token in the first response, Decode makes an Item with that
// Stream of every notification that names a subscription, Final where its
// payload is done, and Event turns progress, guidance and data payloads into
// events.
package dialect

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
)

// An OpKind is what a user wants done.
type OpKind uint8

// The operations. A codec answers wire.ErrUnsupported for those that its
// dialect does not have.
const (
	Call      OpKind = iota // one request, one answer (or a stream, where the dialect's calls stream)
	Notify                  // a request that wants no answer
	Subscribe               // a request whose answer opens a stream
	Cancel                  // asks the far side to give up Of, a request that is pending
	Unsub                   // asks the far side to end Stream, which Of opened
	Raw                     // Params is the whole message, sent as it stands
	Watch                   // sends nothing: every message that comes in, or those of Method
	Eval                    // Code is evaluated
	Own                     // a message in the dialect's own words, for its flows: Method is one of them and no user's name
	JobRun                  // the job Method is started, and waited for: see Jobber, as for those that follow
	JobStart                // it is started; the one answer says what Job it is
	JobStatus               // the one answer says how Job stands
	JobWait                 // what comes of Job until it is over
	JobCancel               // Job is given up
	JobList                 // the jobs that are known
)

// An Op is one operation.
type Op struct {
	Kind        OpKind
	Method      string
	Params      json.RawMessage   // nil: none
	Code        string            // of Eval
	Job         string            // of JobStatus, JobWait and JobCancel: which
	Funcs       map[string]string // JSON pointer inside Params → name of the hook that answers it
	Known       *catalog.Catalog  // describes hooks that Funcs names; nil: nothing is known of them
	Of          *Op               // the operation that a Cancel or Unsub ends
	OfID        wire.ID           // the id of that operation's request
	Stream      wire.ID           // the stream that an Unsub ends
	Unsubscribe string            // how the stream is ended, where the user said it; "": derived from Method
	Extra       json.RawMessage   // members that only this dialect knows (an object); nil: none
	Nested      bool              // a hook of this connection asks: it must not wait for what waits for it
	Since       *int64            // of a Watch in a session: what its ring holds after that number, and goes on; nil: none
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
	// Event is what a user sees of m. It keeps m's bytes, does not allocate for
	// plain data, and may be called from any goroutine.
	Event(m wire.Message) (wire.Event, error)
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

// A Caller is what flows and servers may do on a connection. A peer satisfies
// it.
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

// A Teller is a Caller that shows the user what belongs to no call.
type Teller interface {
	Tell(ev wire.Event)
}

// A Bystander is a codec whose far side sends streams that nobody of ours asked
// for: one that comes to its end is not the answer to the one call that waits,
// unless it comes in that call's own exchange.
type Bystander interface {
	// Bystander is only a mark.
	Bystander()
}

// A Follower is a codec that has Subscribes for which nothing is sent: they
// follow what the far side sends by itself, from the moment they are opened.
type Follower interface {
	// Follows says that op is one.
	Follows(op Op) bool
}

// A Handler answers the far side. For each request, Handle runs in its own
// goroutine: it may block, call back and emit events before it returns.
// Notifications come one at a time, in order.
type Handler interface {
	Handle(ctx context.Context, in *Inbound) (json.RawMessage, error)
	// Close ends what the handler keeps for its connection.
	Close() error
}

// An Inbound is one request or notification of the far side.
type Inbound struct {
	Msg  wire.Message // cloned; it may be kept
	Emit func(wire.Event) error
	// Answered says that the events emitted were the whole answer: what Handle
	// returns is then dropped. A stream's handler sets it.
	Answered bool
}

// Flows: what needs several messages. Optional interfaces of a Codec, found by
// assertion, run in the caller's goroutine on a Caller.

// A Greeter greets before anything else is sent.
type Greeter interface {
	Greet(ctx context.Context, c Caller) error
}

// An Introducer is told, before it greets, what is to be said of us.
type Introducer interface {
	Introduce(i Introduction)
	// Session is what the far side calls our session, after the greeting; "":
	// nothing.
	Session() string
}

// An Introduction is what a greeting says of us, where a dialect's does.
type Introduction struct {
	Offers *catalog.Catalog // what we answer, by exact names; nil: nothing is told
	// Functions are hooks that are function values: nobody calls them by name.
	Functions map[string]bool
	Info      catalog.Info    // who we are
	Metadata  json.RawMessage // an object of what the user adds; nil: nothing
	Resume    string          // the session to go on with, and no other; "": any
	Last      string          // the session that was lost with its connection: it is gone on with where that can be; "": none
}

// A Jobber works on jobs: calls whose results come later, and that may outlive
// the command that started them. op is of one of the Job kinds. What a stream
// says of a job by itself (how it stands, which there are) is data of the
// dialect's, an object with "job" and "status". It returns a usage Fault for
// what the dialect cannot do.
type Jobber interface {
	Job(ctx context.Context, c Caller, op Op) (Stream, error)
}

// A Rehearser counts the messages of its greeting, so that what is encoded next
// has the id that it would have after it.
type Rehearser interface{ Rehearse() }

// A Describer asks the far side for what it offers. It returns
// wire.ErrUnsupported where the dialect cannot ask.
type Describer interface {
	Describe(ctx context.Context, c Caller) (*catalog.Catalog, error)
}

// A Typer knows by which schemas the params of a method are typed, from the
// greeting or by asking. It returns nil where nothing is known.
type Typer interface {
	Typing(ctx context.Context, c Caller, method string) (*catalog.Catalog, error)
}

// A Keeper is a codec whose discovery is kept from one conversation to the next.
type Keeper interface {
	// Keep is called before anything is sent.
	Keep(k Kept)
}

// Kept is where a Keeper keeps what it found of one far side, and whom it tells.
// All members may be nil.
type Kept struct {
	// Load returns what was kept; nil: nothing.
	Load func() json.RawMessage
	// Update replaces what is kept by what change makes of it; nil forgets it.
	Update func(change func(old json.RawMessage) json.RawMessage)
	Warn   func(text string) // a user should know
	Note   func(text string) // for those who look closely (-v)
}

// A Leaver says goodbye before the connection is closed. Whatever bounds it has
// of its own, it ends when ctx is cancelled, which is more than a deadline that
// has passed: somebody waits.
type Leaver interface {
	Leave(ctx context.Context, c Caller) error
}

// A Server is a dialect's other side, shared by all connections of a listener:
// what outlives one connection lives in it. It may own goroutines, which end in
// Close.
type Server interface {
	// Accept returns the handler for one connection.
	Accept(c Caller) Handler
	Close() error
}

// A Backend is what answers, in the terms of no dialect. wire/serve gives it.
type Backend interface {
	// Catalog is what we offer; nil when we tell nobody (a client's role).
	Catalog() *catalog.Catalog
	// Bind returns the responder for one connection; c leads back to its far
	// side.
	Bind(c Caller) Responder
}

// An Evaluator is a Backend that may have a Runtime, which is nil where it has
// none.
type Evaluator interface {
	Runtime() Runtime
}

// A Hoster is a Backend that says how a host runs that has a clock and files of
// its own.
type Hoster interface {
	Hosting() Hosting
}

// Hosting is what a user says of such a host. The zero value is usable.
type Hosting struct {
	Frame     time.Duration // how long a simulated frame is; 0: the dialect's usual one
	Artifacts string        // the folder in which hooks write files for clients; "": one of the host's own

	MaxMessage int // the greatest message that the connection lets through; 0: not known
}

// A Reloader is a Server that can be told that what it is made of was loaded
// again.
type Reloader interface {
	Reload()
}

// A Completer is a Runtime that knows names that code can use.
type Completer interface {
	Completions() []string
}

// A Runtime evaluates code, in sessions that know nothing of each other. Any
// number of sessions may evaluate at once; of one session the caller lets one
// evaluation run at a time.
type Runtime interface {
	// Eval returns the value of e.Code. A failure is a *wire.Error where the far
	// side should get it as it stands, an *EvalError where the code is at fault.
	// When ctx ends it returns soon.
	Eval(ctx context.Context, e Evaluation) (json.RawMessage, error)
	// Forget drops the state of a session.
	Forget(session string)
	// About is what is told of it: its language and its engine.
	About() map[string]string
	Close() error
}

// An Evaluation is one piece of code.
type Evaluation struct {
	Session string
	Code    string
	Names   []string // what the code can invoke by name
	// Invoke calls what the code names; it may be called by several goroutines.
	Invoke func(ctx context.Context, name string, input json.RawMessage) (json.RawMessage, error)
	// Function makes a function value of a name that Invoke takes. May be nil.
	Function func(name string) json.RawMessage
	// Printed gets what the code prints, where the runtime can tell. May be nil.
	Printed io.Writer
}

// An EvalError is how code failed.
type EvalError struct {
	Kind    string // "": the dialect's word for it
	Message string
	Stack   string      // "": none
	Compile bool        // it never ran: it is no code of the runtime's language
	Cause   *wire.Error // what an invoke was answered with, where that ended the evaluation; else nil
}

// Error is the message.
func (e *EvalError) Error() string { return e.Message }

// A Responder answers the requests of one connection.
type Responder interface {
	// Kind says how method is answered; false when nothing answers it.
	Kind(method string) (catalog.Kind, bool)
	// Respond answers one request. Where r.Stream is true the events go to
	// r.Emit and the result is dropped. A failure is a *wire.Error where it
	// should reach the far side as it stands.
	Respond(ctx context.Context, r Request) (json.RawMessage, error)
	Close() error
}

// A Request is one call of the far side.
type Request struct {
	Method       string
	Params       json.RawMessage // nil: none
	ID           wire.ID         // nil for a notification
	Notification bool
	Stream       bool                   // the method streams: every output is an event
	Emit         func(wire.Event) error // never nil for a stream; may be nil elsewhere
	Vars         map[string]string      // further RPCX_ variables for a command
	// Input makes of params, checked, what a hook gets; nil: the params.
	Input func(params json.RawMessage) json.RawMessage
	// Begin is called when policy and schemas have let the request pass, before
	// anything runs; its error is the answer. May be nil.
	Begin func() error
}

// ByPolicy is the Kind of an error with which a Responder refuses what its
// policy does not allow.
const ByPolicy = "policy"
