// Package endpoint parses and writes endpoints, which name a peer and how to reach it. An Endpoint is a value: this
// package opens no connection.
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
	Dialect  string            // a name in the table of dialects
	Framing  string            // "" for the transport's default
	Reversed string            // Accept or Dial if the connection is reversed, else ""
	Address  transport.Address // zero for a demo, a tape and a socket
	Demo     string            // the name of an embedded server, else ""
	Tape     string            // the file of a tape that is played, else ""
	Socket   string            // the path of the socket of another process's conversation, else ""
	Hook     string            // with Socket: the id of the calling hook, from its endpoint
	Session  string            // with Socket: the name of the session, else ""
	Profile  *profile.Profile  // the profile that names the endpoint, for its other settings, or nil

	Plugin dialect.PluginOptions // zero for a peer that is not a plugin
}

// These prefixes reverse which side connects.
const (
	Accept = "accept" // for a peer to call: the peer connects
	Dial   = "dial"   // for an endpoint to serve: rpcx connects to the client
)

// reversible are the transports for which either side can connect.
var reversible = []string{"tcp", "tls", "unix", "ws", "wss", "ws+unix"}

// String returns the endpoint in a form that is safe to show, with secrets redacted.
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

// Prefixed returns an address with the prefixes for the dialect and the framing
// of e.
func (e Endpoint) Prefixed(s string) string {
	if e.Framing != "" {
		s = e.Framing + "+" + s
	}
	if e.Dialect != all.Default() {
		s = e.Dialect + "+" + s
	}
	return s
}

// Spec returns the Spec of e's dialect. It is zero for an endpoint of another process until that process has returned
// its dialect.
func (e Endpoint) Spec() dialect.Spec { return all.Named(e.Dialect) }

// CodecOptions returns the options of a codec for e, with the limits of a connection.
func (e Endpoint) CodecOptions(limits wire.Options) dialect.CodecOptions {
	path, _, _ := strings.Cut(e.Address.URLPath, "?")
	return dialect.CodecOptions{
		MaxDepth: limits.MaxDepth, Framing: e.Framing, Path: path, OneWay: e.IsHTTP(),
		Plugin: e.Plugin,
	}
}

// IsHTTP reports whether messages are sent with HTTP POST.
func (e Endpoint) IsHTTP() bool { return e.Address.IsHTTP() && !e.Resolves() }

// Resolves reports whether the address is that of an HTTP server that names the WebSocket of the conversation.
func (e Endpoint) Resolves() bool {
	t := e.Spec().Transport
	return e.Address.IsHTTP() && t.Resolve != nil && !t.Posts
}

// ResolvesPost reports whether the address is that of an HTTP server that names the URL for POST, because it has no path.
func (e Endpoint) ResolvesPost() bool {
	a := e.Address
	return a.IsHTTP() && e.Spec().Transport.Posts && (a.URLPath == "" || a.URLPath == "/")
}

// IsBytes reports whether messages are framed in a byte stream.
func (e Endpoint) IsBytes() bool { return byteTransports[e.Address.Scheme] }
