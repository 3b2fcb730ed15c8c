package dialect

import (
	"time"

	"rpcx/wire/catalog"
)

// Spec is one row of the table of dialects (see wire/dialect/all): everything that the rest of rpcx
// knows of a dialect. Code outside wire/dialect asks for one of these properties and never compares
// a dialect's name, so that a dialect can be added or removed with its folder and its row.
//
// The members before Detection are those of every dialect. Only the first three are required; the
// zero values of the others are right for most dialects. The members from Detection on are
// capabilities, which are nil for a dialect that lacks them.
type Spec struct {
	Name      string
	NewCodec  func(o CodecOptions) Codec // makes the codec for one connection
	NewServer func(b Backend) Server     // makes the answering side, one for a listener

	Shape         func() Shape        // how the messages on a tape are read, and which of their values are made up
	JSONRPCMember bool                // messages have the member "jsonrpc":"2.0"
	Transport     Transport           // how messages travel
	Handshake     Handshake           // what is exchanged before anything else
	Names         Names               // how methods are named
	Params        Params              // what parameters can be
	Catalog       catalog.Conventions // how a catalog of this dialect is read where its members do not say it
	Streams       Streams             // what is unusual about answers
	Validation    Validation          // what rpcx validate compares a peer with
	Bridge        Bridging            // how its methods and those of other dialects meet in a bridge

	Detection   *Detection
	Discovery   *Discovery
	Jobs        *Jobs
	Evaluation  *Evaluation
	Files       *Files
	AnswerCache *AnswerCache
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

	Handshake HandshakeOptions // where Spec.Handshake.Introduces: what the greeting says about us
	Discovery DiscoveryCache   // where Spec.Discovery.Cached: keeps what the peer says it offers

	Plugin PluginOptions // where Spec.Handshake.Plugin
}

// PluginOptions say how a plugin is started and shut down.
type PluginOptions struct {
	NoEnvironment   bool          // environment.open and environment.close are left out
	ShutdownTimeout time.Duration // the bound of plugin.shutdown; 0: the dialect's own
}
