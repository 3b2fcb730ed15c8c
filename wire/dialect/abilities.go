package dialect

import (
	"context"
	"encoding/json"
	"errors"

	"rpcx/wire/catalog"
)

// Abilities are the optional functions of a Codec and the properties of its messages. A nil function means that the
// dialect lacks the ability. The functions before CommonParams are flows: they exchange several messages and run in
// their caller's goroutine.
type Abilities struct {
	// Handshake runs the handshake before any other message is sent.
	Handshake func(ctx context.Context, c Caller) error
	// Prepare requests the data that the codec needs to encode the Eval op. If Prepare fails, the operation fails with
	// its error and is not sent.
	Prepare func(ctx context.Context, c Caller, op Op) error
	// PrepareCall requests the data that the codec needs to encode a Call. If PrepareCall fails, the Call fails.
	PrepareCall func(ctx context.Context, c Caller, op Op) error
	// Describe requests the peer's catalog. It returns wire.ErrUnsupported if the dialect has no such request.
	Describe func(ctx context.Context, c Caller) (*catalog.Catalog, error)
	// Typing returns a catalog with the schema of one method's params, from the handshake or with as few requests as
	// possible. It returns nil if the schema is unknown.
	Typing func(ctx context.Context, c Caller, method string) (*catalog.Catalog, error)
	// Job runs jobs: calls whose results arrive later and that may outlive the command that started them. op.Kind is
	// one of the Job kinds. The state of a job is a data item: an object with the members job and status, and others of
	// the dialect. Job returns a usage Fault for unsupported operations.
	Job func(ctx context.Context, c Caller, op Op) (Stream, error)
	// Continue returns the stream of a Call whose responses may be interim (wire.Message.Interim) and require further
	// messages. st is the stream of the first message, and ctx is the context of Caller.Open.
	Continue func(ctx context.Context, c Caller, op Op, st Stream) Stream
	// Shutdown sends the closing messages before the connection is closed. It returns as soon as ctx is cancelled,
	// because rpcx does not exit before Shutdown returns.
	Shutdown func(ctx context.Context, c Caller) error

	// CommonParams adds the dialect's common params to the params of a local request.
	CommonParams func(method string, params json.RawMessage) (json.RawMessage, error)
	// Declared returns the catalog that describes method, if the peer declares its methods in the handshake. Otherwise
	// it returns nil. It returns the same catalog until the peer declares its methods again.
	Declared func(method string) *catalog.Catalog
	// RunningJobs returns the names of the jobs that were started on this connection, end with it, and may still be
	// running. Shutdown cancels them.
	RunningJobs func() []string
	// AppendCall appends to b the message of op, a Call, and returns the call's numeric id. If Encode would fail, or
	// would do more than write the message, AppendCall does nothing and ok is false. A codec with AppendCall uses
	// integers as ids of calls, and each call has at most one response: for a Call, Opened returns nil and true.
	AppendCall func(b []byte, op *Op) (msg []byte, id int64, ok bool)

	RequestID string // the member with the id of requests; id by default
	AnswerID  string // the member with the id of responses; id by default
	Arrays    bool   // every message is an array; no array is a batch
	// OpenEnded reports that peers may answer a Subscribe in any form, and may send its items without naming a stream.
	// The response then does not end the subscription.
	OpenEnded bool
	// Unsolicited reports that the peer opens streams by itself. The end of an unknown stream then does not answer the
	// only pending call, unless it arrived in the HTTP exchange of that call.
	Unsolicited bool
	// SendsCancel reports that cancels are also sent over HTTP. Otherwise, closing the exchange of a call over HTTP
	// cancels the call.
	SendsCancel bool
}

// HandshakeOptions describe the local side in a handshake.
type HandshakeOptions struct {
	Offers *catalog.Catalog // the methods that the local side answers under exact names; may be nil
	// Functions are the names of hooks that are function values. The peer receives them as values and cannot call them
	// by name.
	Functions map[string]bool
	Info      catalog.Info         // the local name and version
	Settings  json.RawMessage      // an object with the user's values (Setting.Handshake), or nil
	Resume    string               // the session to resume, or "" for a new one
	Last      string               // the session of the lost connection, to resume if possible, or ""
	Began     func(session string) // receives the peer's session id after a successful handshake; may be nil
	// Get sends an HTTP GET for a path to the peer's server. It is nil if HTTP cannot reach the peer.
	Get func(ctx context.Context, path string) ([]byte, error)
	// Logs is the lowest level of the peer's log lines that the user sees, or "" for no log lines.
	Logs string
	// Omitted reports whether to omit an optional call of the handshake, because the peer ignores it or ends the
	// connection after it. Omit omits the call on later connections. Both may be nil.
	Omitted func(method string) bool
	Omit    func(method string)
	// Own returns the method of the user's first call. If the handshake contains a call of that method, the user makes
	// that call and runs the steps after it. Own may wait for the user until ctx ends. If Own is nil, the whole
	// handshake is automatic.
	Own func(ctx context.Context) string
}

// ErrAnew is the error of a Handshake if the peer closed the connection after an optional call. The next connection
// omits that call.
var ErrAnew = errors.New("the handshake needs a new connection")

// A DiscoveryCache stores discoveries about one peer. Each function may be nil.
type DiscoveryCache struct {
	// Load returns the entry, or nil.
	Load func() json.RawMessage
	// Update replaces the entry with the result of change, or deletes it if the result is nil.
	Update func(change func(old json.RawMessage) json.RawMessage)
	Warn   func(text string) // shown to the user
	Note   func(text string) // shown with -v
}
