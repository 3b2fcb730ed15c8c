package dialect

import (
	"encoding/json"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
)

// Spec is one row of the table of dialects (see wire/dialect/all): everything that the rest of rpcx
// knows of a dialect. Code outside wire/dialect asks for one of these properties and never compares
// a dialect's name, so that a dialect can be added or removed with its folder and its row. Only the
// first three members are required; the zero values of the others are right for most dialects.
type Spec struct {
	Name      string
	NewCodec  func(o CodecOptions) Codec // makes the codec for one connection
	NewServer func(b Backend) Server     // makes the answering side, one for a listener

	// On a tape.

	Shape func() Shape // how the messages on a tape are read, and which of their values are made up

	// What the dialect's page demands.

	Rules   string // the rules, as wire/validate/rules reads them: a TOML text; "": there are none
	Probes  string // what rpcx validate asks a peer, as wire/validate/probes reads it: a TOML text; "": nothing
	Schemas string // a JSON object of the schema of each message, by its method; "": the page has none

	// How messages travel.

	Framing      string      // of byte streams whose endpoint names none; "": line
	Sentinel     bool        // on a line, what stands before the last byte 0xFF is no part of the message
	Subprotocols []string    // offered on WebSocket
	Binary       wire.Binary // what a binary message means to a client
	ServerBinary wire.Binary // what it means to a server
	// Resolve finds the URL path of the WebSocket when the endpoint names an HTTP server, which get
	// can ask. nil: messages to such an endpoint are sent as POSTs.
	Resolve       func(get func(path string) ([]byte, error)) (path string, err error)
	Duplex        bool               // both sides send messages at any time, which HTTP POST cannot carry
	Sessions      *wire.HTTPSessions // how HTTP exchanges with a listener form sessions; nil: they do not
	HTTPName      wire.HTTPName      // the header by which an HTTP server recognises a client
	Greeted       bool               // the server speaks first: until then a client sends nothing
	JSONRPCMember bool               // messages have the member "jsonrpc":"2.0"

	Asks string // a method that only servers of it answer, which makes no session; "": there is none
	// Answered reports whether body is what such a server answers to Asks.
	Answered  func(result json.RawMessage) bool
	Signature string // a regular expression that matches the first message of such a server and of no other dialect's; "": none is known

	// Names of methods. A nil function keeps the name as it is.

	CheckName    func(method string, subscribe bool) error // refuses what cannot be a method, with a usage Fault
	Method       func(typed string) string                 // the name on the wire of what a user typed
	UserName     func(typed, method string) string         // a method of the wire, spelt as a user would who typed typed
	HookName     func(method string) string                // what hooks and policies call a method of the wire; takes patterns
	Answers      []string                                  // methods that a server of this dialect answers without a hook, beside rpc.discover and rpc.describe
	PolicyCovers func(pattern string) []string             // the further patterns that a policy's pattern, as HookName returns it, implies; nil: none
	WireName     func(hookName string) string              // the inverse of HookName
	ModuleOf     func(method string) string                // the module of a method; nil: the peer is not asked by module

	// Parameters.

	ParamStyles    []string // how an object of params can be sent (--params-style), the usual way first; nil: one way
	ScalarParams   bool     // params may be any JSON value, not only an object or an array
	FunctionValues bool     // params can hold functions (key@on=NAME)
	Extra          []string // members of a message beside method and params that a user may give (--extra)
	RequestFields  bool     // a request has fields beside method and params: resource, target, verb and the like
	TypedParams    bool     // Conversation.Typing tells by which schemas params are typed

	// What can be done beside calls.

	Jobs              Jobs            // what `rpcx job` can do
	JobCall           json.RawMessage // the Extra of a Call that begins a job; nil: none
	BareJobs          bool            // the result of a job is what a call would have returned, not a report on how it ended
	Evals             bool            // the peer evaluates code
	NoRuntime         bool            // as a server it evaluates nothing
	LiveEval          bool            // its evaluator also completes code, resets, and watches code; commands may be jobs
	Plugin            bool            // the peer is a plugin: `rpcx plugin` speaks it
	DeclaresHooks     bool            // the greeting says who we are and which hooks answer
	HandshakeMetadata bool            // the greeting says who we are and which session to resume (--meta, --resume)
	GreetingMeta      bool            // the greeting can hold the object that the user gives with --meta
	NoCancel          bool            // a call that we give up runs on at the peer
	LocalArtifacts    bool            // artifacts are files of the peer's machine, named by path
	// Files returns the files inside a whole answer message; nil: answers hold no files.
	Files     func(raw []byte) []wire.File
	OneClient bool // the peer has one client: whoever connects evicts who is there
	// Follows reports whether op is a Subscribe that sends nothing, because it only shows what the
	// peer sends by itself; nil: no operation is.
	Follows         func(op Op) bool
	DeferredResults bool // the result of a call may come after its response, as the only data item of a stream

	Bridge Bridging // how its methods and those of other dialects meet in a bridge

	// Catalogs and caches.

	Catalog       catalog.Conventions                              // how a catalog of this dialect is read where its members do not say it
	NoDescription string                                           // what is missing in a peer that cannot be described, as a clause; "": it has no rpc.discover
	CachedCatalog func(discovery json.RawMessage) *catalog.Catalog // the catalog in what CodecOptions.Discovery kept; nil function: nothing is kept
	AnswerKey     func(op Op) (json.RawMessage, error)             // what an answer depends on; nil: answers are not cached (--cache)
	AnswerMaxAge  func(answer []byte) time.Duration                // how long an answer may be kept; 0: not at all
}

