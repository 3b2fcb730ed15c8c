package options

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/cache"
	"rpcx/wire/hook"
	"rpcx/wire/peer"
	"rpcx/wire/session"
	"rpcx/wire/transport"
)

// ForSession returns the options of a session's connection, as a client or as a listener. It warns about hooks that are
// not executable.
func ForSession(ctx context.Context, run *env.Env, c *Connection, h *Hooks) (session.Options, error) {
	entries, err := h.Entries()
	if err != nil {
		return session.Options{}, suggestHook(run.Line, err)
	}
	for _, dir := range h.Files {
		for _, name := range hook.Unready(dir) {
			run.Console.Warn("--hooks: " + name + " is not executable; run chmod +x " + wire.Quote(filepath.Join(dir, name)))
		}
	}
	if err := h.checkFunctions(entries); err != nil {
		return session.Options{}, err
	}
	offers, err := h.Catalog()
	if err != nil {
		return session.Options{}, err
	}
	var onOpen *hook.Answer
	if h.onOpen != "" {
		if onOpen, err = hook.ParseOnOpen(h.onOpen); err != nil {
			return session.Options{}, err
		}
	}
	use := cache.Usual
	switch {
	case c.NoCache:
		use = cache.None
	case c.Refresh:
		use = cache.Refresh
	}
	note := noter(run)
	cfg, err := c.Config(ctx, run)
	return session.Options{
		Offers: offers, Functions: h.Functions,
		Transport: cfg,
		Hooks:     entries,
		Logs:      "info",
		Hook: hook.Options{
			Jobs: int(h.jobs), Timeout: time.Duration(h.timeout),
			Stderr: run.Console.Writer(format.FromHook), Warn: run.Console.Warn, OnOpen: onOpen,
		},
		Cache: use,
		Tap:   Tap(run),
		Note:  func(n peer.Note) { note(n, "") },
		Hurry: env.GraceContext(run.Signal),
		Await: c.Await(run),
	}, err
}

// StopConditions contains the flags that end a stream successfully: after a number of values, a certain value, or a
// time.
type StopConditions struct {
	Count int64
	Until string
	For   cmdline.Duration
}

// Flags returns the flags of e.
func (e *StopConditions) Flags() []*cmdline.Flag {
	return []*cmdline.Flag{
		cmdline.Number("", "count", "stop after `N` values", 1, &e.Count),
		cmdline.Text("", "until", "", "stop once the jq program `EXPR` is true for a value, and print that value last", &e.Until).Filled("a jq program"),
		cmdline.PositiveDuration("", "for", "stop after `DURATION`", &e.For),
	}
}

// Given reports whether one of the flags is set.
func (e *StopConditions) Given() bool { return e.Count > 0 || e.Until != "" || e.For > 0 }

// ErrForElapsed is the cause of a context that --for ended.
var ErrForElapsed = errors.New("--for has expired")

// StartTimer starts the timer of --for, which cancels d with ErrForElapsed.
func (e *StopConditions) StartTimer(d *env.Deadline) {
	if e.For > 0 {
		time.AfterFunc(time.Duration(e.For), func() { d.Cancel(ErrForElapsed) })
	}
}

// Reconnect contains the flags for lost connections.
type Reconnect struct {
	on    bool
	limit cmdline.Duration
}

// Flags returns the flags of r.
func (r *Reconnect) Flags() []*cmdline.Flag {
	return []*cmdline.Flag{
		cmdline.Bool(cmdline.GroupConnection, "reconnect", "", "connect and subscribe again after the connection is lost (subscribe --events prints a gap event)", &r.on),
		cmdline.Generic(cmdline.GroupConnection, "reconnect-for", "try to reconnect for at most `DURATION` after each loss (5m; 0: no limit)", &r.limit),
	}
}

// Options returns how to reconnect, with a new token each time, or nil without reconnecting.
func (r *Reconnect) Options(run *env.Env, c *Connection) *session.Reconnect {
	if !r.on && r.limit == 0 {
		return nil
	}
	o := &session.Reconnect{
		For:  r.limit.Or(0),
		Lost: func(why error) { run.Console.Warn(why.Error() + "; reconnecting") },
		Back: func(after time.Duration) {
			run.Console.Note("reconnected after " + after.Round(10*time.Millisecond).String())
		},
	}
	if c.tokened {
		o.Renew = func(ctx context.Context, cfg *transport.Config) error {
			cfg.Header = cfg.Header.Clone()
			return addToken(ctx, cfg.Header, c.token, run.Console)
		}
	}
	return o
}
