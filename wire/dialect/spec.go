package dialect

import (
	"time"

	"rpcx/wire/catalog"
)

// A Spec is one row of the table of dialects (see wire/dialect/all). It has all properties of a dialect that other
// packages use. Code outside of wire/dialect never compares a dialect's name, so adding or removing a dialect only
// changes its directory and its row.
//
// Every dialect has the members before Detection. Only the first three are required; the zero values of the others suit
// most dialects. The members from Detection on are capabilities, which are nil if a dialect lacks them.
type Spec struct {
	Name      string
	NewCodec  func(o CodecOptions) Codec // returns the codec of one connection
	NewServer func(b Backend) Server     // returns the answering side of a listener

	Shape         func() Shape // how to read messages of a tape
	JSONRPCMember bool         // messages have the member "jsonrpc":"2.0"
	Transport     Transport    // how messages travel
	Handshake     Handshake    // the first messages
	Names         Names
	Params        Params
	Catalog       catalog.Conventions // how to read a catalog of this dialect
	Streams       Streams             // unusual properties of responses
	Validation    Validation          // the rules and probes of rpcx validate
	Bridge        Bridging            // how a bridge translates this dialect's methods

	Detection   *Detection
	Discovery   *Discovery
	Jobs        *Jobs
	Evaluation  *Evaluation
	Files       *Files
	AnswerCache *AnswerCache
}

// CodecOptions configure a codec from the endpoint and the limits of the connection. The zero value is usable.
type CodecOptions struct {
	MaxDepth      int    // the maximum nesting (wire.DefaultMaxDepth by default)
	Framing       string // the framing in the endpoint, or "" for the transport's default
	Path          string // the path of the endpoint's URL, without its query
	OneWay        bool   // the peer cannot send requests, as with HTTP POST
	Serving       bool   // the local side is the server
	HandshakeDone bool   // Handshake sends nothing, but uses the same ids as a handshake

	// Trace receives, with -v, the results of a dialect file's programs. It may be nil.
	Trace func(text string)

	Handshake HandshakeOptions // the local side, if Spec.Handshake.Introduces is set
	Discovery DiscoveryCache   // stores the peer's catalog for Spec.Discovery.Cached

	Plugin PluginOptions // for a dialect with Spec.Handshake.Plugin
}

// PluginOptions determine how a plugin is started and shut down.
type PluginOptions struct {
	NoEnvironment   bool
	ShutdownTimeout time.Duration // the time limit of plugin.shutdown (0: the dialect's default)
}
