package options

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
	"rpcx/wire/oauth"
	"rpcx/wire/session"
	"rpcx/wire/transport"
	"rpcx/wire/transport/stream"
)

// Connection contains the flags for reaching and trusting a peer.
type Connection struct {
	Dialect      string
	headers      []string
	subprotocols []string
	tls          transport.TLS
	connect      cmdline.Duration
	wait         cmdline.Duration
	ping         cmdline.Duration
	MaxMessage   cmdline.Size
	token        string
	tokened      bool // the Authorization header is from --token-command
	Login        Login
	route        Route
	Listen       Listening
	Noise        int64
	Refresh      bool
	NoCache      bool
}

// AddHeader adds a value of --header.
func (c *Connection) AddHeader(line string) { c.headers = append(slices.Clone(c.headers), line) }

// TransportConfig reads the headers, runs the token command, and returns the transport's configuration with the
// profile's headers.
func TransportConfig(ctx context.Context, run *env.Env, c *Connection) (transport.Config, error) {
	cfg := transport.Config{
		Options:        wire.Options{MaxMessage: int(c.MaxMessage), NoiseLimit: session.NoiseLimit, Noise: func(line []byte) { run.Console.Child(format.FromPeer, line) }},
		Subprotocols:   c.subprotocols,
		TLS:            c.tls,
		ConnectTimeout: time.Duration(c.connect),
		Ping:           time.Duration(c.ping),
		CloseTimeout:   env.CloseStepTimeout,
		Stderr:         run.Console.Writer(format.FromPeer),
		Warn:           run.Console.Warn,
		Watch:          watch(run),
	}
	if c.Noise >= 0 {
		cfg.NoiseLimit = int(c.Noise)
	}
	var err error
	if cfg.Header, err = readHeaders(c.headers); err != nil {
		return cfg, err
	}
	if cfg.Route, err = c.route.route(); err != nil {
		return cfg, err
	}
	if c.token != "" && (run.Line.Has("token-command") || cfg.Header.Get("Authorization") == "") {
		c.tokened = true
		err = addToken(ctx, cfg.Header, c.token, run.Console)
	}
	if run.Line.Lookup("use-login") == nil || c.Login.use {
		forTokens := cfg
		cfg.HTTPObserver.Login = &oauth.Source{Account: c.Login.account, Client: func() *oauth.Client { return oauth.NewClient(forTokens) }}
	}
	return cfg, errors.Join(err, profileHeaders(run, cfg.Header))
}

// Listener returns the flags for a listener in front of a peer that is reached with c. It omits the headers and the
// token command, which are for that peer.
func (c *Connection) Listener() *Connection {
	own := *c
	own.headers, own.token = nil, ""
	return &own
}

// Flags returns the flags of a client.
func (c *Connection) Flags() []*cmdline.Flag {
	c.Noise = -1
	return append(slices.Concat(c.SharedFlags(), c.route.flags(), c.Login.Flags(), c.Listen.Flags()),
		cmdline.Number(cmdline.GroupConnection, "noise", "skip up to `N` lines from the child that are not messages (100)", 0, &c.Noise),
		cmdline.List(cmdline.GroupConnection, "header", "H", "send the header `LINE` (\"Name: value\", or @FILE with one per line), or with header+, add it to each message", &c.headers),
		c.insecureFlag(), c.connectFlag(),
		cmdline.PositiveDuration(cmdline.GroupConnection, "wait", "retry the connection for up to `DURATION`, also after HTTP status 503", &c.wait),
		cmdline.Text(cmdline.GroupConnection, "token-command", "", "run `COMMAND`, and send the first line of its output as a bearer token", &c.token),
	)
}

// KeptFlags returns the flags of a client that caches the peer's responses.
func (c *Connection) KeptFlags() []*cmdline.Flag {
	return []*cmdline.Flag{
		cmdline.Bool(cmdline.GroupKept, "refresh", "", "request the peer's catalog (introspect) or results (ro) again, and update the cache", &c.Refresh),
		cmdline.Bool(cmdline.GroupKept, "no-cache", "", "do not use the cached catalog of the peer (introspect) or cached results (ro)", &c.NoCache),
	}
}

