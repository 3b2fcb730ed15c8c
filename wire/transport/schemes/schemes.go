// Package schemes dials and listens with the transport that an address names. It contains the table of transports.
package schemes

import (
	"cmp"
	"context"

	"rpcx/wire"
	"rpcx/wire/transport"
	"rpcx/wire/transport/child"
	"rpcx/wire/transport/httpclient"
	"rpcx/wire/transport/httpserver"
	"rpcx/wire/transport/stdio"
	"rpcx/wire/transport/stream"
	"rpcx/wire/transport/ws"
)

// Dial connects to a. Only a child may send lines that are not messages. Errors are of type *wire.Fault, with kind
// Unreachable, Auth, NotFound, NotExecutable, Usage or Protocol.
func Dial(ctx context.Context, a transport.Address, c transport.Config) (wire.Conn, error) {
	t := lookup(a)
	if t.dial == nil {
		return nil, wire.Usagef("%s: rpcx cannot connect to this transport", a.Scheme)
	}
	if err := cmp.Or(t.checkPing(a, c), t.checkHeader(a, c)); err != nil {
		return nil, err
	}
	switch {
	case c.NoiseLimit < 0:
		c.NoiseLimit = -c.NoiseLimit
	case len(a.Command) == 0:
		c.NoiseLimit = 0 // only children print other lines
	}
	return t.dial(ctx, a, c.WithDefaults())
}

// Listen listens at a. When it returns, clients can connect. Clients must not send lines that are not messages.
func Listen(ctx context.Context, a transport.Address, c transport.Config) (transport.Listener, error) {
	t := lookup(a)
	if t.listen == nil {
		return nil, transport.UsageHint("listen on ws://127.0.0.1:0/, http://, tcp://, tls://, unix:PATH or stdio:",
			"%s: rpcx cannot listen on this transport", a.Scheme)
	}
	if err := t.checkPing(a, c); err != nil {
		return nil, err
	}
	c.NoiseLimit, c.Strict = 0, true // the client may be a browser
	return t.listen(ctx, a, c.WithDefaults())
}

// Await listens at a, calls bound with the listen address, and returns the first connection that passes the checks of
// the listener. It ignores clients that are refused or disconnect at once. After that, no client can connect. When ctx
// ends, Await returns its error.
func Await(ctx context.Context, a transport.Address, c transport.Config, bound func(endpoint string) error) (wire.Conn, error) {
	c.NoPosts = true
	l, err := Listen(ctx, a, c)
	if err != nil {
		return nil, err
	}
	defer func() { _ = l.Close() }()
	if err := bound(l.Endpoint()); err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	accept := l.Accept
	if s, ok := l.(transport.PeerAccepter); ok {
		accept = s.AcceptPeer
	}
	conn, err := accept()
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return conn, err
}

// kind is a row in the table of transports.
type kind struct {
	dial   func(context.Context, transport.Address, transport.Config) (wire.Conn, error)
	listen func(context.Context, transport.Address, transport.Config) (transport.Listener, error)
	pings  bool // supports Config.Ping
	http   bool // its connections start with an HTTP request
}

// Pings reports whether connections to a support keep-alive (Config.Ping).
func Pings(a transport.Address) bool {
	return lookup(a).pings
}

// TakesHeaders reports whether a connection to a can send HTTP headers.
func TakesHeaders(a transport.Address) bool {
	return lookup(a).http
}

// checkPing rejects --ping if the transport has no keep-alive.
func (k kind) checkPing(a transport.Address, c transport.Config) error {
	if c.Ping <= 0 || k.pings {
		return nil
	}
	return transport.UsageHint("--ping works with ws, wss, ws+unix, tcp and tls", "--ping does not apply to %s:", a.Scheme)
}

// checkHeader rejects headers if the transport cannot send them. Otherwise the user might believe that a token was
// sent.
func (k kind) checkHeader(a transport.Address, c transport.Config) error {
	if len(c.Header) == 0 || k.http {
		return nil
	}
	return transport.UsageHint("headers work with ws, wss, http, https and the framing header", "--header and --token-command do not apply to %s:", a.Scheme)
}

// lookup returns the row for the scheme of an address, which is empty for an unknown scheme.
func lookup(a transport.Address) kind {
	return map[string]kind{
		"ws":        {ws.Dial, httpserver.Listen, true, true},
		"wss":       {ws.Dial, httpserver.Listen, true, true},
		"ws+unix":   {ws.Dial, httpserver.Listen, true, true},
		"http":      {httpclient.Dial, httpserver.Listen, false, true},
		"https":     {httpclient.Dial, httpserver.Listen, false, true},
		"http+unix": {httpclient.Dial, httpserver.Listen, false, true},
		"tcp":       {stream.Dial, stream.Listen, true, false},
		"tls":       {stream.Dial, stream.Listen, true, false},
		"unix":      {stream.Dial, stream.Listen, false, false},
		"exec":      {child.Dial, nil, false, false},
		"ipc":       {child.Dial, child.Listen, false, false},
		"stdio":     {stdio.Dial, stdio.Listen, false, false},
	}[a.Scheme]
}
