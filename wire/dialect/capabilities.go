package dialect

import (
	"context"
	"encoding/json"
	"net/url"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
)

// Transport describes how a dialect's messages travel.
type Transport struct {
	Framing      string       // the framing for byte streams if the endpoint names none; line by default
	Sentinel     bool         // each message begins after the last 0xFF byte of its line
	Around       *wire.Around // the text around the JSON in WebSocket messages, or nil
	Subprotocols []string     // offered on WebSocket
	Binary       wire.Binary  // how a client treats a binary message
	ServerBinary wire.Binary  // how a server treats binary messages
	Duplex       bool         // both sides send messages at any time; HTTP POST is unsuitable
	// Resolve returns the URL to connect to if the endpoint names an HTTP server: a WebSocket on that server or, with
	// Posts, the POST URL for an endpoint without a path. get sends a GET request. If Resolve is nil, rpcx uses the
	// endpoint's URL.
	Resolve  func(get func(path string) ([]byte, error)) (*url.URL, error)
	Posts    bool
	Sessions *wire.HTTPSessions // how HTTP exchanges with a listener form sessions, or nil
	HTTPName wire.HTTPName      // the header by which an HTTP server recognizes a client
}

// Params describes a dialect's parameters.
type Params struct {
	Styles    []string  // how to send an object of params (--params-style), the default first, or nil
	Scalar    bool      // params may be any JSON value
	Functions bool      // params may contain functions (key@on=NAME)
	Typed     bool      // Conversation.Typing returns schemas for the types of params
	Settings  []Setting // the extra top-level members for --set
}

// A Setting describes a NAME that --set accepts, as NAME=TEXT or NAME:=JSON.
type Setting struct {
	Name      string
	Type      string // the JSON type or "any" (see scan.IsTypeName)
	Handshake bool   // the handshake contains the value; otherwise it is an extra top-level member of each request
	Says      string // a description for help, or ""
}

// Validation is the part of a dialect's specification that rpcx validate checks.
type Validation struct {
	Rules   string // the rules, as TOML for wire/validate/rules, or ""
	Probes  string // the probes, as TOML for wire/validate/probes, or ""
	Schemas string // a JSON object with the schemas of messages by method, or ""
}

// Handshake describes the messages that a dialect exchanges first.
type Handshake struct {
	ServerFirst bool // the client waits for the server's first message
	OneClient   bool // the peer serves one client at a time; a new client evicts the previous one
	Introduces  bool // the handshake names the local side and its hooks (see HandshakeOptions)
	Resumes     bool // the handshake can name a session to resume (--resume)
	Rounds      bool // a client without a connection can receive requests and answers them in its next request
	Plugin      bool // the peer is a plugin, which the client (`rpcx plugin`) starts and shuts down
	// Unchanged reports whether a peer of this dialect accepts unchanged messages from clients of every version. Otherwise, a bridge
	// between two peers of the dialect translates messages. open sends operations to the peer. nil means true.
	Unchanged func(ctx context.Context, open func(context.Context, Op) (Stream, error)) bool
}

// Detection describes how to detect a server of the dialect. Patterns are regular expressions.
type Detection struct {
	First   []string // patterns, all of which match a server's first bytes or error text; those of another dialect do not match all of them
	Unless  string   // a pattern that must not match the same text, or ""
	Instead []string // the dialects for which a user may mistake the server; nil means any
	Refusal *Refusal // how a server refuses requests before the handshake, or nil
	Probe   *Probe   // the request that identifies a server, or nil
}

// A Refusal is a server's error for a plain JSON-RPC request before the handshake.
type Refusal struct {
	Method string // a pattern for the requested method
	Error  string // a pattern for the error's code, a space, and its message
	Hint   string // a hint about the missing step, as a sentence
}

// A Probe is a message that identifies a server of a dialect. Send and Is are jq programs.
type Probe struct {
	Send    string   // yields the whole message from $id; "" if the server sends first
	Is      string   // true only for messages of a server of the dialect; $request is the answered message
	Session bool     // the message starts a session or changes something on the server
	Weak    bool     // other dialects look similar; the probe counts only if no other dialect is detected
	Lists   bool     // the result lists the methods
	Hooks   []string // hooks that may make a server offer more methods
}

// Discovery supplements Abilities.Describe with facts about a dialect's catalogs.
type Discovery struct {
	Answers []string                                         // methods that a server of this dialect answers without a hook, besides rpc.discover and rpc.describe
	Missing string                                           // what a peer without a catalog lacks, as part of an error message
	Module  func(method string) string                       // the module of a method; nil if each request returns a whole catalog
	Cached  func(discovery json.RawMessage) *catalog.Catalog // returns the catalog in the data of CodecOptions.Discovery; nil if rpcx stores no catalogs
}

// ByModule reports whether each module has its own catalog request. d may be nil.
func (d *Discovery) ByModule() bool { return d != nil && d.Module != nil }

// IsCached reports whether rpcx stores catalogs. d may be nil.
func (d *Discovery) IsCached() bool { return d != nil && d.Cached != nil }

