package options

import (
	"context"
	"path/filepath"
	"time"

	"rpcx/commands/env"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/hook"
	"rpcx/wire/peer"
	"rpcx/wire/session"
)

// ForSession returns the options of a connection, as a client or as a listener:
// transport, hooks, traces. It warns of hooks that are not executable.
func ForSession(ctx context.Context, a *env.Env, c *Connection, h *Hooks) (session.Options, error) {
	entries, err := h.entries()
	if err != nil {
		return session.Options{}, err
	}
	for _, dir := range h.Files {
		for _, name := range hook.Unready(dir) {
			a.Console.Warn("--hooks: " + name + " is not executable, so that it answers nothing: chmod +x " + wire.Quote(filepath.Join(dir, name)))
		}
	}
	if err := h.checkFunctions(entries); err != nil {
		return session.Options{}, err
	}
	offers, err := h.Catalog()
	if err != nil {
		return session.Options{}, err
	}
	onOpen, err := h.opening()
	if err != nil {
		return session.Options{}, err
	}
	note := noter(a)
	cfg, err := TransportConfig(ctx, a, c)
	if err == nil {
		cfg, err = c.Listen.Access(cfg)
	}
	return session.Options{
		Offers: offers, Functions: h.Functions,
		Transport: cfg,
		Hooks:     entries,
		Hook: hook.Options{
			Jobs: int(h.jobs), Timeout: time.Duration(h.timeout),
			Stderr: a.Console.Writer(format.FromHook), Warn: a.Console.Warn, OnOpen: onOpen,
		},
		Cache: c.cache(),
		Tap:   tap(a),
		Note:  func(n peer.Note) { note(n, "") },
		Hurry: env.Hurried(a.Signal),
		Await: c.Await(a),
	}, err
}
