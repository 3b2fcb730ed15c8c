package server

import (
	"context"
	"os"
	"time"

	"rpcx/commands/env"
	"rpcx/wire/dialect"
	"rpcx/wire/hook"
	"rpcx/wire/session"
)

// lookInterval is how often the directories of --hooks are looked at.
const lookInterval = time.Second

// Watch replaces the hooks of s when a directory of --hooks changes, if the dialect can tell its clients. It returns when
// ctx ends.
func (o *Options) Watch(ctx context.Context, run *env.Env, spec dialect.Spec, s *session.Server) {
	if !spec.Handshake.Rounds || o.To != "" || o.Catalog != "" {
		return
	}
	stamp := o.stamp()
	if stamp == "" {
		return
	}
	tick := time.NewTicker(lookInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := o.stamp()
		if now == stamp {
			continue
		}
		stamp = now
		if err := o.update(spec, s); err != nil {
			run.Console.Warn("the hooks stay as they were: " + err.Error())
		}
	}
}

// stamp changes when a directory of --hooks does; "" means there is none.
func (o *Options) stamp() (all string) {
	for _, path := range o.Hooks.Files {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			all += hook.Stamp(path)
		}
	}
	return all
}

// update reads the hooks again.
func (o *Options) update(spec dialect.Spec, s *session.Server) error {
	var so session.Options
	var err error
	if so.Hooks, err = o.Hooks.Entries(); err != nil {
		return err
	}
	if so.Catalog, err = o.described(spec, so.Hooks); err != nil {
		return err
	}
	so.Catalog.TakeExtra("policy")
	return s.Update(so.Hooks, so.Catalog)
}
