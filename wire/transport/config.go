// Package transport describes connections: Addresses, the settings of a connection (Config), its observers (Watch), and the
// failures that all transports share. Pair is a connection in memory. The transports are in the packages below; package
// schemes is their table.
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

// A Config describes how to connect to a peer, or how to listen. The zero value is usable, except for Framing, which
// byte transports need.
type Config struct {
	Framing wire.Framing // for tcp, tls, unix, exec, ipc (always line), stdio
	wire.Options
	Exchanges
	Header              http.Header // of the HTTP request (http, ws)
	Subprotocols        []string    // offered (by a listener: accepted), in order of preference
	SubprotocolOptional bool        // the server may choose no subprotocol
	TLS                 TLS
	Binary              wire.Binary

	ConnectTimeout time.Duration // until connected, including handshakes; 0 for 10 s
	Ping           time.Duration // between keep-alive pings (ws) or probes (tcp, tls); 0 for none with ws and Go's default with tcp; a usage error elsewhere
	CloseTimeout   time.Duration // the limit of each step of Close; 0 for 2 s
	// Hurry ends when the caller of Close stops waiting. Close then skips its remaining waits, and kills a child
	// shortly (HurriedGrace) after asking it to exit. nil never ends.
	Hurry context.Context

	// Stderr receives a child's stderr as it arrives; if it has a method Flush(), Flush is called at the end. It may be
	// nil.
	Stderr io.Writer
	// Env is added to a child's environment, as NAME=VALUE.
	Env []string
	// Warn receives one line, without a line break, that a user should read although nothing failed. It may be nil.
	Warn func(line string)
	// Watch receives the steps of connecting and, if requested, the bytes. It may be nil.
	Watch *Watch
	HTTPObserver
	Route
	Stdio
	Listening
}

// Exchanges are a dialect's settings for exchanges over HTTP (http, ws).
type Exchanges struct {
	Sessions *wire.HTTPSessions // how exchanges form sessions, or nil
	Name     wire.HTTPName      // how a server identifies its client
	Gets     wire.HTTPGets      // a listener's response to GET, or nil
}

// HTTPObserver has callbacks for the HTTP exchanges of a client, called from any goroutine. Each of them may be nil.
type HTTPObserver struct {
	Login      Login          // the user's login at the server, unless Header has Authorization; nil if there is none
	Exchanged  func(Exchange) // after the head of a response; must not keep the Exchange
	Unanswered func()         // when a POST has had no response, not even a status, for UnansweredAfter
}

// A Login has the tokens of a user at web servers.
type Login interface {
	// Token returns the bearer token for a request to u, or "" if there is none. refused is the token that the server has just
	// refused; "" at first.
	Token(ctx context.Context, u *url.URL, refused string) (string, error)
	// Identity returns the name of the login for an address, by which the server knows the user, or "" if there is
	// none.
	Identity(a Address) string
}

// Listening are the settings of listeners.
type Listening struct {
	AllowOrigin []string                                                  // exact Origins that may connect (http, ws), "*" for all; empty for none
	Token       string                                                    // the bearer token that clients must send (http, ws), or ""
	Public      bool                                                      // a listener beyond loopback needs no token or client certificates
	MaxClients  int                                                       // simultaneous connections of a listener; 0 for 1,000
	Relay       func(w http.ResponseWriter, r *http.Request, body []byte) // handles all requests that pass the guard (a listener of ws: upgrades), also for paths below the listener's; if it is nil, each upgrade and each POST is a connection
	NoPosts     bool                                                      // accept only WebSockets (http, ws), because the dialect needs both directions
}

// A Route is the network route to an address of ws, wss, http, https, tcp or tls.
type Route struct {
	Proxy   *url.URL          // nil for the proxy of the environment, if any
	Direct  bool              // ignore the proxy of the environment
	Resolve map[string]string // host:port to the address to connect to instead, without a port
}

// Stdio is the process's stdin and stdout, for stdio. nil means os.Stdin and os.Stdout.
type Stdio struct {
	Stdin  io.ReadCloser
	Stdout io.WriteCloser
}

// TLS names the files for TLS.
type TLS struct {
	CACert   string // a PEM file of roots: for a client, the roots of servers; for a listener, the roots of clients (which then need a certificate)
	Cert     string // a PEM file of the local certificate chain
	Key      string // a PEM file of the certificate's key
	Insecure bool   // do not verify the peer's certificate
}

// A Listener accepts connections.
type Listener interface {
	// Accept returns the next connection after its handshake. It returns net.ErrClosed after Close.
	Accept() (wire.Conn, error)
	// Endpoint is the listen address in a client's spelling ("ws://127.0.0.1:41233/", "unix:/tmp/x.sock"). It is "" for
	// stdio.
	Endpoint() string
	// Close closes the listener, not its connections, and removes a socket file.
	Close() error
}

// A PeerAccepter is a Listener that can accept one expected peer.
type PeerAccepter interface {
	// AcceptPeer is Accept for that peer.
	AcceptPeer() (wire.Conn, error)
}

// A Drainer is a Listener that can stop accepting new connections.
type Drainer interface {
	// Drain makes Accept return net.ErrClosed after the connections made so far.
	Drain()
}

// WithDefaults returns c with defaults instead of zeros.
func (c Config) WithDefaults() Config {
	c.Options = c.Options.WithDefaults()
	c.ConnectTimeout = cmp.Or(max(c.ConnectTimeout, 0), 10*time.Second)
	c.CloseTimeout = cmp.Or(max(c.CloseTimeout, 0), 2*time.Second)
	c.Name.Header = cmp.Or(c.Name.Header, "Mcp-Session-Id") // a server that sends it expects it back
	return c
}

// Warnf passes one line to Config.Warn, if it is set.
func (c Config) Warnf(format string, args ...any) {
	if c.Warn != nil {
		c.Warn(fmt.Sprintf(format, args...))
	}
}

// WarnInsecure prints a warning, for each connection, that the peer was not verified.
func (c Config) WarnInsecure(where string) {
	if c.TLS.Insecure {
		c.Warnf("%s: the certificate is not verified (--insecure)", where)
	}
}

// Frame applies c's framing to a stream of bytes. for a listener, the name of the client
func (c Config) Frame(s io.ReadWriteCloser, who string) (wire.Conn, error) {
	if c.Framing == nil {
		s.Close()
		return nil, wire.NewFault(wire.Internal, "a stream of bytes without a framing", nil)
	}
	c.Seen = c.Watch.Pieces(who)
	return c.Framing(s, c.Options), nil
}

// Within returns a context that ends after d, or extra after hurry has ended. hurry may be nil.
func Within(hurry context.Context, d, extra time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	if hurry == nil {
		return ctx, cancel
	}
	stop := context.AfterFunc(hurry, func() { time.AfterFunc(extra, cancel) })
	return ctx, func() { stop(); cancel() }
}

// Layer returns the first T among a connection and the connections that it wraps.
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
