// Package transport describes connections: Addresses, what is asked of a connection (Config), who watches it (Watch), and
// the failures that all transports share. Pair is a connection in memory. The transports themselves are the packages
// below, and package schemes is the table of them.
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

// A Config says how to reach a peer, or how to be reached. The zero value is usable
// but for Framing, which byte transports need.
type Config struct {
	Framing wire.Framing // for tcp, tls, unix, exec, ipc (always line), stdio
	wire.Options
	Exchanges
	Header              http.Header // of the HTTP request (http, ws)
	Subprotocols        []string    // offered, or as a listener accepted, in order of preference
	SubprotocolOptional bool        // a server that picks none of them is no surprise
	TLS                 TLS
	Binary              wire.Binary

	ConnectTimeout time.Duration // until connected, handshakes included; 0 means 10 s
	Ping           time.Duration // between keep-alive pings (ws) or probes (tcp, tls); 0 means none for ws and Go's own for tcp; a usage error elsewhere
	CloseTimeout   time.Duration // bound of each step of Close; 0 means 2 s
	// Hurry ends when the caller of Close has lost patience: the steps of Close are
	// not waited for any longer, and a child gets a moment (HurriedGrace) between
	// being asked to end and being killed. nil: never.
	Hurry context.Context

	// Stderr gets what a child writes to its stderr, as it comes; where it has a
	// method Flush(), that is called at the end. May be nil.
	Stderr io.Writer
	// Env is added to a child's environment, as NAME=VALUE.
	Env []string
	// Warn gets one line, without its end, of what a user should know though
	// nothing failed. May be nil.
	Warn func(line string)
	// Watch is told how connections come about and, where it wants that, of the bytes. May be nil.
	Watch *Watch
	HTTPObserver
	Route
	Stdio
	Listening
}

// Exchanges are what a dialect has to say of exchanges over HTTP (http, ws).
type Exchanges struct {
	Sessions *wire.HTTPSessions // how they are sessions; nil: they are not
	Name     wire.HTTPName      // how a server knows its client
	Gets     wire.HTTPGets      // what a listener answers to a GET; nil: nothing
}

// HTTPObserver are who is told of the HTTP exchanges of what is dialled, by any goroutine. Each may be nil.
type HTTPObserver struct {
	Exchanged  func(Exchange) // when the head of a response has come; keeps nothing
	Unanswered func()         // when nothing has come for a POST for UnansweredAfter, not even a status
}

// Listening is what listeners alone are told.
type Listening struct {
	AllowOrigin []string                                                  // exact Origins that may connect (http, ws), "*" for all; none without
	Token       string                                                    // the bearer token demanded (http, ws); "" demands none
	Public      bool                                                      // a listener that is not loopback needs no token and no client certificate
	MaxClients  int                                                       // how many connections a listener has at once; 0 means 1,000
	Relay       func(w http.ResponseWriter, r *http.Request, body []byte) // takes all requests but upgrades that the guard lets in (http); nil: each POST is a connection
	NoPosts     bool                                                      // only WebSockets are taken (http, ws): what is spoken needs both directions
}

// A Route says which way leads to an address of ws, wss, http, https, tcp or tls.
type Route struct {
	Proxy   *url.URL          // nil: the one that the environment names for the address, if any
	Direct  bool              // there is no proxy, whatever the environment says
	Resolve map[string]string // by host:port, the address that is connected to in its place, without a port; nil: none
}

// Stdio is our own stdin and stdout, for stdio. nil means os.Stdin and os.Stdout.
type Stdio struct {
	Stdin  io.ReadCloser
	Stdout io.WriteCloser
}

// TLS names the files that TLS is set up with.
type TLS struct {
	CACert   string // PEM file of roots: of the server for a dialler, of the clients for a listener (which then demands a certificate)
	Cert     string // PEM file of our certificate chain
	Key      string // PEM file of our key
	Insecure bool   // the peer's certificate is not verified
}

// A Listener hands out connections.
type Listener interface {
	// Accept returns the next connection, already past its handshake. It
	// returns net.ErrClosed after Close.
	Accept() (wire.Conn, error)
	// Endpoint is where it listens, as a client would write it
	// ("ws://127.0.0.1:41233/", "unix:/tmp/x.sock"). For stdio it is "".
	Endpoint() string
	// Close ends the listener, not its connections, and removes a socket file.
	Close() error
}

// A PeerAccepter is a Listener that can accept the one peer that is awaited.
type PeerAccepter interface {
	// AcceptPeer is Accept for that peer.
	AcceptPeer() (wire.Conn, error)
}

// A Drainer is a Listener that can stop taking new connections.
type Drainer interface {
	// Drain has Accept return net.ErrClosed once it has returned the connections that were made so far.
	Drain()
}

// WithDefaults returns c with its defaults in place of zeros.
func (c Config) WithDefaults() Config {
	c.Options = c.Options.WithDefaults()
	c.ConnectTimeout = cmp.Or(max(c.ConnectTimeout, 0), 10*time.Second)
	c.CloseTimeout = cmp.Or(max(c.CloseTimeout, 0), 2*time.Second)
	c.Name.Header = cmp.Or(c.Name.Header, "Mcp-Session-Id") // who sends it wants it back
	return c
}

// Warnf passes one line to Config.Warn, if that is set.
func (c Config) Warnf(format string, args ...any) {
	if c.Warn != nil {
		c.Warn(fmt.Sprintf(format, args...))
	}
}

// WarnInsecure warns, for each connection, that the peer was not verified.
func (c Config) WarnInsecure(where string) {
	if c.TLS.Insecure {
		c.Warnf("%s: the certificate is not verified (--insecure)", where)
	}
}

// Frame puts c's framing around a stream of bytes. Of a listener, who is the client.
func (c Config) Frame(s io.ReadWriteCloser, who string) (wire.Conn, error) {
	if c.Framing == nil {
		s.Close()
		return nil, wire.NewFault(wire.Internal, "a stream of bytes without a framing", nil)
	}
	c.Seen = c.Watch.Pieces(who)
	return c.Framing(s, c.Options), nil
}

// Within returns a context that ends after d, or after extra once hurry, which may be nil,
// has ended.
func Within(hurry context.Context, d, extra time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	if hurry == nil {
		return ctx, cancel
	}
	stop := context.AfterFunc(hurry, func() { time.AfterFunc(extra, cancel) })
	return ctx, func() { stop(); cancel() }
}

// IsClosed reports whether a channel on which nothing is sent is closed.
func IsClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Layer returns the T among a connection and the connections below it.
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