// SharedFlags returns the flags of both clients and listeners.
func (c *Connection) SharedFlags() []*cmdline.Flag {
	return []*cmdline.Flag{
		cmdline.Text(cmdline.GroupConnection, "dialect", "", "use the dialect `DIALECT`: "+strings.Join(all.Names(), ", ")+", or FILE.toml", &c.Dialect),
		cmdline.List(cmdline.GroupConnection, "subprotocol", "", "offer the WebSocket subprotocol `NAME`", &c.subprotocols),
		c.rootsFlag(),
		cmdline.Text(cmdline.GroupConnection, "cert", "", "present the certificate chain in `FILE` (PEM), with --key", &c.tls.Cert),
		cmdline.Text(cmdline.GroupConnection, "key", "", "use the private key in `FILE` (PEM) for --cert", &c.tls.Key),
		cmdline.Generic(cmdline.GroupConnection, "ping", "ping the peer every `DURATION`; close the connection if it does not respond", &c.ping),
		cmdline.Generic(cmdline.GroupConnection, "max-message", "reject messages larger than `SIZE` (64M)", &c.MaxMessage),
	}
}

// WebFlags returns the flags for requests to web servers.
func (c *Connection) WebFlags() []*cmdline.Flag {
	return append(c.route.flags(), c.rootsFlag(), c.insecureFlag(), c.connectFlag())
}

func (c *Connection) rootsFlag() *cmdline.Flag {
	return cmdline.Text(cmdline.GroupConnection, "cacert", "", "verify the peer's certificate with the roots in `FILE` (PEM); a listener then requires client certificates", &c.tls.CACert)
}

func (c *Connection) insecureFlag() *cmdline.Flag {
	return cmdline.Bool(cmdline.GroupConnection, "insecure", "k", "do not verify the server's certificate", &c.tls.Insecure)
}

func (c *Connection) connectFlag() *cmdline.Flag {
	return cmdline.PositiveDuration(cmdline.GroupConnection, "connect-timeout", "fail if connecting takes longer than `DURATION` (10s)", &c.connect)
}

// Route contains the flags for the route to a network peer: a proxy, and addresses of host names.
type Route struct {
	proxy   *string // nil without the flag, "" for no proxy
	resolve []string
}

func (r *Route) flags() []*cmdline.Flag {
	return []*cmdline.Flag{
		cmdline.OptionalText(cmdline.GroupConnection, "proxy", "connect through the proxy at `URL` (http, https, socks5 or socks5h; \"\" for none)", &r.proxy),
		cmdline.List(cmdline.GroupConnection, "resolve", "", "`HOST:PORT:ADDRESS`: connect to ADDRESS for HOST:PORT, without resolving HOST", &r.resolve),
	}
}

func (r *Route) route() (to transport.Route, err error) {
	switch {
	case r.proxy == nil:
	case *r.proxy == "":
		to.Direct = true
	default:
		if to.Proxy, err = stream.ParseProxy(*r.proxy); err != nil {
			return to, wire.Usagef("--proxy: %v", err)
		}
	}
	for _, text := range r.resolve {
		hostPort, address, err := stream.ParseResolve(text)
		if err != nil {
			return to, wire.Usagef("--resolve: %v", err)
		}
		wire.Put(&to.Resolve, hostPort, address)
	}
	return to, nil
}

// unusedResolve returns a usage Fault for a --resolve on the command line whose host is not on the route to e, because
// the flag would have no effect. A --resolve in a profile or in [default] may be for other peers.
func unusedResolve(l *cmdline.CommandLine, e endpoint.Endpoint) error {
	if e.Socket != "" {
		return nil
	}
	r := Route{}
	for _, f := range l.Kept("resolve") {
		_, value := cmdline.SplitFlag(f)
		r.resolve = append(r.resolve, value)
	}
	if r.resolve == nil {
		return nil
	}
	if l.Has("proxy") {
		r.proxy = new(l.Last("proxy"))
	}
	to, err := r.route()
	if err != nil {
		return err
	}
	hosts := stream.Hosts(to, e.Address)
	for name := range to.Resolve {
		if !slices.Contains(hosts, name) {
			return l.Usage("--resolve: %s is not a host on the route to %s", name, e).WithHint("use " + strings.Join(hosts, " and "))
		}
	}
	return nil
}
