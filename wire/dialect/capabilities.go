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
	Framing      string       // the framing of byte streams whose endpoint names none; "" for line
	Sentinel     bool         // a message begins after the last byte 0xFF of its line
	Around       *wire.Around // the text around the JSON of a WebSocket's messages; nil means none
	Subprotocols []string     // offered on WebSocket
	Binary       wire.Binary  // how a client treats a binary message
	ServerBinary wire.Binary  // how a server treats it
	Duplex       bool         // both sides send messages at any time, for which HTTP POST is unsuitable
	// Resolve finds the URL of conversations when the endpoint names an HTTP server, whose responses to GET get returns: a
	// WebSocket on that server, or if Posts the URL for POST, for an endpoint without a path. nil: it is the endpoint's.
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
	Handshake bool   // it is sent in the handshake, otherwise it is an extra top-level member of each request
	Says      string // a phrase for help, or ""
}

// Validation is the part of a dialect's specification that rpcx validate checks.
type Validation struct {
	Rules   string // the rules, as TOML text in the form of wire/validate/rules, or ""
	Probes  string // the requests of rpcx validate to a peer, as TOML text in the form of wire/validate/probes, or ""
	Schemas string // a JSON object with the schemas of messages, by method; "" if the dialect file has none
}

// Handshake describes the messages that a dialect exchanges first.
type Handshake struct {
	ServerFirst bool // the server sends first, and a client sends nothing until then
	OneClient   bool // the peer has one client: a new one evicts the previous one
	Introduces  bool // the handshake names the local side and its hooks: see HandshakeOptions
	Resumes     bool // it can name the session to resume (--resume)
	Rounds      bool // a client without a connection can get requests; its next request carries the answers
	Plugin      bool // the peer is a plugin, which the client starts and shuts down: `rpcx plugin` uses it
	// Unchanged reports whether a peer of this dialect takes the messages of all its clients, of any version. If not, a bridge of one dialect
	// translates. open makes calls of the peer. nil means that it does.
	Unchanged func(ctx context.Context, open func(context.Context, Op) (Stream, error)) bool
}

// Detection describes how to recognise a peer of the dialect. Patterns are regular expressions.
type Detection struct {
	First   []string // patterns that all match the first bytes of such a server, or the text of its errors, but not those of another dialect, or nil
	Unless  string   // a pattern that does not match them, or ""
	Instead []string // the dialects for which it may be mistaken; nil for any
	Refusal *Refusal // how its servers refuse requests before their handshake, or nil
	Probe   *Probe   // how requests identify its servers, or nil
}

// A Refusal is a server's error for a request in plain JSON-RPC before its handshake.
type Refusal struct {
	Method string // a pattern for the requested method
	Error  string // a pattern for the error: its code, a blank, its message
	Hint   string // what is missing, for people
}

// A Probe is a message that identifies servers of a dialect. Send and Is are jq programs.
type Probe struct {
	Send    string   // makes the whole message from $id; "" if the server sends first
	Is      string   // true only for messages of such a server; $request is the message that it answers
	Session bool     // the message begins a session, or changes something on the server
	Weak    bool     // other dialects look alike, so that it counts only if no other is recognised
	Lists   bool     // the result lists the methods
	Hooks   []string // a server may offer more methods to a client that has these hooks
}

// Discovery describes how a peer describes itself, in addition to its codec's Describe.
type Discovery struct {
	Answers []string                                         // methods that a server of this dialect answers without a hook, in addition to rpc.discover and rpc.describe
	Missing string                                           // the missing feature of a peer that has no catalog, as a clause
	Module  func(method string) string                       // the module of a method; nil if catalogs are not requested by module
	Cached  func(discovery json.RawMessage) *catalog.Catalog // the catalog in the data of CodecOptions.Discovery; nil if none is stored
}

// ByModule reports whether catalogs are requested by module.
func (d *Discovery) ByModule() bool { return d != nil && d.Module != nil }

// IsCached reports whether a catalog is stored for later. d may be nil.
func (d *Discovery) IsCached() bool { return d != nil && d.Cached != nil }