// CodecOptions tell a codec what the endpoint says and which limits the connection has. The zero
// value is usable.
type CodecOptions struct {
	MaxDepth int    // the greatest nesting that is read; 0: wire.DefaultMaxDepth
	Framing  string // as the endpoint names it; "": its transport's own
	OneWay   bool   // the peer cannot call back: HTTP POST
	Serving  bool   // we are the server
	Greeted  bool   // Greet sends nothing, but uses up the ids that the greeting would have had

	// Trace is called, with -v, with what a page's programs have made of a message; nil: it is not
	// wanted.
	Trace func(text string)

	Handshake HandshakeOptions // where Spec.HandshakeMetadata: what the greeting says about us
	Discovery DiscoveryCache   // where Spec.CachedCatalog: keeps what the peer says it offers

	NoEnvironment   bool          // of plugins: no environment.open and environment.close
	ShutdownTimeout time.Duration // of plugins: the bound of plugin.shutdown; 0: the dialect's own
}

// Jobs says how far a dialect has jobs.
type Jobs int

// How far jobs go.
const (
	NoJobs  Jobs = iota
	OwnJobs      // a job belongs to the connection that started it
	AnyJobs      // a job outlives its connection
)

// ForHooks returns the name by which hooks and policies call a method of the wire.
func (s Spec) ForHooks(method string) string {
	if s.HookName == nil {
		return method
	}
	return s.HookName(method)
}

// AllForHooks applies ForHooks to of each pattern.
func (s Spec) AllForHooks(patterns []string) []string {
	out := make([]string, len(patterns))
	for i, p := range patterns {
		out[i] = s.ForHooks(p)
	}
	return out
}

// ForPolicy applies ForHooks to each pattern of a policy and adds the patterns that
// it covers.
func (s Spec) ForPolicy(patterns []string) []string {
	out := s.AllForHooks(patterns)
	if s.PolicyCovers == nil {
		return out
	}
	for _, p := range patterns {
		out = append(out, s.PolicyCovers(s.ForHooks(p))...)
	}
	return out
}

// OnWire returns the name on the wire of what a user typed as a method.
func (s Spec) OnWire(typed string) string {
	if s.Method == nil {
		return typed
	}
	return s.Method(typed)
}

// Misspelt is the cause of a usage Fault of CheckName if it is known which method was meant.
type Misspelt struct{ Method string }

// Error names the better spelling.
func (m *Misspelt) Error() string { return "it is spelt " + m.Method }
