package env

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/wire"
)

// The limits of leaving: first the peer is told, then the connection is closed.
const (
	WordLimit     = time.Second     // to tell the peer
	StepLimit     = time.Second     // for a child to end: its stdin closed, then asked, then forced
	FarewellLimit = 2 * time.Second // for a command of our own, and for hooks that still answer
)

// The same where a deadline or a signal has ended what was going on, counted from
// there. Even with a child that ignores everything, and hooks that do, all of it stays
// below a second.
const (
	hurriedWord  = 200 * time.Millisecond
	hurriedClose = 400 * time.Millisecond
	hurriedPrint = 400 * time.Millisecond // for printing what has come
)

// Hurried returns a context that ends when nobody waits any longer for a connection to
// be closed in good order: a moment after ctx.
func Hurried(ctx context.Context) context.Context {
	hurry, cancel := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() { time.AfterFunc(hurriedClose, cancel) })
	return hurry
}

// Signals returns a context that the first SIGINT or SIGTERM ends, with a Fault
// as its cause; the second ends the process at once. A write to a closed pipe
// becomes an error in place of a signal, so that the far side can be told. restore
// is called before the process ends at once. SIGHUP is such a signal, too, unless
// hangup takes it.
func Signals(parent context.Context, restore func(), hangup func() bool) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	got := make(chan os.Signal, 2)
	signal.Notify(got, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE)
	done := make(chan struct{})
	go func() {
		for n := 0; ; n++ {
			select {
			case s := <-got:
				if s == syscall.SIGHUP && hangup() {
					n--
					continue
				}
				f := signalFault(s)
				if n > 0 {
					restore()
					DieOf(f)
					os.Exit(cmdline.StatusOf(f.Kind).Code)
				}
				cancel(f)
			case <-done:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(got)
		close(done)
		cancel(nil)
	}
}

// HungUp passes a SIGHUP on to Reload, and reports whether that took it. serve
// reads its hooks anew then.
func (run *Env) HungUp() bool {
	take := run.Reload.Load()
	return take != nil && (*take)()
}

func signalFault(s os.Signal) *wire.Fault {
	switch s {
	case os.Interrupt:
		return wire.NewFault(wire.Interrupted, "interrupted", nil)
	case syscall.SIGHUP:
		return wire.NewFault(wire.HungUp, "hung up", nil)
	}
	return wire.NewFault(wire.Terminated, "terminated", nil)
}

// WithFarewell returns a context that ends a moment after ctx does, for printing what
// has come by then.
func WithFarewell(ctx context.Context) (context.Context, func()) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(hurriedPrint, cancel) })
	return out, func() { stop(); cancel() }
}

// Farewell returns a context for telling the peer that we leave: it lasts for WordLimit,
// and outlives ctx by a moment only.
func Farewell(ctx context.Context) (context.Context, context.CancelFunc) {
	return Outlive(ctx, WordLimit)
}

// Outlive returns a context that lasts for d, and outlives ctx by a moment only.
func Outlive(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	out, cancel := context.WithTimeout(context.WithoutCancel(ctx), d)
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(hurriedWord, cancel) })
	return out, func() { stop(); cancel() }
}
