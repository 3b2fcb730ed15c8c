package transport

import (
	"context"

	"rpcx/wire"
)

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
	return t.dial(ctx, a, c.WithDefaults())
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
	return t.listen(ctx, a, c.WithDefaults())
}

// Await binds a, has bound told where, and returns the first connection that passes
// all that a listener demands of it; nobody else can connect after that. Who is
// refused, or hangs up at once, is not it. It returns ctx's error when ctx ends.
func Await(ctx context.Context, a Address, c Config, bound func(endpoint string) error) (wire.Conn, error) {
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
	if s, ok := l.(interface{ AcceptPeer() (wire.Conn, error) }); ok {
		accept = s.AcceptPeer
	}
	conn, err := accept()
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return conn, err
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
