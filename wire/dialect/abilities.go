package dialect

import (
	"context"
	"encoding/json"
	"errors"

	"rpcx/wire/catalog"
)

// Abilities are the optional functions of a Codec and the properties of its messages. If a function is nil, the dialect
// lacks that ability. The functions before CommonParams are flows: they exchange several messages and run in their
// caller's goroutine.
type Abilities struct {
	// Handshake runs the handshake before any other message is sent.
	Handshake func(ctx context.Context, c Caller) error
	// Prepare asks the peer for the data that the codec needs to encode the Eval op. If Prepare fails, the operation
	// fails with the same error and is not sent.
	Prepare func(ctx context.Context, c Caller, op Op) error
	// PrepareCall asks the peer for the data that the codec needs to encode a Call. If PrepareCall fails, the Call
	// fails.
	PrepareCall func(ctx context.Context, c Caller, op Op) error
	// Describe reads the peer's catalog. It returns wire.ErrUnsupported if the dialect has no request for the catalog.
	Describe func(ctx context.Context, c Caller) (*catalog.Catalog, error)
	// Typing returns the schemas of the params of one method, from the handshake or from a request for this method
	// only. It returns nil if they are unknown.
	Typing func(ctx context.Context, c Caller, method string) (*catalog.Catalog, error)
	// Job runs jobs, which are calls whose results arrive later and that may outlive the command that started them.
	// op.Kind is one of the Job kinds. The stream's items about a job itself (its status, the list of jobs) are data in
	// the dialect's own form, an object with "job" and "status". The error is a usage Fault for operations that the
	// dialect does not support.
	Job func(ctx context.Context, c Caller, op Op) (Stream, error)
	// Continue returns the stream of a Call whose responses may be interim (wire.Message.Interim), so that further messages
	// lead to its result. st is the stream of the first message, and ctx is the context passed to Caller.Open.
	Continue func(ctx context.Context, c Caller, op Op, st Stream) Stream
	// Shutdown sends the closing messages before the connection is closed. It returns as soon as ctx is cancelled, even
	// before ctx's deadline, because the end of the program waits for it.
	Shutdown func(ctx context.Context, c Caller) error

	// CommonParams adds the params that the dialect sends in each request to the params of a local request.
	CommonParams func(method string, params json.RawMessage) (json.RawMessage, error)
	// Declared returns the catalog that describes method, if the peer declares its methods in the handshake. It returns
	// nil if the handshake does not contain the catalog. It returns the same catalog until the peer declares its
	// methods again.
	Declared func(method string) *catalog.Catalog
	// RunningJobs returns the names of the jobs that were started on this connection, end with it, and may still be
	// running. Shutdown cancels them.
	RunningJobs func() []string
	// AppendCall appends to b the message that Encode returns for op, which is a Call. It also returns the call's
	// numeric id. If Encode would fail, or would do more than write the message, AppendCall does nothing, and ok is
	// false. A codec with AppendCall uses integers as the ids of its calls, and each call has at most one answer: for a
	// Call, Opened returns nil and true for any answer.
	AppendCall func(b []byte, op *Op) (msg []byte, id int64, ok bool)

	RequestID string // the member that contains the id of requests; "" means id
	AnswerID  string // the member that contains the id of answers; "" means id
	Arrays    bool   // every message is an array, so an array is never a batch
	// OpenEnded reports that peers may answer a Subscribe in any form, and may send its items without naming a stream.
	// The response then does not show how long the subscription lasts.
	OpenEnded bool
	// Unsolicited reports that the peer opens streams by itself. The end of an unknown stream is then not treated as
	// the response to the only pending call, unless it arrived in that call's own HTTP exchange.
	Unsolicited bool
	// SendsCancel reports that cancels are also sent over HTTP; otherwise, a call over HTTP is cancelled by closing its
	// exchange.
	SendsCancel bool
}

// HandshakeOptions describe the local side in a handshake.
type HandshakeOptions struct {
	Offers *catalog.Catalog // the methods that the local side answers, with exact names only, or nil
	// Functions are the names of hooks that stand for function values. The peer gets them as values and cannot call
	// them by name.
	Functions map[string]bool
	Info      catalog.Info         // the local name and version
	Settings  json.RawMessage      // an object with the values that the user sets (Setting.Handshake), or nil
	Resume    string               // the session to resume, which must succeed; "" to begin a new one
	Last      string               // the session of the lost connection, to be resumed if possible, or ""
	Began     func(session string) // called with the peer's session id when the peer has accepted the handshake; may be nil
	// Get sends an HTTP GET for a path to the peer's server. It is nil if the peer cannot be reached over HTTP.
	Get func(ctx context.Context, path string) ([]byte, error)
	// Logs is the lowest level of the peer's log lines that the user reads, or "" for no log lines.
	Logs string
	// Omitted reports whether to omit an optional call of the handshake, because the peer is known to end the connection
	// after it or to ignore it. Omit omits the call on later connections. Both may be nil.
	Omitted func(method string) bool
	Omit    func(method string)
	// Own returns the method of the user's first call. If the handshake has a call of that method, that call and the
	// following steps are left to the user. Own may wait for the user, until ctx ends. If Own is nil, the whole
	// handshake is automatic.
	Own func(ctx context.Context) string
}

// ErrAnew is the error of a Handshake whose peer ended the connection after an optional call. The next connection omits that
// call.
var ErrAnew = errors.New("the handshake needs a new connection")

// A DiscoveryCache stores discoveries about one peer. All its functions may be nil.
type DiscoveryCache struct {
	// Load returns the entry, or nil if the cache has none.
	Load func() json.RawMessage
	// Update replaces the entry with the result of change. nil deletes the entry.
	Update func(change func(old json.RawMessage) json.RawMessage)
	Warn   func(text string) // shown to the user
	Note   func(text string) // shown with -v
}
