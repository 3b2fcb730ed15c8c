// Package session opens conversations: it dials an endpoint, records the connection, creates a peer for it and runs the
// handshake; it serves the connections of a listener; and it lets a hook use the connection of its request. Commands use a
// Conversation and never a peer.
package session

import (
	"context"
	"encoding/json"
	"time"

	"rpcx/wire"
	"rpcx/wire/cache"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/hook"
	"rpcx/wire/peer"
	"rpcx/wire/session/relay"
	"rpcx/wire/tape/recorder"
	"rpcx/wire/transport"
)

// A Conversation is a connection as commands use it: one that this process has dialled, or one that
// another process of rpcx holds.
type Conversation interface {
	// Open starts op; its answer is a stream, of one message for most calls.
	Open(ctx context.Context, op dialect.Op) (dialect.Stream, error)
	// Notify sends op and expects no answer.
	Notify(ctx context.Context, op dialect.Op) error
	// Describe returns the peer's catalog.
	Describe(ctx context.Context) (*catalog.Catalog, error)
	// Typing returns the catalog with the schemas of the params of method, if the dialect's handshake or discovery provides
	// it (Spec.Params.Typed); else nil.
	Typing(ctx context.Context, method string) (*catalog.Catalog, error)
	// Dialect is the name of the dialect that is spoken.
	Dialect() string
	// Event sets ev to what a user sees of a message of a stream.
	Event(m *wire.Message, ev *wire.Event) error
	// Raw returns the traffic as whole messages. It is a usage Fault unless Options.Raw is set.
	Raw() (relay.RawPipe, error)
	// HookFailure returns the first failure of a hook of this process (exit status 8), or nil if there was none.
	HookFailure() error
	// Done is closed when the conversation has ended.
	Done() <-chan struct{}
	// Err returns why the conversation ended: nil while it lasts, and if it ended in good order.
	Err() error
	// Settle waits until hooks have handled the notifications that have come, or until ctx ends.
	Settle(ctx context.Context)
	// Close ends the conversation in order, ends pending calls, and returns when nothing of the conversation is left.
	Close() error
}

// Options configure Open and Listen.
type Options struct {
	Transport transport.Config // Framing is set by Open
	Hooks     []hook.Entry
	Hook      hook.Options
	Catalog   *catalog.Catalog    // the schemas of hooks' params and results; a server offers it to clients
	Offers    *catalog.Catalog    // describes a client's hooks: sent if the dialect's handshake declares hooks, and checked
	Info      catalog.Info        // the local name, for handshakes
	Logs      string              // the lowest level of the peer's log lines that someone reads; "" means nobody reads any
	Oldest    bool                // the handshake leaves optional calls out, unless the peer refuses it then
	Settings  json.RawMessage     // an object of what the user sets in the handshake; nil means nothing
	Resume    string              // the session to resume; "" means begin a new one
	Hosting   dialect.HostOptions // as a server, where the dialect has a clock and files of its own
	Runtime   string              // what evaluates code as a server: jq, co:COMMAND; "" means nothing does
	Allow     []string            // a server's policy, patterns of methods
	Deny      []string
	Raw       bool            // Raw will be called: it answers what no hook answers
	Functions map[string]bool // the names in Hooks that are function values (key@on=NAME)
	Greeting  time.Duration
	Cache     cache.Use // how the discovery cache is used
	Tap       wire.Tap
	Messages  wire.Record                 // sees every message of a conversation, as Tap does; may be nil
	Wrap      func(c wire.Conn) wire.Conn // wraps each connection; nil means connections are used as they are
	Record    *recorder.Recorder          // records each connection; nil means nothing is recorded
	Note      func(peer.Note)             // reports for the user; may be nil
	Drain     time.Duration               // see peer.Options
	Inflight  int                         // as a server, the most requests of a connection: peer.Options.MaxInbound
	// Client returns, for a server, the Tap and Note of the client of that name. nil: Tap and Note
	// above are used for all clients.
	Client  func(name string) (wire.Tap, func(peer.Note))
	Hurry   context.Context // see peer.Options; of a conversation
	Reached *relay.Client   // the connection that Reach made to the process that holds the conversation; nil: Open makes one
	Shared  *Shared         // set if several processes use the conversation; else nil
	First   *dialect.Op     // the first operation that will be opened: if nothing is sent for it, as for a watch, it is opened before anything is read, and sees the first messages. nil: unknown
	// Bridge wraps the hooks of a server in a backend that forwards what they do not answer to another peer, or nil if
	// there is none.
	Bridge    func(hooks dialect.Backend) dialect.Backend
	Await     *Await     // how to await a peer that connects; nil means without announcing the address
	Reconnect *Reconnect // nil means a connection that is lost is the end
	// Own is HandshakeOptions.Own, of the first connection.
	Own func(ctx context.Context) string
}

// trace returns a function that shows with -v how a dialect file reads messages; nil without -v.
func (o Options) trace() func(text string) {
	if o.Tap == nil || o.Note == nil {
		return nil
	}
	return func(text string) { o.Note(peer.Note{Kind: peer.NoteDetail, Text: text}) }
}

// Shared is for a conversation that several processes use, a session. The session waits for none of
// them that is too slow.
type Shared struct {
	Notified  func(m wire.Message) // gets every notification
	Reserve   func(id wire.ID)     // is called for each call that will be parked, in the order in which they came
	Functions *relay.Functions     // of those processes
}

const defaultGreeting = 15 * time.Second

// NoiseLimit bounds the lines of a child that are not messages.
const NoiseLimit = 100
