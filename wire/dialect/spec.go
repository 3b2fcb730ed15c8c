package dialect

import (
	"time"

	"rpcx/wire/catalog"
)

// Spec is one row of the table of dialects (see wire/dialect/all). It has all properties of a dialect that other
// packages use. Code outside wire/dialect uses these properties and never compares a dialect's name, so that a dialect
// can be added or removed with its directory and its row.
//
// Every dialect has the members before Detection. Only the first three are required. The zero values of the others are
// right for most dialects. The members from Detection on are capabilities, which are nil if a dialect lacks them.
type Spec struct {
	Name      string
	NewCodec  func(o CodecOptions) Codec // makes the codec for one connection
	NewServer func(b Backend) Server     // creates the answering side for a listener

	Shape         func() Shape        // how the messages on a tape are read, and which of their values are assigned
	JSONRPCMember bool                // messages have the member "jsonrpc":"2.0"
	Transport     Transport           // how messages travel
	Handshake     Handshake           // the messages that are exchanged first
	Names         Names               // how methods are named
	Params        Params              // which forms parameters can have
	Catalog       catalog.Conventions // how to read a catalog of this dialect if its members do not specify that
	Streams       Streams             // unusual properties of answers
	Validation    Validation          // the rules and probes of rpcx validate
	Bridge        Bridging            // how a bridge translates its methods

	Detection   *Detection
	Discovery   *Discovery
	Jobs        *Jobs
	Evaluation  *Evaluation
	Files       *Files
	AnswerCache *AnswerCache
}

// CodecOptions are the settings of a codec from the endpoint and the limits of the connection. The zero value is usable.
type CodecOptions struct {
	MaxDepth      int    // the maximum nesting; 0 for wire.DefaultMaxDepth
	Framing       string // the framing that the endpoint names; "" for the transport's default
	OneWay        bool   // the peer cannot call back, as with HTTP POST
	Serving       bool   // the local side is the server
	HandshakeDone bool   // Handshake sends nothing, but uses the ids that the handshake would have

	// Trace is called, with -v, with the results of a dialect file's programs for messages. It may be nil.
	Trace func(text string)

	Handshake HandshakeOptions // the description of the local side, if Spec.Handshake.Introduces is set
	Discovery DiscoveryCache   // for Spec.Discovery.Cached: stores the peer's catalog

	Plugin PluginOptions // for a dialect with Spec.Handshake.Plugin
}

// PluginOptions determine how a plugin is started and shut down.
type PluginOptions struct {
	NoEnvironment   bool          // omit environment.open and environment.close
	ShutdownTimeout time.Duration // the time limit of plugin.shutdown; 0 for the dialect's own
}
