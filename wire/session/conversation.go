// Package session opens conversations: it connects to an endpoint, records the connection, creates a peer, and runs the
// handshake. It also serves the connections of a listener, and lets a hook use the connection on which its request
// arrived. Commands use a Conversation and never use a peer directly.
package session

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"rpcx/wire"
	"rpcx/wire/cache"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
	"rpcx/wire/hook"
	"rpcx/wire/peer"
	"rpcx/wire/session/relay"
	"rpcx/wire/tape/recorder"
	"rpcx/wire/transport"
)

// A Conversation is a connection as commands use it. The connection belongs to this process or to another rpcx process.
type Conversation interface {
	// Open starts op and returns its stream, which consists of a single message for most calls.
	Open(ctx context.Context, op dialect.Op) (dialect.Stream, error)
	// Notify sends op without waiting for a response.
	Notify(ctx context.Context, op dialect.Op) error
	// Describe returns the peer's catalog.
	Describe(ctx context.Context) (*catalog.Catalog, error)
	// Typing returns a catalog with the schemas of method's params, if the dialect's handshake or discovery provides it
	// (Spec.Params.Typed). Otherwise it returns nil.
	Typing(ctx context.Context, method string) (*catalog.Catalog, error)
	// Dialect returns the name of the dialect in use.
	Dialect() string
	// Event sets ev to the event that a message of a stream contains.
	Event(m *wire.Message, ev *wire.Event) error
	// Raw gives access to the traffic as whole messages. It returns a usage Fault without Options.Raw.
	Raw() (relay.RawPipe, error)
	// HookFailure returns the first failure of a hook in this process (exit status 8), or nil.
	HookFailure() error
	// Done is closed when the conversation has ended.
	Done() <-chan struct{}
	// Err returns why the conversation ended. It returns nil before the end, and after a clean end.
	Err() error
	// Settle waits until hooks have handled the received notifications, or until ctx ends.
	Settle(ctx context.Context)
	// Close ends pending calls and closes the conversation cleanly. It returns when all resources have been released.
	Close() error
}

// Options configure Open and Listen.
type Options struct {
	Transport transport.Config // without Framing, which is set by Open
	Hooks     []hook.Entry
	Hook      hook.Options
	Catalog   *catalog.Catalog    // the schemas of the hooks' params and results, which a server offers to clients
	Offers    *catalog.Catalog    // describes a client's hooks; sent if the dialect declares hooks in its handshake
	Info      catalog.Info        // how rpcx describes itself in handshakes
	Logs      string              // the lowest level of log messages from the peer that the user sees, or ""
	Settings  json.RawMessage     // an object with the values that the user sets for the handshake, or nil
	Resume    string              // the session to resume, or "" for a new one
	Hosting   dialect.HostOptions // for a server whose dialect has its own clock and files
	Runtime   string              // evaluates code on a server: jq, co:COMMAND, or ""
	Allow     []string            // a server's policy: patterns of allowed methods
	Deny      []string
	Raw       bool            // the caller uses Raw, and its user answers requests without a hook
	Functions map[string]bool // those names in Hooks that are function values (key@on=NAME)
	Cache     cache.Use       // how to use the discovery cache
	Tap       wire.Tap
	Messages  wire.Record                 // receives every message, like Tap; may be nil
	Wrap      func(c wire.Conn) wire.Conn // wraps each connection; may be nil
	Record    *recorder.Recorder          // records each connection; may be nil
	Note      func(peer.Note)             // receives reports for the user; may be nil
	Inflight  int                         // the maximum number of pending requests on a connection of a server (peer.Options.MaxInbound)
	// Client returns the Tap and the Note for the client with that name. If it is nil, all clients share Tap and Note.
	Client  func(name string) (wire.Tap, func(peer.Note))
	Hurry   context.Context // see peer.Options
	Reached *relay.Client   // the connection that relay.Dial made to the process that owns the conversation; if nil, Open connects
	Shared  *Shared         // set if several processes share the conversation
	First   *dialect.Op     // the caller's first operation, or nil. A passive operation, such as a watch, is opened before any message is read, so it receives the first messages
	// Bridge wraps a server's hooks in a backend that forwards all other requests to another peer. It may be nil.
	Bridge    func(hooks dialect.Backend) dialect.Backend
	Await     *Await     // how to wait for a peer that connects; nil if the address need not be announced
	Reconnect *Reconnect // nil if the conversation ends when its connection is lost
	// Resend is peer.Options.Resend after the handshake.
	Resend func(ctx context.Context, attempt func() error) error
	// Own is HandshakeOptions.Own for the first connection.
	Own func(ctx context.Context) string
}

// trace returns a function that reports, with -v, how a dialect file interprets messages. It returns nil without -v.
func (o Options) trace() func(text string) {
	if o.Tap == nil || o.Note == nil {
		return nil
	}
	return func(text string) { o.Note(peer.Note{Kind: peer.NoteDetail, Text: text}) }
}

// Shared configures a session, which is a conversation that several processes use. A session never waits for a slow
// process.
type Shared struct {
	Notified  func(m wire.Message) // receives every notification
	Reserve   func(id wire.ID)     // called for each call that will be parked, in order of arrival
	Functions *relay.Functions     // the function values that those processes have
}

const handshakeTimeout = 15 * time.Second

// NoiseLimit is how many lines of a child's output may be something other than messages.
const NoiseLimit = 100

// openSocket opens the conversation behind e.Socket, and offers the functions of this process there.
func openSocket(ctx context.Context, e endpoint.Endpoint, o Options) (_ *relay.Client, err error) {
	if err := o.onlyFunctions(e); err != nil {
		return nil, err
	}
	r := o.Reached
	if r == nil {
		if r, err = relay.Dial(ctx, e); err != nil {
			return nil, err
		}
	}
	r.ShowTo(o.Tap)
	r.OnWork(o.Hook.Working)
	o.Transport.Watch.Tell(wire.Fact{Step: "session", Text: fmt.Sprintf("%s: process %d owns the connection; rpcx uses its socket %s", e, r.PID(), e.Socket)})
	if o.Tap != nil && o.Note != nil {
		o.Note(peer.Note{Kind: peer.NoteDetail, Text: fmt.Sprintf("another process sends the messages for %s: -v shows only those that this command receives", e)})
	}
	if len(o.Hooks) > 0 {
		err = answerFunctions(r, e, o)
	}
	return r, err
}

// onlyFunctions returns a usage Fault if there are hooks other than function values. Other hooks belong to the
// connection, which another process owns.
func (o Options) onlyFunctions(e endpoint.Endpoint) error {
	for _, h := range o.Hooks {
		if !o.Functions[h.Pattern] {
			f := wire.Usagef("hooks do not apply to %s: another process owns the connection", e)
			if e.Session != "" {
				f.Hint = "give --on when you open the session: rpcx connect ENDPOINT --session " + e.Session + " --on …"
			}
			return f
		}
	}
	return nil
}

// answerFunctions installs a responder for the functions of this process.
func answerFunctions(r *relay.Client, e endpoint.Endpoint, o Options) error {
	e.Dialect = all.Default() // the dialect on the socket
	s, err := newResponder(e.Spec(), e, o, false)
	if err != nil {
		return err
	}
	s.upstream = func(dialect.Caller) relay.Backend { return r }
	r.AnswerBy(relay.Answerer{Accept: s.Accept, Failure: s.Failure, Close: s.Close})
	return nil
}
