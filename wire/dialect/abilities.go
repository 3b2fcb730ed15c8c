package dialect

import (
	"context"
	"encoding/json"

	"rpcx/wire/catalog"
)

// Abilities are what a Codec can do beside messages, and properties of these. A nil function: the dialect cannot do that.
// The first functions are flows, which need several messages and run in their caller's goroutine.
type Abilities struct {
	// Greet runs the handshake, before anything else is sent.
	Greet func(ctx context.Context, c Caller) error
	// Prepare asks the peer for what the Eval op needs before it can be encoded. If it fails, the operation fails with its
	// error and is not sent.
	Prepare func(ctx context.Context, c Caller, op Op) error
	// Describe reads the peer's catalog. It returns wire.ErrUnsupported if the dialect has no request for that.
	Describe func(ctx context.Context, c Caller) (*catalog.Catalog, error)
	// Typing returns the schemas of one method's params, from the handshake or because it asks the peer for this method
	// alone, or nil if they are unknown.
	Typing func(ctx context.Context, c Caller, method string) (*catalog.Catalog, error)
	// Job runs jobs: calls whose results come later and that may outlive the command that started them. op is of one of the
	// Job kinds. The stream's items about a job itself (its status, the list of jobs) are data in the dialect's own form, an
	// object with "job" and "status". The error is a usage Fault for what the dialect cannot do.
	Job func(ctx context.Context, c Caller, op Op) (Stream, error)
	// Shutdown says goodbye before the connection is closed. It returns as soon as ctx is
	// cancelled, not only when ctx's deadline has passed, because the end of the program waits for
	// it.
	Shutdown func(ctx context.Context, c Caller) error

	// Declared returns the catalog that describes method, if the peer declares in its handshake which methods it
	// answers, or nil if the handshake does not contain it. The same catalog is returned until the peer declares anew.
	Declared func(method string) *catalog.Catalog
	// RunningJobs returns the names of the jobs that were started on this connection, end with it
	// and are not known to be over. Shutdown cancels them.
	RunningJobs func() []string
	// AppendCall appends to b the message that Encode returns for op, a Call, and returns the number
	// that is its id. If Encode would fail, or would do more than write the message, it does nothing
	// and ok is false. A codec with AppendCall has whole numbers as the ids of its calls, which have
	// no more than one answer: for a Call, Opened returns nil and true, whatever is answered.
	AppendCall func(b []byte, op *Op) (msg []byte, id int64, ok bool)

	RequestID string // the member that holds the id in requests; "" means id
	AnswerID  string // the member that holds it in answers; "" means id
	Arrays    bool   // every message is an array: no array is a batch
	// OpenEnded reports that peers may answer a Subscribe in any form and send its items without naming a stream. The
	// response then does not show how long the subscription lasts.
	OpenEnded bool
	// Unsolicited reports that the peer opens streams by itself. The end of an unknown stream is then not taken for the
	// response to the only pending call, unless it came in that call's own HTTP exchange.
	Unsolicited bool
	// SendsCancel reports that cancels are sent over HTTP as well. Without it a call over HTTP is cancelled by closing its
	// exchange.
	SendsCancel bool
}

// HandshakeOptions are the local description in a handshake.
type HandshakeOptions struct {
	Offers *catalog.Catalog // the methods that the local side answers, by exact names, or nil
	// Functions are the names of hooks that stand for function values: the peer
	// gets them as values and cannot call them by name.
	Functions map[string]bool
	Info      catalog.Info         // the local name and version
	Settings  json.RawMessage      // an object with what the user sets (Setting.Handshake); nil means nothing
	Resume    string               // the session to resume: fail if that cannot be; "" means begin a new one
	Last      string               // the session of the connection that was lost: resume it if possible, or ""
	Began     func(session string) // called with the peer's session id when it has accepted the handshake; may be nil
	// Get sends an HTTP GET for a path to the peer's server; nil if it has no HTTP.
	Get func(ctx context.Context, path string) ([]byte, error)
	// Own returns the method of the user's first call. If a call of the handshake has that method, it and the following
	// steps are left to the user. Own may wait for the user, until ctx ends. nil: the whole handshake is automatic.
	Own func(ctx context.Context) string
}

// A DiscoveryCache keeps what was discovered of one peer. All members may be nil.
type DiscoveryCache struct {
	// Load returns the entry, nil if there is none.
	Load func() json.RawMessage
	// Update replaces the entry by the result of change; nil deletes it.
	Update func(change func(old json.RawMessage) json.RawMessage)
	Warn   func(text string) // shown to the user
	Note   func(text string) // shown with -v
}
