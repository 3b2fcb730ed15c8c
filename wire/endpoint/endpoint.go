// Package endpoint parses and writes endpoints, which name a peer and how to reach it. An Endpoint is a value. The
// package opens no connections.
package endpoint

import (
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/all"
	"rpcx/wire/profile"
	"rpcx/wire/redact"
	"rpcx/wire/transport"
)

// An Endpoint names a peer and how to reach it (rpcx-endpoints(7)).
type Endpoint struct {
	Dialect  string            // the dialect's name
	Framing  string            // "" for the transport's default
	Reversed string            // Accept or Dial for a reversed connection, otherwise ""
	Address  transport.Address // the zero value for a demo, a tape or a socket
	Demo     string            // the name of an embedded server, or ""
	Tape     string            // the file of a tape, or ""
	Socket   string            // the path of another process's socket, or ""
	Hook     string            // the id of the calling hook if Socket is set, or ""
	Session  string            // the session's name if Socket is set, or ""
	Profile  *profile.Profile  // the endpoint's profile, which has further settings; may be nil

	Plugin dialect.PluginOptions // the zero value for a peer that is not a plugin
}

// These prefixes reverse which side connects.
const (
	Accept = "accept" // the client listens, and its peer connects
	Dial   = "dial"   // the server connects to a client that listens
)

// reversible lists the transports on which either side can connect.
var reversible = []string{"tcp", "tls", "unix", "ws", "wss", "ws+unix"}

// String returns the redacted endpoint.
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
	if e.Profile != nil {
		for _, secret := range e.Profile.Secrets() {
			s = strings.ReplaceAll(s, secret, redact.Mark)
		}
	}
	if e.Reversed != "" {
		s = e.Reversed + "+" + s
	}
	return e.Prefixed(s)
}

// Prefixed returns s, an address, with the prefixes for e's dialect and framing.
func (e Endpoint) Prefixed(s string) string {
	if e.Framing != "" {
		s = e.Framing + "+" + s
	}
	if e.Dialect != all.Default() {
		s = e.Dialect + "+" + s
	}
	return s
}

// Spec returns the Spec of e's dialect. It is zero for an endpoint that is a socket, until the process that owns the
// socket has returned its dialect.
func (e Endpoint) Spec() dialect.Spec { return all.Named(e.Dialect) }

// CodecOptions returns the options for e's codec. limits are those of the connection.
func (e Endpoint) CodecOptions(limits wire.Options) dialect.CodecOptions {
	path, _, _ := strings.Cut(e.Address.URLPath, "?")
	return dialect.CodecOptions{
		MaxDepth: limits.MaxDepth, Framing: e.Framing, Path: path, OneWay: e.IsHTTP(),
		Plugin: e.Plugin,
	}
}

// IsHTTP reports whether messages are sent with HTTP POST.
func (e Endpoint) IsHTTP() bool { return e.Address.IsHTTP() && !e.Resolves() }

// OnlyResponds reports whether the peer sends only responses to HTTP requests.
func (e Endpoint) OnlyResponds() bool {
	return e.IsHTTP() && e.Reversed == "" && e.Spec().Transport.Sessions == nil
}

// Resolves reports whether the address is an HTTP server that returns the URL of the WebSocket to use.
func (e Endpoint) Resolves() bool {
	t := e.Spec().Transport
	return e.Address.IsHTTP() && t.Resolve != nil && !t.Posts
}

// ResolvesPost reports whether the address is an HTTP server without a path that returns the URL for POST requests.
func (e Endpoint) ResolvesPost() bool {
	a := e.Address
	return a.IsHTTP() && e.Spec().Transport.Posts && (a.URLPath == "" || a.URLPath == "/")
}

// IsBytes reports whether messages are sent over a byte stream.
func (e Endpoint) IsBytes() bool { return byteTransports[e.Address.Scheme] }
