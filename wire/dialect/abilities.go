package dialect

import (
	"context"
	"encoding/json"

	"rpcx/wire/catalog"
)

// Abilities are what a Codec can do beside its messages, and what is unusual about these. A nil
// function: the dialect cannot do that. The first functions are flows, which need several messages
// and run in their caller's goroutine.
type Abilities struct {
	// Greet greets the peer before anything else is sent.
	Greet func(ctx context.Context, c Caller) error
	// Prepare asks the peer what has to be known before the Eval op can be encoded. If it fails,
	// the operation fails with its error and is not sent.
	Prepare func(ctx context.Context, c Caller, op Op) error
	// Describe asks the peer what it offers. It returns wire.ErrUnsupported if the dialect cannot
	// ask.
	Describe func(ctx context.Context, c Caller) (*catalog.Catalog, error)
	// Typing returns the schemas of one method's params, from the greeting or because it asks the
	// peer for this method alone; nil if nothing is known.
	Typing func(ctx context.Context, c Caller, method string) (*catalog.Catalog, error)
	// Job runs jobs: calls whose results come later and that may outlive the command that started
	// them. op is of one of the Job kinds. What the stream says about a job itself (its status, the
	// list of jobs) is data in the dialect's own shape, an object with "job" and "status". The error
	// is a usage Fault for what the dialect cannot do.
	Job func(ctx context.Context, c Caller, op Op) (Stream, error)
	// Shutdown says goodbye before the connection is closed. It returns as soon as ctx is
	// cancelled, not only when ctx's deadline has passed, because the end of the program waits for
	// it.
	Shutdown func(ctx context.Context, c Caller) error

	// Declared returns the catalog that describes method, where the peer declares in its greeting
	// which methods it answers; nil if the greeting did not mention it. The same catalog is returned
	// until the peer declares anew.
	Declared func(method string) *catalog.Catalog
	// RunningJobs returns the names of the jobs that were started on this connection, end with it
	// and are not known to be over. Shutdown cancels them.
	RunningJobs func() []string
	// AppendCall appends to b the message that Encode returns for op, a Call, and returns the number
	// that is its id. If Encode would fail, or would do more than write the message, it does nothing
	// and ok is false. A codec with AppendCall has whole numbers as the ids of its calls, which have
	// no more than one answer: for a Call, Opened returns nil and true, whatever is answered.
	AppendCall func(b []byte, op *Op) (msg []byte, id int64, ok bool)

	RequestID string // the member that holds the id in requests; "": id
	AnswerID  string // the member that holds it in answers; "": id
	Arrays    bool   // every message is an array: no array is a batch
	// OpenEnded says that peers may answer a Subscribe in any form and send its items without naming
	// a stream. The answer then does not tell how long the subscription lasts.
	OpenEnded bool
	// Unsolicited says that the peer opens streams by itself. The end of an unknown stream must then
	// not be taken for the answer to the only pending call, unless it came in that call's own HTTP
	// exchange.
	Unsolicited bool
	// SendsCancel says that cancels are sent over HTTP as well. Without it a call over HTTP is
	// cancelled by closing its exchange.
	SendsCancel bool
}

// HandshakeOptions say what a greeting tells the peer about us.
type HandshakeOptions struct {
	Offers *catalog.Catalog // the methods that we answer, by exact names; nil: the peer is told none
	// Functions are the names of hooks that stand for function values: the peer
	// gets them as values and cannot call them by name.
	Functions map[string]bool
	Info      catalog.Info         // who we are
	Settings  json.RawMessage      // an object with what the user sets (Setting.Handshake); nil: nothing
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

// A DiscoveryCache keeps what was discovered of one peer. All members may be nil.
type DiscoveryCache struct {
	// Load returns the entry, nil if there is none.
	Load func() json.RawMessage
	// Update replaces the entry by what change makes of it; nil deletes it.
	Update func(change func(old json.RawMessage) json.RawMessage)
	Warn   func(text string) // shown to the user
	Note   func(text string) // shown with -v
}
