// Package server implements rpcx serve. It opens a listener, answers clients with hooks, and runs a command beside it.
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/wire/dialect"
	"rpcx/wire/hook"
	"rpcx/wire/session"
	"rpcx/wire/transport/child"
)

// Run serves until command, stdio or a signal ends it. It writes the address to the file listening or, without a file
// and a command, to stdout.
func Run(ctx context.Context, run *env.Env, s *session.Server, command []string, listening string, strict bool) error {
	reload := s.Reload
	run.Reload.Store(&reload)
	err := untilEnd(ctx, s, s.Serve, command, listening, func() { s.Finish(ctx) })
	if failed := s.HookFailure(); failed != nil && strict && err == nil {
		err = failed
	}
	return err
}

// A listener listens for clients.
type listener interface {
	Endpoint() string // the address, or "" if no other client can connect
	Close() error
}

// untilEnd calls serve, and writes the address of l to listening (see Run). It waits until serve or command ends, or for
// a signal, and closes l. When command ends, it calls finish before that.
func untilEnd(ctx context.Context, l listener, serve func() error, command []string, listening string, finish func()) (err error) {
	served := make(chan error, 1)
	go func() { served <- serve() }()
	defer func() {
		err = cmp.Or(err, l.Close())
	}()
	at := l.Endpoint()
	switch {
	case at == "":
	case listening != "":
		err = options.WriteAddress(listening, at)
	case command == nil:
		err = cmdline.Print(os.Stdout, options.AddressLine(at)+"\n")
	}
	if err != nil {
		return err
	}
	var ended <-chan error
	if command != nil {
		if ended, err = runCommand(ctx, command, at); err != nil {
			return err
		}
	}
	select {
	case err := <-served:
		return err
	case err := <-ended:
		finish()
		return err
	case <-ctx.Done():
		if ended != nil {
			<-ended
		}
		return nil // the signal determines the status
	}
}

// runCommand starts the command after --. The channel receives nil for status 0, or else a cmdline.CommandStatus. When
// ctx ends, the command's process group gets SIGTERM, and later SIGKILL if the group still runs.
func runCommand(ctx context.Context, words []string, endpoint string) (<-chan error, error) {
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "RPCX_ENDPOINT="+endpoint)
	takeBack := child.Foreground(cmd, os.Stdin)
	p, err := child.Start(cmd)
	if err != nil {
		takeBack()
		return nil, err
	}
	ended := make(chan error, 1)
	go func() {
		select {
		case <-p.Done():
		case <-ctx.Done():
		}
		p.End(env.CloseTimeout)
		takeBack()
		ended <- commandStatus(words[0], p.Wait())
	}()
	return ended, nil
}

// commandStatus converts the command's status to one of this process.
func commandStatus(name string, err error) error {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return err
	}
	code := exit.ExitCode()
	if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		code = 128 + int(ws.Signal())
	}
	return cmdline.CommandStatus{Code: code, Text: fmt.Sprintf("%s ended with status %d", name, code)}
}

// lookInterval is the interval between checks of the directories of --hooks.
const lookInterval = time.Second

// Watch replaces the hooks of s when a directory of --hooks changes, if the dialect can notify clients. It returns when
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
			run.Console.Warn("the hooks were not updated: " + err.Error())
		}
	}
}

// stamp returns a string that changes with the content of a --hooks directory. It returns "" without a directory.
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
