// Package endpoint reads and writes endpoints: what names a peer and how to reach
// it. An Endpoint is a value: nothing here connects.
package endpoint

import (
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/all"
	"rpcx/wire/profile"
	"rpcx/wire/transport"
)

// An Endpoint names a peer and how to reach it (rpcx-endpoints(7)).
type Endpoint struct {
	Dialect string            // a row of the table of dialects
	Framing string            // "" means the transport's own
	Turned  string            // Accept or Dial, where the other side connects than usual; "" elsewhere
	Address transport.Address // of a transport; zero for the two below
	Demo    string            // the name of an embedded server; "" elsewhere
	Tape    string            // the file of a tape that is played; "" elsewhere
	Socket  string            // the path of a Conversation's socket; "" elsewhere
	Hook    string            // with Socket: the hook that asks, as its endpoint says it
	Session string            // with Socket: the name of the session whose it is; "" elsewhere
	Profile *profile.Profile  // where it was named: what else is set there; nil elsewhere

	NoEnvironment   bool          // of scriptling: environment.open and environment.close are left out
	ShutdownTimeout time.Duration // of scriptling: the bound of plugin.shutdown; 0: the dialect's own
}

// What stands before the transport where it is not the client that connects.
const (
	Accept = "accept" // of an endpoint that is called: its peer connects to us
	Dial   = "dial"   // of one that is served: we connect to who calls
)

// turnable are the transports that can be connected from either side.
var turnable = []string{"tcp", "tls", "unix", "ws", "wss", "ws+unix"}

// String returns the endpoint as it may be shown: redacted.
func (e Endpoint) String() string {
	switch {
	case e.Demo != "":
		return "demo:" + e.Demo
	case e.Tape != "":
		return "tape:" + e.Tape
	case e.Session != "":
		return "@" + e.Session
	case e.Socket != "":
		return "conversation:" + e.Socket
	}
	s := e.Address.String()
	if e.Turned != "" {
		s = e.Turned + "+" + s
	}
	return e.Prefixed(s)
}

// Prefixed returns an address with the dialect and the framing of e before it, as an
// endpoint has them.
func (e Endpoint) Prefixed(s string) string {
	if e.Framing != "" {
		s = e.Framing + "+" + s
	}
	if e.Dialect != all.Default() {
		s = e.Dialect + "+" + s
	}
	return s
}

// Spec returns the Spec of e's dialect; the zero Spec while the dialect is not
// known, before another process was asked.
func (e Endpoint) Spec() dialect.Spec { return all.Named(e.Dialect) }

// CodecOptions returns the options that e and the limits of a connection mean for
// its codec.
func (e Endpoint) CodecOptions(limits wire.Options) dialect.CodecOptions {
	return dialect.CodecOptions{
		MaxDepth: limits.MaxDepth, Framing: e.Framing, OneWay: e.IsHTTP(),
		NoEnvironment: e.NoEnvironment, ShutdownTimeout: e.ShutdownTimeout,
	}
}

// IsHTTP reports whether messages are sent with HTTP POST.
func (e Endpoint) IsHTTP() bool {
	return e.Address.Scheme == "http" || e.Address.Scheme == "https" || e.Address.Scheme == "http+unix"
}

// IsBytes reports whether messages are framed in a stream of bytes.
func (e Endpoint) IsBytes() bool { return byteTransports[e.Address.Scheme] }
