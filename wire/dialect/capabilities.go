package dialect

import (
	"encoding/json"
	"net/url"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
)

// Transport describes how messages of a dialect travel.
type Transport struct {
	Framing      string       // of byte streams whose endpoint names none; "" means line
	Sentinel     bool         // a message begins after the last byte 0xFF of its line
	Around       *wire.Around // the text around the JSON of a WebSocket's messages; nil means none
	Subprotocols []string     // offered on WebSocket
	Binary       wire.Binary  // how a client treats a binary message
	ServerBinary wire.Binary  // how a server treats it
	Duplex       bool         // both sides send messages at any time, which HTTP POST cannot carry
	// Resolve finds the URL of conversations when the endpoint names an HTTP server, whose responses to GET get returns: a
	// WebSocket on that server, or if Posts the URL for POST, for an endpoint without a path. nil: it is the endpoint's.
	Resolve  func(get func(path string) ([]byte, error)) (*url.URL, error)
	Posts    bool
	Sessions *wire.HTTPSessions // how HTTP exchanges with a listener form sessions; nil means they do not
	HTTPName wire.HTTPName      // the header by which an HTTP server recognises a client
}

// Params describes the parameters of a dialect.
type Params struct {
	Styles    []string  // how an object of params can be sent (--params-style), the usual way first; nil means one way
	Scalar    bool      // params may be any JSON value, not only an object or an array
	Functions bool      // params can hold functions (key@on=NAME)
	Typed     bool      // Conversation.Typing tells by which schemas params are typed
	Settings  []Setting // what a user can set beside method and params (--set)
}

// A Setting is a value that a user gives with --set NAME=TEXT or NAME:=JSON.
type Setting struct {
	Name      string
	Type      string // of JSON, or any: see scan.IsTypeName
	Handshake bool   // it is sent in the handshake; else it is a member of each request beside method and params
	Says      string // a phrase for help; "" means nothing more is known
}

// Validation is what rpcx validate compares a peer with, from the dialect's specification.
type Validation struct {
	Rules   string // the rules, as wire/validate/rules reads them: a TOML text; "" means there are none
	Probes  string // what rpcx validate asks a peer, as wire/validate/probes reads it: a TOML text; "" means nothing
	Schemas string // a JSON object of the schema of each message, by its method; "" means the page has none
}

// Handshake describes what a dialect exchanges before anything else.
type Handshake struct {
	ServerFirst bool // the server sends first: until then a client sends nothing
	OneClient   bool // the peer has one client: a new one evicts the one before it
	Introduces  bool // the handshake says who we are and which hooks answer: see HandshakeOptions
	Resumes     bool // it can name the session to resume (--resume)
	Rounds      bool // a client without a connection can be asked: its next request brings the answers
	Plugin      bool // the peer is a plugin, which the client starts and shuts down: `rpcx plugin` speaks it
}

// Detection describes how to recognise a peer of the dialect. Patterns are regular expressions.
type Detection struct {
	First   []string // patterns that all match the first bytes of such a server, or the text of its errors, and those of no other dialect's, or nil are known
	Unless  string   // a pattern that does not match them, or ""
	Instead []string // the dialects that it may be taken for; nil means any
	Refusal *Refusal // how its servers refuse what is asked before their handshake; nil means not known
	Probe   *Probe   // how its servers are recognised by asking; nil means they cannot be
}

// A Refusal is an error of a server which is asked in plain JSON-RPC, before its handshake.
type Refusal struct {
	Method string // a pattern for the method that was asked
	Error  string // a pattern for the error: its code, a blank, its message
	Hint   string // what is missing, for people
}

// A Probe is a message by which servers of a dialect are recognised. Send and Is are jq programs.
type Probe struct {
	Send    string   // the whole message, made of $id; "" means the server sends first
	Is      string   // holds on a message of such a server, and of no other; $request is the message that it answers
	Session bool     // the message begins a session, or changes something at the server
	Weak    bool     // other dialects look alike: it counts only if no other is recognised
	Lists   bool     // the result lists the methods
	Hooks   []string // to a client that has these hooks a server may offer more
}

// Discovery describes how a peer describes itself, beside its codec's Describe.
type Discovery struct {
	Answers []string                                         // methods that a server of this dialect answers without a hook, beside rpc.discover and rpc.describe
	Missing string                                           // what is missing in a peer that cannot be described, as a clause
	Module  func(method string) string                       // the module of a method; nil means the peer is not asked by module
	Cached  func(discovery json.RawMessage) *catalog.Catalog // the catalog in what CodecOptions.Discovery kept; nil function: nothing is kept
}

// ByModule reports whether the peer is asked by module.
func (d *Discovery) ByModule() bool { return d != nil && d.Module != nil }

// IsCached reports whether a catalog is kept for later. d may be nil.
func (d *Discovery) IsCached() bool { return d != nil && d.Cached != nil }

// Jobs says what `rpcx job` can do. A job belongs to the connection that started it.
type Jobs struct {
	Call    json.RawMessage // the Extra of a Call that begins a job, or nil
	Bare    bool            // the result of a job is what a call would have returned, not a report on how it ended
	Journal bool            // what is listed is a journal, which outlives connections
	Lasting bool            // jobs outlive the connection that began them
}

// Evaluation says how the peer evaluates code.
type Evaluation struct {
	Runtime bool // a server evaluates code as well (--runtime)
	Live    bool // the evaluator also completes code, resets, and watches code, in frames of its own clock
}

// IsLive reports whether e, which may be nil, is Live.
func (e *Evaluation) IsLive() bool { return e != nil && e.Live }

// Streams describes unusual properties of a dialect's responses.
type Streams struct {
	NoCancel bool // a cancelled call continues at the peer
	Deferred bool // the result of a call may come after its response, as the only data item of a stream
	// Follows reports whether op is a Subscribe that sends nothing, because it only shows what the peer sends by
	// itself; nil means no operation is.
	Follows func(op Op) bool
}

// Files describes where responses contain files.
type Files struct {
	Local    bool                         // they are files of the peer's machine, named by path
	Embedded func(raw []byte) []wire.File // the files inside a whole answer message; nil means answers hold no files
}

// AreLocal reports whether f, which may be nil, is Local.
func (f *Files) AreLocal() bool { return f != nil && f.Local }

// AreEmbedded reports whether answers hold files themselves. f may be nil.
func (f *Files) AreEmbedded() bool { return f != nil && f.Embedded != nil }

// AnswerCache says how answers may be kept (--cache).
type AnswerCache struct {
	Key    func(op Op) (json.RawMessage, error) // what an answer depends on
	MaxAge func(answer []byte) time.Duration    // how long an answer may be kept; 0 means not at all
}
