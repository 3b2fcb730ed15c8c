package dialect

import (
	"context"
	"encoding/json"
	"errors"

	"rpcx/wire/catalog"
)

// Abilities are the functions of a Codec other than messages, and properties of messages. If a function is nil, the
// dialect lacks that ability. The first functions are flows, which need several messages and run in their caller's
// goroutine.
type Abilities struct {
	// Handshake runs the handshake before anything else is sent.
	Handshake func(ctx context.Context, c Caller) error
	// Prepare requests from the peer what is needed to encode the Eval op. If it fails, the operation fails with the
	// same error and is not sent.
	Prepare func(ctx context.Context, c Caller, op Op) error
	// PrepareCall requests from the peer what a Call needs before it can be encoded. If it fails, the Call fails.
	PrepareCall func(ctx context.Context, c Caller, op Op) error
	// Describe reads the peer's catalog. It returns wire.ErrUnsupported if the dialect has no request for that.
	Describe func(ctx context.Context, c Caller) (*catalog.Catalog, error)
	// Typing returns the schemas of one method's params, from the handshake or from a request for this method alone. It
	// returns nil if they are unknown.
	Typing func(ctx context.Context, c Caller, method string) (*catalog.Catalog, error)
	// Job runs jobs, which are calls whose results arrive later and that may outlive the command that started them. op
	// is of one of the Job kinds. The stream's items about a job itself (its status, the list of jobs) are data in the
	// dialect's own form, an object with "job" and "status". The error is a usage Fault for operations that the dialect
	// does not support.
	Job func(ctx context.Context, c Caller, op Op) (Stream, error)
	// Continue returns the stream of a Call whose responses may be interim (wire.Message.Interim), so that further messages
	// lead to its result. st is the stream of the first message, and ctx that of Caller.Open.
	Continue func(ctx context.Context, c Caller, op Op, st Stream) Stream
	// Shutdown sends the closing messages before the connection is closed. It returns as soon as ctx is cancelled, even
	// before ctx's deadline, because the end of the program waits for it.
	Shutdown func(ctx context.Context, c Caller) error

	// CommonParams returns the params of a request of the local side with what the dialect adds to each request.
	CommonParams func(method string, params json.RawMessage) (json.RawMessage, error)
	// Declared returns the catalog that describes method, if the peer's handshake declares its methods. It returns nil
	// if the handshake does not contain the catalog. It returns the same catalog until the peer declares its methods
	// again.
	Declared func(method string) *catalog.Catalog
	// RunningJobs returns the names of the jobs that were started on this connection, will end with it, and may still
	// be running. Shutdown cancels them.
	RunningJobs func() []string
	// AppendCall appends to b the message that Encode returns for op, a Call. It returns the number that is the call's
	// id. If Encode would fail, or would do more than write the message, AppendCall does nothing, and ok is false. A
	// codec with AppendCall uses whole numbers as the ids of its calls, and each call has at most one answer: for a
	// Call, Opened returns nil and true for any answer.
	AppendCall func(b []byte, op *Op) (msg []byte, id int64, ok bool)

	RequestID string // the member with the id in requests; "" for id
	AnswerID  string // the member with the id in answers; "" for id
	Arrays    bool   // every message is an array, so that no array is a batch
	// OpenEnded reports that peers may answer a Subscribe in any form, and send its items without naming a stream. The
	// response then does not show how long the subscription lasts.
	OpenEnded bool
	// Unsolicited reports that the peer opens streams by itself. The end of an unknown stream is then not taken for the
	// response to the only pending call, unless it arrived in that call's own HTTP exchange.
	Unsolicited bool
	// SendsCancel reports that cancels are also sent over HTTP. Without it, a call over HTTP is cancelled by closing
	// its exchange.
	SendsCancel bool
}

// HandshakeOptions describe the local side in a handshake.
type HandshakeOptions struct {
	Offers *catalog.Catalog // the methods that the local side answers, by exact names, or nil
	// Functions are the names of hooks that stand for function values. The peer gets them as values and cannot call
	// them by name.
	Functions map[string]bool
	Info      catalog.Info         // the local name and version
	Settings  json.RawMessage      // an object with the values that the user sets (Setting.Handshake), or nil
	Resume    string               // the session to resume, which must succeed; "" to begin a new one
	Last      string               // the session of the lost connection, to be resumed if possible, or ""
	Began     func(session string) // called with the peer's session id when the peer has accepted the handshake; may be nil
	// Get sends an HTTP GET for a path to the peer's server. It is nil if the peer has no HTTP.
	Get func(ctx context.Context, path string) ([]byte, error)
	// Logs is the lowest level of the peer's log lines that are read; "" if none are.
	Logs string
	// Omitted reports whether an optional call of the handshake is left out, because the peer is known to end the connection
	// at it or to ignore it. Omit leaves it out in further connections. They may be nil.
	Omitted func(method string) bool
	Omit    func(method string)
	// Own returns the method of the user's first call. If a call of the handshake has that method, that call and the
	// following steps are left to the user. Own may wait for the user, until ctx ends. If it is nil, the whole
	// handshake is automatic.
	Own func(ctx context.Context) string
}

// ErrAnew is the error of a Handshake whose peer ended the connection at an optional call of the handshake. A further connection
// leaves that call out.
var ErrAnew = errors.New("the handshake needs a new connection")

// A DiscoveryCache stores discoveries about one peer. All members may be nil.
type DiscoveryCache struct {
	// Load returns the entry, or nil if there is none.
	Load func() json.RawMessage
	// Update replaces the entry with the result of change. nil deletes the entry.
	Update func(change func(old json.RawMessage) json.RawMessage)
	Warn   func(text string) // shown to the user
	Note   func(text string) // shown with -v
}
