// Package session opens conversations: it connects to an endpoint, records the connection, creates a peer for it and
// runs the handshake. It also serves the connections of a listener, and lets a hook use the connection of its request.
// Commands use a Conversation and never a peer.
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

// A Conversation is a connection as commands use it. Either this process or another rpcx process holds the connection.
type Conversation interface {
	// Open starts op. The answer is a stream, which has one message for most calls.
	Open(ctx context.Context, op dialect.Op) (dialect.Stream, error)
	// Notify sends op, which has no answer.
	Notify(ctx context.Context, op dialect.Op) error
	// Describe returns the peer's catalog.
	Describe(ctx context.Context) (*catalog.Catalog, error)
	// Typing returns a catalog with the schemas of the params of method, if the dialect's handshake or discovery
	// provides it (Spec.Params.Typed), or nil.
	Typing(ctx context.Context, method string) (*catalog.Catalog, error)
	// Dialect returns the name of the dialect in use.
	Dialect() string
	// Event sets ev to the event that a user sees for a message of a stream.
	Event(m *wire.Message, ev *wire.Event) error
	// Raw returns the traffic as whole messages. If Options.Raw is not set, it returns a usage Fault.
	Raw() (relay.RawPipe, error)
	// HookFailure returns the first failure of a hook of this process (exit status 8), or nil if there was none.
	HookFailure() error
	// Done is closed when the conversation has ended.
	Done() <-chan struct{}
	// Err returns the reason why the conversation ended. It returns nil before the end and after a clean end.
	Err() error
	// Settle waits until hooks have handled the received notifications, or until ctx ends.
	Settle(ctx context.Context)
	// Close ends the conversation cleanly, ends pending calls, and returns when all resources are released.
	Close() error
}

// Options configure Open and Listen.
type Options struct {
	Transport transport.Config // Framing is set by Open
	Hooks     []hook.Entry
	Hook      hook.Options
	Catalog   *catalog.Catalog    // the schemas of hooks' params and results; a server offers it to clients
	Offers    *catalog.Catalog    // describes a client's hooks; sent if the dialect's handshake declares hooks, and checked
	Info      catalog.Info        // the local name, for handshakes
	Logs      string              // the lowest level of the peer's log lines that the user reads; "" for none
	Settings  json.RawMessage     // an object with the values that the user sets in the handshake, or nil
	Resume    string              // the session to resume; "" to begin a new one
	Hosting   dialect.HostOptions // for a server whose dialect has its own clock and files
	Runtime   string              // evaluates code for a server: jq, co:COMMAND, or ""
	Allow     []string            // a server's policy, patterns of methods
	Deny      []string
	Raw       bool            // the caller will use Raw, which then answers requests without a hook
	Functions map[string]bool // the names in Hooks that are function values (key@on=NAME)
	Cache     cache.Use       // how the discovery cache is used
	Tap       wire.Tap
	Messages  wire.Record                 // sees every message of a conversation, like Tap; may be nil
	Wrap      func(c wire.Conn) wire.Conn // wraps each connection; nil to use connections unchanged
	Record    *recorder.Recorder          // records each connection; nil to record nothing
	Note      func(peer.Note)             // reports for the user; may be nil
	Inflight  int                         // for a server, the maximum number of requests of a connection (peer.Options.MaxInbound)
	// Client returns, for a server, the Tap and Note for the client of that name. If it is nil, Tap and Note above are
	// used for all clients.
	Client  func(name string) (wire.Tap, func(peer.Note))
	Hurry   context.Context // see peer.Options
	Reached *relay.Client   // the connection that Reach opened to the process that holds the conversation; if it is nil, Open opens one
	Shared  *Shared         // set if several processes use the conversation; else nil
	First   *dialect.Op     // the first operation that will be opened. If nothing is sent for it, as for a watch, it is opened before anything is read, and sees the first messages. nil if unknown
	// Bridge wraps the hooks of a server in a backend that forwards other requests to another peer. It may be nil.
	Bridge    func(hooks dialect.Backend) dialect.Backend
	Await     *Await     // how to await a peer that connects; nil if the address is not announced
	Reconnect *Reconnect // nil if a lost connection ends the conversation
	// Own is HandshakeOptions.Own of the first connection.
	Own func(ctx context.Context) string
}

// trace returns a function that shows, with -v, how a dialect file reads messages. Without -v, it returns nil.
func (o Options) trace() func(text string) {
	if o.Tap == nil || o.Note == nil {
		return nil
	}
	return func(text string) { o.Note(peer.Note{Kind: peer.NoteDetail, Text: text}) }
}

// Shared is set for a conversation that several processes use (a session). The session never waits for a slow process.
type Shared struct {
	Notified  func(m wire.Message) // receives every notification
	Reserve   func(id wire.ID)     // called for each call that will be parked, in the order of arrival
	Functions *relay.Functions     // the function values of those processes
}

const handshakeTimeout = 15 * time.Second

// NoiseLimit bounds the number of a child's output lines that are not messages.
const NoiseLimit = 100

// openSocket returns the conversation behind e.Socket, and offers the functions of this process on it.
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
		o.Note(peer.Note{Kind: peer.NoteDetail, Text: fmt.Sprintf("another process sends for %s: only messages to this command are shown", e)})
	}
	if len(o.Hooks) > 0 {
		err = answerFunctions(r, e, o)
	}
	return r, err
}

// onlyFunctions returns a usage Fault for hooks that are not function values, because other hooks belong to the
// connection, which another process holds.
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

// answerFunctions sets the responder for the functions of this process.
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
