package dialect

import (
	"context"
	"encoding/json"

	"rpcx/wire/catalog"
)

// The flows of a dialect need several messages. Each is an optional interface of
// a Codec: it is found by assertion and runs in its caller's goroutine.

// A Greeter greets the peer before anything else is sent.
type Greeter interface {
	Greet(ctx context.Context, c Caller) error
}

// HandshakeOptions say what a greeting tells the peer about us.
type HandshakeOptions struct {
	Offers *catalog.Catalog // the methods that we answer, by exact names; nil: the peer is told none
	// Functions are the names of hooks that stand for function values: the peer
	// gets them as values and cannot call them by name.
	Functions map[string]bool
	Info      catalog.Info         // who we are
	Metadata  json.RawMessage      // an object with what the user adds; nil: nothing
	Resume    string               // the session to resume: fail if that cannot be; "": begin a new one
	Last      string               // the session of the connection that was lost: resume it if possible; "": none
	Began     func(session string) // called with the peer's name for our session once it has accepted us; may be nil
	// Get asks the peer's server for a path over HTTP; nil where it has no HTTP.
	Get func(ctx context.Context, path string) ([]byte, error)
	// Own returns the method of the user's first call. If a call of the greeting has that method,
	// it and what follows it in the greeting are left to the user. Own may wait for the user, until
	// ctx ends. nil: all of the greeting is ours.
	Own func(ctx context.Context) string
}

// A JobRunner runs jobs: calls whose results come later and that may outlive the
// command that started them. op is of one of the Job kinds. What the stream says
// about a job itself (its status, the list of jobs) is data in the dialect's own
// shape, an object with "job" and "status". The error is a usage Fault for what
// the dialect cannot do.
type JobRunner interface {
	Job(ctx context.Context, c Caller, op Op) (Stream, error)
}

// A Preparer is a Codec that has to ask the peer something before it can encode some operations. If
// Prepare fails, the operation fails with its error and is not sent.
type Preparer interface {
	Prepare(ctx context.Context, c Caller, op Op) error
}

// A Describer asks the peer what it offers. It returns wire.ErrUnsupported if the
// dialect cannot ask.
type Describer interface {
	Describe(ctx context.Context, c Caller) (*catalog.Catalog, error)
}

// A Declarer is a Codec whose peer declares in its greeting which methods it answers, so that it
// need not be asked.
type Declarer interface {
	// Declared returns the catalog that describes method; nil if the greeting did not mention it.
	// The same catalog is returned until the peer declares anew.
	Declared(method string) *catalog.Catalog
}

// A SchemaProvider knows the schemas of one method's params, from the greeting or because it asks
// the peer for this method alone. Typing returns nil if nothing is known.
type SchemaProvider interface {
	Typing(ctx context.Context, c Caller, method string) (*catalog.Catalog, error)
}

// A DiscoveryCache keeps what was discovered of one peer. All members may be nil.
type DiscoveryCache struct {
	// Load returns the entry, nil if there is none.
	Load func() json.RawMessage
	// Update replaces the entry by what change makes of it; nil deletes it.
	Update func(change func(old json.RawMessage) json.RawMessage)
	Warn   func(text string) // shown to the user
	Note   func(text string) // shown with -v
}

// A JobOwner is a Codec whose jobs end with their connection.
type JobOwner interface {
	// RunningJobs returns the names of the jobs that were started on this
	// connection and are not known to be over. Shutdown cancels them.
	RunningJobs() []string
}

// A Shutdowner says goodbye before the connection is closed. It must return as soon as ctx is
// cancelled, not only when ctx's deadline has passed, because the end of the program waits for it.
type Shutdowner interface {
	Shutdown(ctx context.Context, c Caller) error
}
