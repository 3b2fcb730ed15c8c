// Package transport describes connections: Addresses, the settings of a connection (Config), its observers (Watch), and
// common failures. Pair is a connection in memory. The transports are in the packages below; package schemes has their
// table.
package transport

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"rpcx/wire"
)

// A Config describes how to connect to a peer, or how to listen. Byte transports need Framing. Otherwise, the zero
// value is usable.
type Config struct {
	Framing wire.Framing // for tcp, tls, unix, exec, stdio and ipc (which uses line)
	wire.Options
	Exchanges
	Header              http.Header // headers of the HTTP request (http, ws)
	Subprotocols        []string    // offered or accepted subprotocols, in order of preference
	SubprotocolOptional bool        // the server may choose no subprotocol
	TLS                 TLS
	Binary              wire.Binary

	ConnectTimeout time.Duration // bounds connecting, including handshakes (10 s by default)
	Ping           time.Duration // the interval of keep-alive pings (ws) or probes (tcp, tls); 0 for none with ws and Go's default with tcp; a usage error elsewhere
	CloseTimeout   time.Duration // bounds each step of Close (2 s by default)
	// Hurry ends when the caller of Close stops waiting. Close then skips its remaining waits, and kills a child
	// HurriedGrace after asking it to exit. nil never ends.
	Hurry context.Context

	// Stderr receives a child's stderr. If it has a method Flush(), Close calls that at the end. It may be nil.
	Stderr io.Writer
	// Env contains additional environment variables of a child, as NAME=VALUE.
	Env []string
	// Warn receives a line for the user, without a line break, although nothing failed. It may be nil.
	Warn func(line string)
	// Watch receives the steps of connecting and, if wanted, the bytes. It may be nil.
	Watch *Watch
	HTTPObserver
	Route
	Stdio
	Listening
}

// Exchanges are a dialect's settings for exchanges over HTTP (http, ws).
type Exchanges struct {
	Sessions *wire.HTTPSessions // how exchanges form sessions; may be nil
	Name     wire.HTTPName      // how a server identifies its client
	Gets     wire.HTTPGets      // a listener's responses to GET; may be nil
}

// HTTPObserver has callbacks for a client's HTTP exchanges. Any goroutine may call them. Each may be nil.
type HTTPObserver struct {
	Login      Login          // the user's login at the server, unless Header has Authorization; may be nil
	Exchanged  func(Exchange) // receives the Exchange after the head of a response, and must not retain it
	Unanswered func()         // runs when a POST has had no response for UnansweredAfter
}

// A Login provides the user's tokens for web servers.
type Login interface {
	// Token returns the bearer token for a request to u, or "". refused is the token that the server has just refused, or "".
	Token(ctx context.Context, u *url.URL, refused string) (string, error)
	// Identity returns the name of the login for an address, by which the server knows the user, or "".
	Identity(a Address) string
}

// Listening contains the settings of listeners.
type Listening struct {
	AllowOrigin []string                                                  // exact Origins that may connect (http, ws), "*" for all, or empty for none
	Token       string                                                    // the required bearer token of clients (http, ws), or ""
	Public      bool                                                      // a listener beyond loopback requires no token or client certificates
	MaxClients  int                                                       // bounds the simultaneous connections of a listener (1,000 by default)
	Relay       func(w http.ResponseWriter, r *http.Request, body []byte) // handles all requests that pass the guard, including those below the listener's path (on a ws listener: upgrades); without it, each upgrade and each POST is a connection
	NoPosts     bool                                                      // accept only WebSockets (http, ws), because the dialect needs both directions
}

// A Route is the network route to an address of ws, wss, http, https, tcp or tls.
type Route struct {
	Proxy   *url.URL          // nil for the proxy in the environment, if any
	Direct  bool              // ignore the proxy in the environment
	Resolve map[string]string // maps host:port to another address for the connection, without a port
}

// Stdio replaces the process's stdin and stdout for stdio. It may be nil.
type Stdio struct {
	Stdin  io.ReadCloser
	Stdout io.WriteCloser
}

// TLS names the files for TLS.
type TLS struct {
	CACert   string // a PEM file of roots: a client's roots for servers, or a listener's roots for clients, which then need a certificate
	Cert     string // a PEM file of the local certificate chain
	Key      string // a PEM file of the certificate's key
	Insecure bool   // do not verify the peer's certificate
}

// A Listener accepts connections.
type Listener interface {
	// Accept returns the next connection after its handshake, or net.ErrClosed after Close.
	Accept() (wire.Conn, error)
	// Endpoint returns the listen address as a client uses it ("ws://127.0.0.1:41233/", "unix:/tmp/x.sock"), or "" for
	// stdio.
	Endpoint() string
	// Close closes the listener, not its connections, and removes a socket file.
	Close() error
}

// A PeerAccepter is a Listener that can wait for one expected peer.
type PeerAccepter interface {
	// AcceptPeer accepts a connection of that peer.
	AcceptPeer() (wire.Conn, error)
}

// A Drainer is a Listener that can stop accepting connections.
type Drainer interface {
	// Drain makes Accept return net.ErrClosed after the connections made so far.
	Drain()
}

// WithDefaults returns c with the default for each zero.
func (c Config) WithDefaults() Config {
	c.Options = c.Options.WithDefaults()
	c.ConnectTimeout = cmp.Or(max(c.ConnectTimeout, 0), 10*time.Second)
	c.CloseTimeout = cmp.Or(max(c.CloseTimeout, 0), 2*time.Second)
	c.Name.Header = cmp.Or(c.Name.Header, "Mcp-Session-Id") // a server that sends the header expects the header back
	return c
}

// Warnf passes one line to Config.Warn, if any.
func (c Config) Warnf(format string, args ...any) {
	if c.Warn != nil {
		c.Warn(fmt.Sprintf(format, args...))
	}
}

// WarnInsecure warns, for each connection, about an unverified peer.
func (c Config) WarnInsecure(where string) {
	if c.TLS.Insecure {
		c.Warnf("%s: the certificate is not verified (--insecure)", where)
	}
}

// Frame applies c's framing to a stream of bytes. from is the client's name on a listener.
func (c Config) Frame(s io.ReadWriteCloser, who string) (wire.Conn, error) {
	if c.Framing == nil {
		s.Close()
		return nil, wire.NewFault(wire.Internal, "a stream of bytes without a framing", nil)
	}
	c.Seen = c.Watch.Pieces(who)
	return c.Framing(s, c.Options), nil
}

// Within returns a context that ends after d, or extra after the end of hurry. hurry may be nil.
func Within(hurry context.Context, d, extra time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	if hurry == nil {
		return ctx, cancel
	}
	stop := context.AfterFunc(hurry, func() { time.AfterFunc(extra, cancel) })
	return ctx, func() { stop(); cancel() }
}

// Layer returns the first T among a connection and those that it wraps.
func Layer[T any](c net.Conn) (t T, ok bool) {
	for {
		if t, ok = c.(T); ok {
			return t, true
		}
		below, more := c.(interface{ NetConn() net.Conn })
		if !more {
			return t, false
		}
		c = below.NetConn()
	}
}
