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

// ForSession returns the options of a session's connection, as a client or as a listener. It prints a warning for hooks
// that are not executable.
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
	onOpen, err := h.opening()
	if err != nil {
		return session.Options{}, err
	}
	note := noter(run)
	cfg, err := TransportConfig(ctx, run, c)
	if err == nil {
		cfg, err = c.Listen.Access(cfg)
	}
	return session.Options{
		Offers: offers, Functions: h.Functions,
		Transport: cfg,
		Hooks:     entries,
		Logs:      "info",
		Hook: hook.Options{
			Jobs: int(h.jobs), Timeout: time.Duration(h.timeout),
			Stderr: run.Console.Writer(format.FromHook), Warn: run.Console.Warn, OnOpen: onOpen,
		},
		Cache: c.cache(),
		Tap:   Tap(run),
		Note:  func(n peer.Note) { note(n, "") },
		Hurry: env.GraceContext(run.Signal),
		Await: c.Await(run),
	}, err
}
