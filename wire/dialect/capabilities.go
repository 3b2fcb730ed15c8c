package dialect

import (
	"context"
	"encoding/json"
	"net/url"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
)

// Transport describes how messages of a dialect travel.
type Transport struct {
	Framing      string       // the framing for byte streams whose endpoint does not name one; "" means line
	Sentinel     bool         // a message begins after the last byte 0xFF of its line
	Around       *wire.Around // the text around the JSON of a WebSocket's messages; nil means none
	Subprotocols []string     // offered on WebSocket
	Binary       wire.Binary  // how a client treats a binary message
	ServerBinary wire.Binary  // how a server treats it
	Duplex       bool         // both sides send messages at any time, for which HTTP POST is unsuitable
	// Resolve returns the URL for conversations if the endpoint names an HTTP server: a WebSocket on that server or, if
	// Posts is set, the URL for POST for an endpoint without a path. get returns the response to a GET. If Resolve is nil,
	// the URL is that of the endpoint.
	Resolve  func(get func(path string) ([]byte, error)) (*url.URL, error)
	Posts    bool
	Sessions *wire.HTTPSessions // how HTTP exchanges with a listener form sessions, or nil
	HTTPName wire.HTTPName      // the header by which an HTTP server recognises a client
}

// Params describes the parameters of a dialect.
type Params struct {
	Styles    []string  // how an object of params can be sent (--params-style), starting with the usual way; nil for one way
	Scalar    bool      // params may be any JSON value, not only an object or an array
	Functions bool      // params can hold functions (key@on=NAME)
	Typed     bool      // Conversation.Typing returns the schemas that determine the types of params
	Settings  []Setting // the extra top-level members that a user can set (--set)
}

// A Setting is a value that a user gives with --set NAME=TEXT or NAME:=JSON.
type Setting struct {
	Name      string
	Type      string // the JSON type, or any: see scan.IsTypeName
	Handshake bool   // the value is sent in the handshake; otherwise it is an extra top-level member of each request
	Says      string // a description for help, or ""
}

// Validation is the part of a dialect's specification that rpcx validate checks.
type Validation struct {
	Rules   string // the rules, as TOML text in the form of wire/validate/rules, or ""
	Probes  string // the requests that rpcx validate sends to a peer, as TOML text in the form of wire/validate/probes, or ""
	Schemas string // a JSON object with the schemas of messages, by method; "" if the dialect file has none
}

// Handshake describes the messages that a dialect exchanges first.
type Handshake struct {
	ServerFirst bool // the server sends first, and the client waits for its message
	OneClient   bool // the peer has one client: a new one evicts the previous one
	Introduces  bool // the handshake names the local side and its hooks: see HandshakeOptions
	Resumes     bool // it can name the session to resume (--resume)
	Rounds      bool // a client without a connection can get requests; its next request carries the answers
	Plugin      bool // the peer is a plugin, which the client starts and shuts down: `rpcx plugin` uses it
	// Unchanged reports whether a peer of this dialect accepts the messages of all its clients, of any version, unchanged. If it returns
	// false, a bridge between two peers of the dialect translates the messages. open sends operations to the peer. A nil Unchanged means
	// true.
	Unchanged func(ctx context.Context, open func(context.Context, Op) (Stream, error)) bool
}

// Detection describes how to recognise a server of the dialect. Patterns are regular expressions.
type Detection struct {
	First   []string // patterns that all match the first bytes from a server of this dialect, or the text of its errors, but do not match those of another dialect
	Unless  string   // a pattern that must not match the text that First matches, or ""
	Instead []string // the dialects for which the server may be mistaken; nil means any
	Refusal *Refusal // how a server refuses requests before the handshake, or nil
	Probe   *Probe   // the request that identifies a server, or nil
}

// A Refusal is a server's error for a request in plain JSON-RPC before its handshake.
type Refusal struct {
	Method string // a pattern for the requested method
	Error  string // a pattern for the error: its code, a space, and its message
	Hint   string // a sentence for people that names the missing step
}

// A Probe is a message that identifies a server of a dialect. Send and Is are jq programs.
type Probe struct {
	Send    string   // computes the whole message from $id; "" if the server sends first
	Is      string   // true only for messages of a server of the dialect; $request is the message that was answered
	Session bool     // the message begins a session, or changes something on the server
	Weak    bool     // other dialects look similar; the probe counts only if no other dialect is recognised
	Lists   bool     // the result lists the methods
	Hooks   []string // the hooks for which a server may offer a client more methods
}

// Discovery describes how a peer describes itself, in addition to its codec's Describe.
type Discovery struct {
	Answers []string                                         // methods that a server of this dialect answers without a hook, in addition to rpc.discover and rpc.describe
	Missing string                                           // the feature that a peer without a catalog lacks, as a clause
	Module  func(method string) string                       // the module of a method; nil if catalogs are not requested by module
	Cached  func(discovery json.RawMessage) *catalog.Catalog // the catalog in the data of CodecOptions.Discovery; nil if none is stored
}

// ByModule reports whether catalogs are requested for each module. d may be nil.
func (d *Discovery) ByModule() bool { return d != nil && d.Module != nil }

// IsCached reports whether catalogs are stored for later. d may be nil.
func (d *Discovery) IsCached() bool { return d != nil && d.Cached != nil }

