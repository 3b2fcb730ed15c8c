// Package session puts the pieces together: an endpoint is dialled, tapped,
// given to a peer and greeted; a listener's connections are served; a hook
// talks back on the connection that it answers. Commands hold a Conversation
// and never a peer.
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

// A Conversation is a connection as commands use it: one of this process, or one
// that another process of rpcx holds.
type Conversation interface {
	// Open starts op; its answer is a stream, of one message for most calls.
	Open(ctx context.Context, op dialect.Op) (dialect.Stream, error)
	// Notify sends op and expects no answer.
	Notify(ctx context.Context, op dialect.Op) error
	// Describe asks for what the far side offers.
	Describe(ctx context.Context) (*catalog.Catalog, error)
	// Typing is the catalog by which the params of method are typed, where the
	// dialect's greeting or its discovery tells it (Spec.TypedParams); else nil.
	Typing(ctx context.Context, method string) (*catalog.Catalog, error)
	// Dialect is the name of the dialect that is spoken.
	Dialect() string
	// Event sets ev to what a user sees of a message of a stream.
	Event(m *wire.Message, ev *wire.Event) error
	// Raw is the traffic itself. It is a usage fault where Options.Raw was not
	// set.
	Raw() (relay.RawPipe, error)
	// HookFailure is the first failure of a hook here (status 8), nil when
	// there was none.
	HookFailure() error
	// Err says why the conversation ended: nil while it lasts and when it ended
	// in good order.
	Err() error
	// Settle waits until the notifications that have come were handled by hooks,
	// no longer than until ctx ends.
	Settle(ctx context.Context)
	// Close says goodbye, ends what is pending and leaves nothing behind.
	Close() error
}

// Options configure Open and Listen.
type Options struct {
	Transport transport.Config // Framing is set by Open
	Hooks     []hook.Entry
	Hook      hook.Options
	Catalog   *catalog.Catalog    // schemas for what hooks are given and answer; and what a server tells
	Offers    *catalog.Catalog    // what is known of our hooks as a client: told where a greeting tells it, and checked
	Info      catalog.Info        // who we are, for greetings
	Metadata  json.RawMessage     // an object that a greeting carries; nil: none
	Resume    string              // the session to go on with; "": a new one
	Hosting   dialect.HostOptions // as a server, where the dialect has a clock and files of its own
	Runtime   string              // what evaluates code as a server: jq, co:COMMAND; "": nothing does
	Allow     []string            // a server's policy, patterns of methods
	Deny      []string
	Raw       bool            // Raw will be used: what no hook answers is its to answer
	Functions map[string]bool // of Hooks, those that are functions of ours (key@on=NAME), by name
	Greeting  time.Duration
	Cache     cache.Use // of what discovery found
	Tap       wire.Tap
	Messages  wire.Record                 // sees every message of a conversation, as Tap does; may be nil
	Wrap      func(c wire.Conn) wire.Conn // what uses a connection in its place; nil: it is used as it is
	Record    *recorder.Recorder          // what each connection is recorded by; nil: nothing is
	Note      func(peer.Note)             // things a user may want to know; may be nil
	Drain     time.Duration               // see peer.Options
	Inflight  int                         // as a server, the most requests of a connection: peer.Options.MaxInbound
	// Client makes, as a server, Tap and Note of one client, by its name. nil: they
	// are for all.
	Client  func(name string) (wire.Tap, func(peer.Note))
	Hurry   context.Context // see peer.Options; of a conversation
	Reached *relay.Client   // the connection that Reach made to the process that holds the conversation; nil: Open makes one
	Shared  *Shared         // where several processes use the conversation; nil elsewhere
	First   *dialect.Op     // what Open will ask for first; where nothing is sent for it, it sees what comes at once, too; nil: unknown
	// Bridge makes of what hooks answer, as a server, what a peer beside them answers,
	// too; nil: there is none.
	Bridge    func(hooks dialect.Backend) dialect.Backend
	Await     *Await     // of a peer that connects to us; nil: nobody is told where
	Reconnect *Reconnect // nil: a connection that is lost is the end
	// Own is HandshakeOptions.Own, of the first connection.
	Own func(ctx context.Context) string
}

// trace tells the user what a dialect's page makes of messages, where he looks at them;
// else it is nil.
func (o Options) trace() func(text string) {
	if o.Tap == nil || o.Note == nil {
		return nil
	}
	return func(text string) { o.Note(peer.Note{Kind: peer.NoteDetail, Text: text}) }
}

// Shared makes a conversation one that several processes use: a session's. None
// of them is waited for when it is too slow.
type Shared struct {
	Notified  func(m wire.Message) // gets every notification
	Reserve   func(id wire.ID)     // is told of each call that will be parked, in the order in which they came
	Functions *relay.Functions     // of those processes
}

const defaultGreeting = 15 * time.Second

// NoiseLimit bounds the lines that are no messages and that a child may print.
const NoiseLimit = 100