// Jobs describes how a dialect supports `rpcx job`. Unless Lasting is set, a job ends with the connection that started
// it.
type Jobs struct {
	Call    json.RawMessage // the Extra of a Call that starts a job; may be nil
	Bare    bool            // a job yields only its result, as a call does, without a report on its end
	Journal bool            // the list is a journal that outlives connections
	Lasting bool            // jobs outlive the connection that started them
}

// Evaluation describes how the peer evaluates code.
type Evaluation struct {
	Runtime bool // a server can also evaluate code (--runtime)
	Live    bool // the evaluator also completes code, resets its state, and evaluates watched code every few frames
}

// IsLive reports whether e is Live. e may be nil.
func (e *Evaluation) IsLive() bool { return e != nil && e.Live }

// Streams describes unusual properties of a dialect's responses.
type Streams struct {
	NoCancel bool // a cancelled call continues on the peer
	Deferred bool // the result of a call may follow its response as the only data item of a stream
	// Follows reports whether op is a Subscribe that sends no message and only shows the peer's other messages. nil
	// means false.
	Follows func(op Op) bool
}

// Files describes where responses contain files.
type Files struct {
	Local    bool                         // files are on the peer's machine, and responses contain their paths
	Embedded func(raw []byte) []wire.File // returns the files in a whole response; nil if responses contain no files
}

// AreLocal reports whether f is Local. f may be nil.
func (f *Files) AreLocal() bool { return f != nil && f.Local }

// AreEmbedded reports whether responses contain files. f may be nil.
func (f *Files) AreEmbedded() bool { return f != nil && f.Embedded != nil }

// AnswerCache determines which answers rpcx may store (--cache).
type AnswerCache struct {
	Key    func(op Op) (json.RawMessage, error) // the values on which an answer depends
	MaxAge func(answer []byte) time.Duration    // how long rpcx may store an answer; 0 forbids it
}

// Always is a Bridging.Cancels that returns true for every framing.
func Always(string) bool { return true }

// AlwaysProgress is a Bridging.Progress that returns true for every method.
func AlwaysProgress(string, catalog.Kind) bool { return true }

// Bridging describes how a bridge offers other dialects' methods in this dialect, and calls methods of this dialect ("A
// bridge" in rpcx-endpoints(7)). The zero value is right for most dialects.
type Bridging struct {
	// Name returns this dialect's name for a method of another dialect. nil leaves names unchanged.
	Name func(method string) string
	// Described reports that the description of a renamed method contains its original name.
	Described bool
	// Alone reports whether a client can call a method of a catalog without naming an object. nil means true.
	Alone func(m *catalog.Method) bool
	// ByPosition reports that methods without described params also accept positional arguments. If a listener's params
	// are objects, the positional arguments are in the member args.
	ByPosition bool
	// Plain converts a request's params to the form of other dialects. By default, bridges use the form for hooks. If
	// no other dialect can express the params, Plain's error is the response.
	Plain func(params json.RawMessage) (json.RawMessage, error)
	// Same returns the call to a peer of this dialect for a request to this dialect's server. By default, the method
	// and the params stay unchanged.
	Same func(name string, params json.RawMessage) (method string, same json.RawMessage)
	// Fields splits a request's params into extra top-level members for a peer of this dialect, and the rest. nil means
	// that there are no such members.
	Fields func(params json.RawMessage) (extra, rest json.RawMessage)

	// ReportsProgress reports whether a notification during a call is a progress or log message of that call, which the bridge
	// forwards as such. nil means false.
	ReportsProgress func(method string) bool
	// Own lists the methods of the handshake. A bridge never forwards them, because each connection has its own
	// handshake.
	Own       []string
	Client    ClientHandshake
	NoStreams bool // a server of this dialect answers a call with one value
	// Whole reports whether a server of this dialect answers a call to the method with one value. The default is
	// NoStreams.
	Whole   func(method string) bool
	Objects bool // requests have objects as params
	Endless bool // a streaming method may never end
	// Streams reports whether a method of unknown kind opens a stream, and whether that stream may never end. nil means
	// false.
	Streams func(method string) (streams, endless bool)
	Errors  ErrorForm
	// Cancels reports whether cancelling a call also ends it on the server. nil means false.
	Cancels func(framing string) bool
	// Progress reports whether this dialect's messages can carry progress for a method of this kind. nil means false.
	Progress func(method string, kind catalog.Kind) bool
	Calls    bool // every message of this dialect belongs to a call; there are no notifications
	// Gathers reports whether a server of this dialect sends the items of a method's stream as one array. nil means false.
	Gathers func(method string) bool
}

// A ClientHandshake describes what clients of a dialect send first, and which requests they answer.
type ClientHandshake struct {
	// Asks are the patterns of the requests that servers send to clients. Hooks of a bridge answer them, and clients of
	// the bridge cannot call these hooks.
	Asks     []string
	Begins   bool // clients start the handshake, after which the server calls its Responder's HandshakeDone
	Declares bool // the handshake names the methods that the client answers
}

// An ErrorForm describes the members of a dialect's errors. The zero value is JSON-RPC's form: an integer code, and
// data.
type ErrorForm struct {
	TextCodes bool // the code is a string
	// Members reports whether the user can choose an error's code, and whether errors have data. nil means true. It is a
	// function because a dialect file runs its programs to find out.
	Members func() (code, data bool)
}
