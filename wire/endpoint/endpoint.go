// Package endpoint parses and writes endpoints, which name a peer and how to reach it. An Endpoint is a value; the
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
	Dialect  string            // the dialect's name
	Framing  string            // "" for the transport's default
	Reversed string            // Accept or Dial for a reversed connection, else ""
	Address  transport.Address // the zero value for a demo, a tape and a socket
	Demo     string            // the name of an embedded server, or ""
	Tape     string            // the file of a tape, or ""
	Socket   string            // the path of another process's socket, or ""
	Hook     string            // with Socket: the id of the calling hook
	Session  string            // with Socket: the session's name, or ""
	Profile  *profile.Profile  // the endpoint's profile, with further settings; may be nil

	Plugin dialect.PluginOptions // the zero value for a peer that is not a plugin
}

// These prefixes reverse the direction of connecting.
const (
	Accept = "accept" // the peer of a client connects
	Dial   = "dial"   // a server connects to its client
)

// reversible are the transports that either side can connect.
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

// Prefixed returns an address after the prefixes for e's dialect and framing.
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

// CodecOptions returns the options of e's codec, with the limits of a connection.
func (e Endpoint) CodecOptions(limits wire.Options) dialect.CodecOptions {
	path, _, _ := strings.Cut(e.Address.URLPath, "?")
	return dialect.CodecOptions{
		MaxDepth: limits.MaxDepth, Framing: e.Framing, Path: path, OneWay: e.IsHTTP(),
		Plugin: e.Plugin,
	}
}

// IsHTTP reports whether HTTP POST carries the messages.
func (e Endpoint) IsHTTP() bool { return e.Address.IsHTTP() && !e.Resolves() }

// Resolves reports whether the address is an HTTP server that names the WebSocket for the conversation.
func (e Endpoint) Resolves() bool {
	t := e.Spec().Transport
	return e.Address.IsHTTP() && t.Resolve != nil && !t.Posts
}

// ResolvesPost reports whether the address is an HTTP server without a path, which names the URL for POST.
func (e Endpoint) ResolvesPost() bool {
	a := e.Address
	return a.IsHTTP() && e.Spec().Transport.Posts && (a.URLPath == "" || a.URLPath == "/")
}

// IsBytes reports whether a byte stream carries the messages.
func (e Endpoint) IsBytes() bool { return byteTransports[e.Address.Scheme] }
