// Package session opens conversations: it connects to an endpoint, records the connection, creates a peer and runs the
// handshake. It also serves the connections of a listener, and shares a request's connection with its hook. Commands
// use a Conversation, and never a peer.
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

// A Conversation is a connection as commands use it. This process or another rpcx process owns the connection.
type Conversation interface {
	// Open starts op and returns its stream, which has a single message for most calls.
	Open(ctx context.Context, op dialect.Op) (dialect.Stream, error)
	// Notify sends op without waiting for a response.
	Notify(ctx context.Context, op dialect.Op) error
	// Describe returns the peer's catalog.
	Describe(ctx context.Context) (*catalog.Catalog, error)
	// Typing returns a catalog with the schemas of method's params if the dialect's handshake or discovery provides it
	// (Spec.Params.Typed), or else nil.
	Typing(ctx context.Context, method string) (*catalog.Catalog, error)
	// Dialect returns the name of the dialect in use.
	Dialect() string
	// Event sets ev to the event for a message of a stream, as a user sees it.
	Event(m *wire.Message, ev *wire.Event) error
	// Raw returns the traffic as whole messages. It returns a usage Fault without Options.Raw.
	Raw() (relay.RawPipe, error)
	// HookFailure returns the first failure of a hook of this process (exit status 8), or nil.
	HookFailure() error
	// Done is closed at the end of the conversation.
	Done() <-chan struct{}
	// Err returns why the conversation ended, or nil before the end and after a clean end.
	Err() error
	// Settle waits until hooks have handled the received notifications, or until ctx ends.
	Settle(ctx context.Context)
	// Close ends the conversation cleanly and ends pending calls. It returns after releasing all resources.
	Close() error
}

// Options configure Open and Listen.
type Options struct {
	Transport transport.Config // without Framing, which Open sets
	Hooks     []hook.Entry
	Hook      hook.Options
	Catalog   *catalog.Catalog    // the schemas of hooks' params and results, which a server offers to clients
	Offers    *catalog.Catalog    // describes a client's hooks; sent if the dialect's handshake declares hooks
	Info      catalog.Info        // the local name, for handshakes
	Logs      string              // the lowest level of the peer's log lines for the user, or ""
	Settings  json.RawMessage     // an object with the values that the user sets in the handshake, or nil
	Resume    string              // the session to resume, or "" for a new one
	Hosting   dialect.HostOptions // for a server whose dialect has its own clock and files
	Runtime   string              // evaluates code for a server: jq, co:COMMAND, or ""
	Allow     []string            // the policy of a server: patterns of allowed methods
	Deny      []string
	Raw       bool            // the caller uses Raw, whose user answers requests without a hook
	Functions map[string]bool // the names in Hooks that are function values (key@on=NAME)
	Cache     cache.Use       // how to use the discovery cache
	Tap       wire.Tap
	Messages  wire.Record                 // sees every message, like Tap; may be nil
	Wrap      func(c wire.Conn) wire.Conn // wraps each connection; may be nil
	Record    *recorder.Recorder          // records each connection; may be nil
	Note      func(peer.Note)             // reports for the user; may be nil
	Inflight  int                         // the maximum number of pending requests of a server's connection (peer.Options.MaxInbound)
	// Client returns the Tap and the Note for a server's client of that name. Without it, all clients share Tap and
	// Note.
	Client  func(name string) (wire.Tap, func(peer.Note))
	Hurry   context.Context // see peer.Options
	Reached *relay.Client   // the connection from Reach to the process that owns the conversation; if nil, Open connects
	Shared  *Shared         // set if several processes use the conversation
	First   *dialect.Op     // the first operation of the caller, or nil. A passive operation, such as a watch, opens before any message is read, and returns the first messages
	// Bridge wraps the hooks of a server in a backend that forwards other requests to another peer. It may be nil.
	Bridge    func(hooks dialect.Backend) dialect.Backend
	Await     *Await     // how to await a peer that connects; nil unless the address must be announced
	Reconnect *Reconnect // nil if a lost connection ends the conversation
	// Own is HandshakeOptions.Own of the first connection.
	Own func(ctx context.Context) string
}

// trace returns a function that shows, with -v, how a dialect file reads messages. It returns nil without -v.
func (o Options) trace() func(text string) {
	if o.Tap == nil || o.Note == nil {
		return nil
	}
	return func(text string) { o.Note(peer.Note{Kind: peer.NoteDetail, Text: text}) }
}

// Shared configures a session, a conversation that several processes use. A session never waits for a slow process.
type Shared struct {
	Notified  func(m wire.Message) // receives every notification
	Reserve   func(id wire.ID)     // called for each parked call, in order of arrival
	Functions *relay.Functions     // the function values of those processes
}

const handshakeTimeout = 15 * time.Second

// NoiseLimit bounds the lines of a child that are not messages.
const NoiseLimit = 100

// openSocket opens the conversation behind e.Socket, and offers this process's functions on it.
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
	r.TellWork(o.Hook.Working)
	o.Transport.Watch.Tell(wire.Fact{Step: "session", Text: fmt.Sprintf("%s: process %d has the connection; rpcx uses its socket %s", e, r.PID(), e.Socket)})
	if o.Tap != nil && o.Note != nil {
		o.Note(peer.Note{Kind: peer.NoteDetail, Text: fmt.Sprintf("another process sends the messages for %s: -v shows only those that this command receives", e)})
	}
	if len(o.Hooks) > 0 {
		err = answerFunctions(r, e, o)
	}
	return r, err
}

// onlyFunctions returns a usage Fault for hooks other than function values. Such hooks belong to the connection, which
// another process owns.
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

// answerFunctions installs the responder for this process's functions.
func answerFunctions(r *relay.Client, e endpoint.Endpoint, o Options) error {
	e.Dialect = all.Default() // the dialect of the socket
	s, err := newResponder(e.Spec(), e, o, false)
	if err != nil {
		return err
	}
	s.upstream = func(dialect.Caller) relay.Backend { return r }
	r.AnswerBy(s)
	return nil
}