// Jobs describes the support for `rpcx job`. A job belongs to the connection that started it.
type Jobs struct {
	Call    json.RawMessage // the Extra of a Call that starts a job, or nil
	Bare    bool            // the result of a job is the value that a call would have returned, not a report on how the job ended
	Journal bool            // the list is a journal, which outlives connections
	Lasting bool            // jobs outlive the connection that started them
}

// Evaluation describes how the peer evaluates code.
type Evaluation struct {
	Runtime bool // a server also evaluates code (--runtime)
	Live    bool // the evaluator also completes code, resets its state, and watches code in frames of its own clock
}

// IsLive reports whether e, which may be nil, is Live.
func (e *Evaluation) IsLive() bool { return e != nil && e.Live }

// Streams describes unusual properties of a dialect's responses.
type Streams struct {
	NoCancel bool // a cancelled call continues on the peer
	Deferred bool // the result of a call may follow its response, as the only data item of a stream
	// Follows reports whether op is a Subscribe that sends no message, because it only shows messages that the peer
	// sends anyway. A nil Follows means false.
	Follows func(op Op) bool
}

// Files describes where responses contain files.
type Files struct {
	Local    bool                         // files are on the peer's machine, and answers contain their paths
	Embedded func(raw []byte) []wire.File // returns the files inside a whole answer message; nil if answers contain no files
}

// AreLocal reports whether f, which may be nil, is Local.
func (f *Files) AreLocal() bool { return f != nil && f.Local }

// AreEmbedded reports whether answers contain the files themselves. f may be nil.
func (f *Files) AreEmbedded() bool { return f != nil && f.Embedded != nil }

// AnswerCache determines how answers may be stored (--cache).
type AnswerCache struct {
	Key    func(op Op) (json.RawMessage, error) // the values on which an answer depends
	MaxAge func(answer []byte) time.Duration    // how long an answer may be stored; 0 means that it may not be stored
}

// Always is a value for Bridging.Cancels that returns true for every framing.
func Always(string) bool { return true }

// AlwaysProgress is a value for Bridging.Progress that returns true for every method.
func AlwaysProgress(string, catalog.Kind) bool { return true }

// Bridging describes how a bridge offers methods of other dialects in this dialect, and calls methods of this dialect
// from others ("A bridge" in rpcx-endpoints(7)). The zero value is right for most dialects.
type Bridging struct {
	// Name returns a name under which this dialect can offer a method of another dialect. A nil Name means that any
	// name is allowed.
	Name func(method string) string
	// Described reports that, if Name has changed the name of a method, the method's description contains the original
	// name.
	Described bool
	// Alone reports whether a method in a catalog of this dialect can be called by name only, without an object. A nil
	// Alone means true for every method.
	Alone func(m *catalog.Method) bool
	// ByPosition reports that methods whose params the catalog does not describe also take positional arguments. If a
	// listener's params are objects, the positional arguments are in the member args.
	ByPosition bool
	// Plain converts the params of a request to this dialect's server to the form of other dialects. If it is nil, the
	// params are passed on in the form for hooks. If no other dialect can express the params, the request is answered
	// with the error.
	Plain func(params json.RawMessage) (json.RawMessage, error)
	// Same returns the call to a peer of this dialect for a request to this dialect's server. If Same is nil, method
	// and params are unchanged.
	Same func(name string, params json.RawMessage) (method string, same json.RawMessage)
	// Fields splits a request's params into the extra top-level members for a peer of this dialect, and the rest. A nil
	// Fields means that there are no such members.
	Fields func(params json.RawMessage) (extra, rest json.RawMessage)

	// Told reports whether a notification during a call is a progress or log message of that call. The bridge then
	// forwards it as such. A nil Told means false.
	Told func(method string) bool
	// Own lists the methods of the handshake. Each connection has its own handshake, so these methods are never
	// forwarded.
	Own       []string
	Client    ClientHandshake
	NoStreams bool // a server of this dialect answers a call with one value
	// Whole reports whether a server of this dialect answers a call of the method with one value. If it is nil, NoStreams
	// applies to all methods.
	Whole   func(method string) bool
	Objects bool // params are an object
	Endless bool // a streaming method may never end
	// Streams reports whether a method of unknown kind opens a stream, and whether that stream may never end. A nil
	// Streams means that no method does.
	Streams func(method string) (streams, endless bool)
	Errors  ErrorForm
	// Cancels reports whether a client can cancel a call so that it also ends on the server. A nil Cancels means false.
	Cancels func(framing string) bool
	// Progress reports whether messages of this dialect carry the progress of a method of this kind. A nil Progress means
	// false.
	Progress func(method string, kind catalog.Kind) bool
	Calls    bool // all messages of this dialect belong to calls: it has no notifications
	// Gathers reports whether a server of this dialect sends the items of a method's stream as one array. A nil Gathers means false.
	Gathers func(method string) bool
}

// A ClientHandshake describes what clients of a dialect send first.
type ClientHandshake struct {
	Begins   bool // clients begin the handshake, after which the server calls HandshakeDone of its Responder
	Declares bool // the handshake names the methods that the client answers
}

// An ErrorForm describes the members of a dialect's errors. The zero value is JSON-RPC's: an integer code, and data.
type ErrorForm struct {
	TextCodes bool // the code is a string
	NoCodes   bool // errors have no code that the user chooses
	NoData    bool
}
