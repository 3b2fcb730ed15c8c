package dialect

import (
	"encoding/json"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
)

// Spec is one row of the table of dialects (see wire/dialect/all): all that the
// rest of rpcx knows of the dialect. Code outside wire/dialect asks for one of
// these properties and never compares with a dialect's name, so that a dialect
// comes and goes with its folder and its row. Only the first three are
// required; the zero value of the others is what most dialects are.
type Spec struct {
	Name      string
	NewCodec  func(o CodecOptions) Codec // makes the codec for one connection
	NewServer func(b Backend) Server     // makes the answering side, one for a listener

	// On a tape.

	Shape func() Shape // how messages are told apart on a tape, and what of them is made up

	// What the dialect's page demands.

	Rules   string // the rules, as wire/validate/rules reads them: a TOML text; "": there are none
	Probes  string // what a peer is asked to find out whether it keeps them, as wire/validate/probes reads it: a TOML text; "": nothing
	Schemas string // a JSON object of the schema of each message, by its method; "": the page has none

	// How messages travel.

	Framing      string      // of byte streams whose endpoint names none; "": line
	Sentinel     bool        // on a line, what stands before the last byte 0xFF is no part of the message
	Subprotocols []string    // offered on WebSocket
	Binary       wire.Binary // what a binary message means to a client
	ServerBinary wire.Binary // what it means to a server
	// Resolve finds the WebSocket of an endpoint that names an HTTP server: its path. get
	// asks that server. nil: messages to such an endpoint are posted.
	Resolve       func(get func(path string) ([]byte, error)) (path string, err error)
	Duplex        bool               // both sides send unasked, which HTTP POST cannot carry
	Sessions      *wire.HTTPSessions // how exchanges with an HTTP listener are sessions; nil: they are not
	HTTPName      wire.HTTPName      // how an HTTP server knows its client
	Greeted       bool               // the server speaks first: until then a client sends nothing
	JSONRPCMember bool               // messages have the member "jsonrpc":"2.0"

	Asks string // a method that only servers of it answer, which makes no session; "": there is none
	// Answered reports whether that is what such a server answers to Asks.
	Answered  func(result json.RawMessage) bool
	Signature string // a regular expression of what a server says first that no other dialect's says; "": nothing is known

	// Names of methods. A nil function keeps the name as it is.

	CheckName    func(method string, subscribe bool) error // refuses what cannot be a method, with a usage Fault
	Method       func(typed string) string                 // the name on the wire of what a user typed
	UserName     func(typed, method string) string         // a method of the wire, spelt as a user would who typed typed
	HookName     func(method string) string                // what hooks and policies call a method of the wire; takes patterns
	Answers      []string                                  // methods that a server of this dialect answers without a hook, beside rpc.discover and rpc.describe
	PolicyCovers func(pattern string) []string             // the further patterns that a pattern of a policy, as HookName has it, stands for; nil: none
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
	BareJobs          bool            // a job comes to what a call would have been answered, not to a report on how it ended
	Evals             bool            // the peer evaluates code
	NoRuntime         bool            // as a server it evaluates nothing
	LiveEval          bool            // its evaluator also completes code, resets, and watches code; commands may be jobs
	Plugin            bool            // the peer is a plugin: `rpcx plugin` speaks it
	DeclaresHooks     bool            // the greeting says who we are and which hooks answer
	HandshakeMetadata bool            // the greeting says who we are and which session to resume (--meta, --resume)
	GreetingMeta      bool            // the greeting has a place for what the user gives with --meta alone
	NoCancel          bool            // a call that we give up runs on at the peer
	LocalArtifacts    bool            // artifacts are files of the peer's machine, named by path
	// Files returns the files that an answer holds, a whole message; nil: answers hold none.
	Files     func(raw []byte) []wire.File
	OneClient bool // the peer has one client: whoever connects evicts who is there
	// Follows reports whether op is a Subscribe that sends nothing, as it shows what
	// the peer sends by itself from then on; nil: none is.
	Follows         func(op Op) bool
	DeferredResults bool // the result of a call may come after its response, as the stream's one data item

	Bridge Bridging // how its methods and those of other dialects meet in a bridge

	// Catalogs and caches.

	Catalog       catalog.Conventions                              // what a catalog of this dialect means beyond its members
	NoDescription string                                           // what a peer lacks that cannot be described, as a clause; "": it has no rpc.discover
	CachedCatalog func(discovery json.RawMessage) *catalog.Catalog // the catalog in what CodecOptions.Discovery kept; nil function: nothing is kept
	AnswerKey     func(op Op) (json.RawMessage, error)             // what an answer depends on; nil: answers are not cached (--cache)
	AnswerMaxAge  func(answer []byte) time.Duration                // how long an answer may be kept; 0: not at all
}

// CodecOptions pass on to a codec what the endpoint and the limits of its
// connection say. The zero value is usable.
type CodecOptions struct {
	MaxDepth int    // the greatest nesting that is read; 0: wire.DefaultMaxDepth
	Framing  string // as the endpoint names it; "": its transport's own
	OneWay   bool   // the peer cannot call back: HTTP POST
	Serving  bool   // we are the server
	Greeted  bool   // nothing is sent: the ids of the greeting are taken, and Greet does nothing

	// Trace is told, with -v, what a page's programs made of a message. nil: nobody looks.
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

// Misspelt is the cause of a usage Fault of CheckName that knows which method
// was meant.
type Misspelt struct{ Method string }

// Error names the better spelling.
func (m *Misspelt) Error() string { return "it is spelt " + m.Method }
