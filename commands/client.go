package commands

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/hook"
	"rpcx/wire/peer"
	"rpcx/wire/session"
	"rpcx/wire/transport"
)

// endpoint reads the first argument. Where another process holds the connection it
// is reached, since only that knows what is spoken.
func (a *app) endpoint(ctx context.Context, dialect string) (session.Endpoint, []string, error) {
	args := a.line.args
	if len(args) == 0 {
		f := a.line.usage("an endpoint is missing")
		f.Hint = "name one, such as ws://host/path, exec:COMMAND or demo:orders"
		if a.line.cmd.Name == "serve" {
			f.Hint = "name what to listen on, such as ws://127.0.0.1:0/ or unix:PATH"
		}
		return session.Endpoint{}, nil, f
	}
	e, err := session.ParseEndpoint(args[0], dialect)
	if err == nil && e.Profile != nil {
		err = a.applyProfile(e.Profile)
	}
	if err == nil && e.Session != "" {
		err = a.line.refuseConnected(e.Session)
	}
	if err == nil {
		e, err = a.reach(ctx, e)
	}
	a.respell = session.SpecOf(e).UserName
	return e, args[1:], err
}

// reach bounds the way to a process that is stopped, or still connecting, as the
// rest is bounded.
func (a *app) reach(ctx context.Context, e session.Endpoint) (session.Endpoint, error) {
	limit, _ := a.line.cmd.Value("timeout").(time.Duration)
	cl := newDeadline(ctx, limit, 0)
	defer cl.stop()
	e, err := e.Reach(cl.ctx)
	a.reached = e
	return e, cause(cl.ctx, err)
}

// dialFlags are the flags that say how a connection is made, which a session has
// behind it.
var dialFlags = []string{
	"header", "token-command", "subprotocol", "cacert", "cert", "key", "insecure", "connect-timeout", "ping", "noise", "max-message", "meta", "resume",
	"refresh", "no-environment", "shutdown-timeout", "strict",
}

// refuseConnected refuses what would be of no use with a session, which is connected.
func (l *commandLine) refuseConnected(name string) error {
	for _, flag := range dialFlags {
		if l.has(flag) {
			f := l.usage("--%s belongs to the connection, and @%s is connected", flag, name)
			if flag == "strict" {
				flag = "noise 0"
			}
			f.Hint = "give it where the session is opened: rpcx connect ENDPOINT --session " + name + " --" + flag + " …"
			return f
		}
	}
	return nil
}

// open connects with the flags of a client. raw says that the traffic itself is
// wanted.
func (a *app) open(ctx context.Context, e session.Endpoint, c *clientFlags, cat *catalog.Catalog, raw bool) (session.Conversation, error) {
	o, err := a.sessionOptions(ctx, &c.conn, &c.hooks)
	if err != nil {
		return nil, err
	}
	o.Raw, o.Catalog, o.Reconnect, o.First = raw, cat, c.reconnect.options(a, &c.conn), c.first
	if err := c.handshake.apply(&e, &o); err != nil {
		return nil, err
	}
	a.opened = o
	conv, err := session.Open(ctx, e, o)
	if cause := wire.AsFault(context.Cause(ctx)); err != nil && cause != nil {
		return nil, cause
	}
	return conv, err
}

// sessionOptions are what both sides need.
func (a *app) sessionOptions(ctx context.Context, c *connFlags, h *hookFlags) (session.Options, error) {
	entries, err := h.entries()
	if err != nil {
		return session.Options{}, err
	}
	for _, dir := range h.files {
		for _, name := range hook.Unready(dir) {
			a.console.Warn("--hooks: " + name + " is not executable, so that it answers nothing: chmod +x " + wire.Quote(filepath.Join(dir, name)))
		}
	}
	if err := h.checkFunctions(entries); err != nil {
		return session.Options{}, err
	}
	offers, err := h.catalog()
	if err != nil {
		return session.Options{}, err
	}
	cfg, err := a.transportConfig(ctx, c)
	return session.Options{
		Offers: offers, Functions: h.functions,
		Transport: cfg,
		Hooks:     entries,
		Hook: hook.Options{
			Jobs: int(h.jobs), Timeout: time.Duration(h.timeout),
			Stderr: a.console.Writer(), Warn: a.console.Warn,
		},
		Cache: c.cache(),
		Tap:   a.tap(),
		Note:  a.noter(),
		Hurry: a.signal,
	}, err
}

// cache is what becomes of what earlier conversations kept.
func (c *connFlags) cache() session.CacheUse {
	switch {
	case c.noCache:
		return session.CacheNone
	case c.refresh:
		return session.CacheRefresh
	}
	return session.CacheUsual
}

func (a *app) transportConfig(ctx context.Context, c *connFlags) (transport.Config, error) {
	cfg := transport.Config{
		Options:        wire.Options{MaxMessage: int(c.maxMessage), NoiseLimit: session.NoiseLimit, Noise: a.console.Child},
		Subprotocols:   c.subprotocols,
		TLS:            transport.TLS{CACert: c.cacert, Cert: c.cert, Key: c.key, Insecure: c.insecure},
		ConnectTimeout: time.Duration(c.connect),
		Ping:           time.Duration(c.ping),
		CloseTimeout:   stepBound,
		Stderr:         a.console.Writer(),
		Warn:           a.console.Warn,
	}
	if c.noise >= 0 {
		cfg.NoiseLimit = int(c.noise)
	}
	var err error
	if cfg.Header, err = readHeaders(c.headers); err != nil {
		return cfg, err
	}
	if c.token != "" && (a.line.has("token-command") || cfg.Header.Get("Authorization") == "") {
		c.tokened = true
		err = addToken(ctx, cfg.Header, c.token, a.console)
	}
	return cfg, errors.Join(err, a.profileHeaders(cfg.Header))
}

// tap traces messages with -v, and tells heard of those that come.
func (a *app) tap() wire.Tap {
	heard := a.heard
	if !a.common.verbose && heard == nil {
		return nil
	}
	return func(d wire.Direction, msg []byte) {
		if heard != nil && d == wire.Recv {
			heard()
		}
		if a.common.verbose {
			a.console.Trace(d, msg, time.Since(a.started))
		}
	}
}

// noter says once per method what nobody answers, and what else a user should
// know of the traffic; unhandled notifications are for -v.
func (a *app) noter() func(peer.Note) {
	var mu sync.Mutex
	said := map[string]bool{}
	return func(n peer.Note) {
		text := n.Text
		switch {
		case n.Kind == peer.NoteEvent:
			a.console.Event(*n.Event)
			return
		case n.Kind == peer.NoteUnhandledRequest:
			name := format.Cut(format.CleanLine(n.Method), 200)
			text = fmt.Sprintf("the peer called %s, which nothing answers (--on NAME=ANSWER does)", name)
		case a.common.verbose:
			a.console.Warn(text)
			return
		case n.Kind == peer.NoteUnhandledNotification, n.Kind == peer.NoteDetail:
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if said[text] || len(said) > maxNotes {
			return
		}
		if said[text] = true; len(said) > maxNotes {
			text = "the peer gives rise to more warnings than are worth showing (-v shows more)"
		}
		a.console.Warn(text)
	}
}

// maxNotes is how many different things are told of a peer's traffic at most: a
// peer can think of more.
const maxNotes = 200

// loadCatalog reads --catalog; nil when there is none.
func loadCatalog(file string) (*catalog.Catalog, error) {
	if file == "" {
		return nil, nil
	}
	c, err := catalog.Load(file)
	if err == nil {
		catalog.StripRun(c)
	}
	return c, err
}