// Jobs describes the support for `rpcx job`. A job belongs to the connection that started it.
type Jobs struct {
	Call    json.RawMessage // the Extra of a Call that begins a job, or nil
	Bare    bool            // the result of a job is what a call would have returned, not a report on how it ended
	Journal bool            // the list is a journal, which outlives connections
	Lasting bool            // jobs outlive the connection that began them
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
	// Follows reports whether op is a Subscribe that sends nothing, because it only shows messages that the peer sends
	// by itself. nil means that no operation is.
	Follows func(op Op) bool
}

// Files describes where responses contain files.
type Files struct {
	Local    bool                         // they are files on the peer's machine, named by path
	Embedded func(raw []byte) []wire.File // returns the files inside a whole answer message; nil if answers contain no files
}

// AreLocal reports whether f, which may be nil, is Local.
func (f *Files) AreLocal() bool { return f != nil && f.Local }

// AreEmbedded reports whether answers contain files themselves. f may be nil.
func (f *Files) AreEmbedded() bool { return f != nil && f.Embedded != nil }

// AnswerCache determines how answers may be stored (--cache).
type AnswerCache struct {
	Key    func(op Op) (json.RawMessage, error) // the values on which an answer depends
	MaxAge func(answer []byte) time.Duration    // how long an answer may be stored; 0 for not at all
}

// Always is a Cancels for every framing.
func Always(string) bool { return true }

// AlwaysProgress is a Progress for every method.
func AlwaysProgress(string, catalog.Kind) bool { return true }

// Bridging describes how a bridge offers methods of another dialect in this one, and calls methods of this one from
// another ("A bridge" in rpcx-endpoints(7)). The zero value is right for most dialects.
type Bridging struct {
	// Name returns a name by which this dialect can offer a method of another. nil means that any name is allowed.
	Name func(method string) string
	// Described reports that a client finds the true name of a method that Name has changed in the method's
	// description.
	Described bool
	// Alone reports whether a method of a catalog of this dialect can be called by its name alone, without an object.
	// nil means that every method can.
	Alone func(m *catalog.Method) bool
	// ByPosition reports that methods whose params the catalog does not describe also take positional arguments. If a
	// listener's params are objects, these are the member args.
	ByPosition bool
	// Plain converts the params of a request to this dialect's server to the form of other dialects. If it is nil, they
	// are passed on in the form for hooks. The error answers a request whose params no other dialect can express.
	Plain func(params json.RawMessage) (json.RawMessage, error)
	// Same returns the call of a peer of this dialect for a request to this dialect's server. nil means that both have
	// the same method and params.
	Same func(name string, params json.RawMessage) (method string, same json.RawMessage)
	// Fields splits a request's params into extra top-level members for a peer of this dialect, and the rest. nil means
	// that there are no such members.
	Fields func(params json.RawMessage) (extra, rest json.RawMessage)

	// Told reports whether a notification that arrives during a call belongs to that call, as its progress or its log.
	// The bridge then forwards it as such. nil means that no notification does.
	Told func(method string) bool
	// Own lists the methods of the handshake. Each connection has its own, and they are never forwarded.
	Own       []string
	Client    ClientHandshake
	NoStreams bool // a server of this dialect answers a call with one value
	// Whole reports whether a server of this dialect answers a call of the method with one value. nil means as NoStreams.
	Whole   func(method string) bool
	Objects bool // params are an object
	Endless bool // a method that streams may never end
	// Streams reports whether a method of unknown kind opens a stream, and whether that stream may never end. nil means
	// that no method does.
	Streams func(method string) (streams, endless bool)
	Errors  ErrorForm
	// Cancels reports whether a client can cancel a call, so that it ends at the server. nil means that it cannot.
	Cancels func(framing string) bool
	// Progress reports whether messages of this dialect carry the progress of a method of that kind. nil means that none do.
	Progress func(method string, kind catalog.Kind) bool
	Calls    bool // all messages of this dialect belong to calls: it has no notifications
	// Gathers reports whether a server of this dialect sends the items of a method's stream as one array. nil means that it never does.
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
	NoCodes   bool // they have no code of the user's
	NoData    bool
}
