// Package transport dials and listens: WebSocket, HTTP, TCP, TLS, Unix sockets,
// children's stdio, Node's child IPC, our own stdio, and a pair in memory. It
// is the only importer of coder/websocket. It gets its framing as a value.
package transport

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
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
	AllowOrigin []string         // exact Origins that may connect (http, ws), "*" for all; none without
	Token       string           // the bearer token demanded (http, ws); "" demands none
	Public      bool             // a listener that is not loopback needs no token and no client certificate
	MaxClients  int              // how many connections a listener has at once; 0 means 1,000
	Relay       http.HandlerFunc // takes all requests but upgrades that the guard lets in (http); nil: each POST is a connection
	NoPosts     bool             // only WebSockets are taken (http, ws): what is spoken needs both directions
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
	Insecure bool   // the far side's certificate is not verified
	// ForTest, when set, is cloned in place of an empty configuration.
	ForTest *tls.Config
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

// Dial connects to a. Noise is tolerated from children only. Failures are
// *wire.Fault: Unreachable, Auth, NotFound, NotExecutable, Usage, or Protocol.
func Dial(ctx context.Context, a Address, c Config) (wire.Conn, error) {
	t, err := lookup(a)
	if err != nil {
		return nil, err
	}
	if t.dial == nil {
		return nil, usage("%s: cannot be dialled", a.Scheme)
	}
	if err := t.checkPing(a, c); err != nil {
		return nil, err
	}
	if err := t.checkHeader(a, c); err != nil {
		return nil, err
	}
	if len(a.Command) == 0 {
		c.NoiseLimit = 0 // only children print what is not meant for us
	}
	return t.dial(ctx, a, c)
}

// Listen binds a. It returns only when a client could connect. Noise is not
// tolerated.
func Listen(ctx context.Context, a Address, c Config) (Listener, error) {
	t, err := lookup(a)
	if err != nil {
		return nil, err
	}
	if t.listen == nil {
		return nil, usageHint("listen on ws://127.0.0.1:0/, http://, tcp://, tls://, unix:PATH, stdio: or another of their kind",
			"%s: cannot be listened on", a.Scheme)
	}
	if err := t.checkPing(a, c); err != nil {
		return nil, err
	}
	c.NoiseLimit, c.Strict = 0, true // whatever connects may be a browser
	return t.listen(ctx, a, c)
}

// kind is one row of the table of transports.
type kind struct {
	dial   func(context.Context, Address, Config) (wire.Conn, error)
	listen func(context.Context, Address, Config) (Listener, error)
	pings  bool // a connection can be kept alive
	http   bool // it begins with an HTTP request
}

// Pings reports whether a connection to a can be kept alive (Config.Ping).
func Pings(a Address) bool {
	k, err := lookup(a)
	return err == nil && k.pings
}

// TakesHeaders reports whether there are headers of HTTP on the way to a.
func TakesHeaders(a Address) bool {
	k, err := lookup(a)
	return err == nil && k.http
}

// checkPing refuses a keep-alive for transports that have none.
func (k kind) checkPing(a Address, c Config) error {
	if c.Ping <= 0 || k.pings {
		return nil
	}
	return usageHint("it is for ws, wss, ws+unix, tcp and tls", "--ping: %s: has no keep-alive", a.Scheme)
}

// checkHeader refuses headers for transports that have none: a user who gives a
// token must not believe that it was sent.
func (k kind) checkHeader(a Address, c Config) error {
	if len(c.Header) == 0 || k.http {
		return nil
	}
	return usageHint("they are for ws, wss, http, https and the framing header", "%s: has no headers (--header, --token-command)", a.Scheme)
}

// kinds is the table of transports, by scheme.
func lookup(a Address) (kind, error) {
	k, ok := map[string]kind{
		"ws":        {dialWS, listenHTTP, true, true},
		"wss":       {dialWS, listenHTTP, true, true},
		"ws+unix":   {dialWS, listenHTTP, true, true},
		"http":      {dialHTTP, listenHTTP, false, true},
		"https":     {dialHTTP, listenHTTP, false, true},
		"http+unix": {dialHTTP, listenHTTP, false, true},
		"tcp":       {dialStream, listenStream, true, false},
		"tls":       {dialStream, listenStream, true, false},
		"unix":      {dialStream, listenStream, false, false},
		"exec":      {dialExec, nil, false, false},
		"ipc":       {dialIPC, listenIPC, false, false},
		"stdio":     {dialStdio, listenStdio, false, false},
	}[a.Scheme]
	if !ok {
		return kind{}, usage("unknown transport %q", a.Scheme)
	}
	return k, nil
}
