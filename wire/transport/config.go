// Package transport describes connections: addresses (Address), settings (Config), observers (Watch), and common
// failures. Pair is a connection in memory. The transports themselves are in the packages below; the table of
// transports is in package schemes.
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

// A Config configures how to connect to a peer, or how to listen. Transports of bytes need Framing. Apart from that,
// the zero value can be used.
type Config struct {
	Framing wire.Framing // for tcp, tls, unix, exec, stdio, and ipc (which always uses line)
	wire.Options
	Exchanges
	Header              http.Header // headers of the HTTP request (http, ws)
	Subprotocols        []string    // the subprotocols that are offered or accepted, in order of preference
	SubprotocolOptional bool        // the server may choose none of the subprotocols
	TLS                 TLS
	Binary              wire.Binary

	ConnectTimeout time.Duration // limits connecting, including handshakes (default: 10 s)
	Ping           time.Duration // the interval of keep-alive pings (ws) or probes (tcp, tls). 0 means none with ws and Go's default with tcp. It is a usage error with other transports
	CloseTimeout   time.Duration // limits each step of Close (default: 2 s)
	// Hurry ends when the caller of Close can wait no longer. Close then skips its remaining waits, and kills a child
	// HurriedGrace after it has asked the child to exit. A nil Hurry never ends.
	Hurry context.Context

	// Stderr receives what a child writes to stderr. If it has a method Flush(), that method is called at the end. It
	// may be nil.
	Stderr io.Writer
	// Env contains additional environment variables for a child, in the form NAME=VALUE.
	Env []string
	// Warn is called with a line for the user when something unusual has happened but nothing has failed. The line has
	// no line break. It may be nil.
	Warn func(line string)
	// Watch receives the steps of connecting and, if requested, the bytes. It may be nil.
	Watch *Watch
	HTTPObserver
	Route
	Listening
}

// Exchanges contains a dialect's settings for HTTP exchanges (http, ws).
type Exchanges struct {
	Sessions *wire.HTTPSessions // how several exchanges form a session; may be nil
	Name     wire.HTTPName      // how a server identifies its client
	Gets     wire.HTTPGets      // a listener's responses to GET; may be nil
}

// HTTPObserver contains callbacks for the HTTP exchanges of a client. They are called from several goroutines. Each may
// be nil.
type HTTPObserver struct {
	Login      Login          // the user's login for the server, unless Header contains Authorization; may be nil
	Exchanged  func(Exchange) // receives each Exchange when the head of the response has arrived, and must not keep it
	Unanswered func()         // called when a POST has had no response for UnansweredAfter
}

// A Login provides the user's tokens for web servers.
type Login interface {
	// Token returns the bearer token for a request to u, or "". refused is a token that the server has just refused, or "".
	Token(ctx context.Context, u *url.URL, refused string) (string, error)
	// Identity returns the name of the login for an address, which is how the server identifies the user, or "".
	Identity(a Address) string
}

// Listening contains the settings of listeners.
type Listening struct {
	AllowOrigin []string                                                  // the Origins that may connect (http, ws), compared exactly; "*" allows all, and an empty list none
	Token       string                                                    // the bearer token that clients must send (http, ws), or ""
	Public      bool                                                      // a listener that other machines can reach needs neither a token nor client certificates
	MaxClients  int                                                       // the maximum number of simultaneous connections to a listener (default: 1,000)
	Relay       func(w http.ResponseWriter, r *http.Request, body []byte) // handles all requests that pass the guard, including those for paths below the listener's path (on a ws listener, only upgrades); if nil, each upgrade and each POST is a connection
	NoPosts     bool                                                      // accept only WebSockets (http, ws), because the dialect needs both directions
}

// A Route determines how packets reach an address of ws, wss, http, https, tcp or tls.
type Route struct {
	Proxy   *url.URL          // if nil, the proxy from the environment, if any
	Direct  bool              // do not use a proxy from the environment
	Resolve map[string]string // replaces the address of a host:port by another one, without a port, for the connection
}

// TLS contains the names of the files for TLS.
type TLS struct {
	CACert   string // a PEM file with roots. A client verifies servers with them; a listener requires and verifies client certificates with them
	Cert     string // a PEM file with the local certificate chain
	Key      string // a PEM file with the private key for the certificate
	Insecure bool   // do not verify the peer's certificate
}

// A Listener accepts connections.
type Listener interface {
	// Accept returns the next connection when its handshake is complete, or net.ErrClosed after Close.
	Accept() (wire.Conn, error)
	// Endpoint returns the listen address in the form that a client uses ("ws://127.0.0.1:41233/", "unix:/tmp/x.sock"),
	// or "" for stdio.
	Endpoint() string
	// Close closes the listener but not its connections, and removes the file of a socket.
	Close() error
}

// A PeerAccepter is a Listener that can wait for one particular peer.
type PeerAccepter interface {
	// AcceptPeer accepts a connection from that peer.
	AcceptPeer() (wire.Conn, error)
}

// A Drainer is a Listener that can stop accepting new connections.
type Drainer interface {
	// Drain makes Accept return the connections that clients have already made, and then net.ErrClosed.
	Drain()
}

// WithDefaults returns c with defaults in place of zeros.
func (c Config) WithDefaults() Config {
	c.Options = c.Options.WithDefaults()
	c.ConnectTimeout = cmp.Or(max(c.ConnectTimeout, 0), 10*time.Second)
	c.CloseTimeout = cmp.Or(max(c.CloseTimeout, 0), 2*time.Second)
	c.Name.Header = cmp.Or(c.Name.Header, "Mcp-Session-Id") // a server that sends this header expects it back
	return c
}

// Warnf passes one line to Config.Warn, if any.
func (c Config) Warnf(format string, args ...any) {
	if c.Warn != nil {
		c.Warn(fmt.Sprintf(format, args...))
	}
}

// WarnInsecure warns that a peer is not verified. It must be called for each connection.
func (c Config) WarnInsecure(where string) {
	if c.TLS.Insecure {
		c.Warnf("%s: the certificate is not verified (--insecure)", where)
	}
}

// Frame applies the framing of c to a byte stream. On a listener, who is the name of the client.
func (c Config) Frame(s io.ReadWriteCloser, who string) wire.Conn {
	c.Seen = c.Watch.Pieces(who)
	return c.Framing(s, c.Options)
}

// Within returns a context that ends after d, and also if extra has passed since the end of hurry. hurry may be nil.
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
