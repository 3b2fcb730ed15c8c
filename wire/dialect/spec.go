package dialect

import (
	"time"

	"rpcx/wire/catalog"
)

// Spec is one row of the table of dialects (see wire/dialect/all): all properties of a dialect that the rest of rpcx uses.
// Code outside wire/dialect asks for a property and never compares a dialect's name, so that a dialect can be added or
// removed with its directory and its row.
//
// The members before Detection are those of every dialect. Only the first three are required; the zero values of the others
// are right for most dialects. The members from Detection on are capabilities, which are nil for a dialect that lacks them.
type Spec struct {
	Name      string
	NewCodec  func(o CodecOptions) Codec // makes the codec for one connection
	NewServer func(b Backend) Server     // makes the answering side, one for a listener

	Shape         func() Shape        // how the messages on a tape are read, and which of their values are made up
	JSONRPCMember bool                // messages have the member "jsonrpc":"2.0"
	Transport     Transport           // how messages travel
	Handshake     Handshake           // the messages before anything else
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

// CodecOptions are the settings of a codec from the endpoint and the limits of the connection. The zero value is usable.
type CodecOptions struct {
	MaxDepth int    // the greatest nesting that is read; 0 means wire.DefaultMaxDepth
	Framing  string // as the endpoint names it; "" means its transport's own
	OneWay   bool   // the peer cannot call back: HTTP POST
	Serving  bool   // the local side is the server
	Greeted  bool   // Greet sends nothing, but uses the ids that the handshake would have

	// Trace is called, with -v, with the results of a dialect file's programs for messages; nil means not wanted.
	Trace func(text string)

	Handshake HandshakeOptions // if Spec.Handshake.Introduces: the local description in the handshake
	Discovery DiscoveryCache   // if Spec.Discovery.Cached: keeps the peer's catalog

	Plugin PluginOptions // where Spec.Handshake.Plugin
}

// PluginOptions say how a plugin is started and shut down.
type PluginOptions struct {
	NoEnvironment   bool          // environment.open and environment.close are left out
	ShutdownTimeout time.Duration // the bound of plugin.shutdown; 0 means the dialect's own
}
