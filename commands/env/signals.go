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

// The limits of leaving in good order, when first the peer is told and then the
// connection is closed.
const (
	WordLimit     = time.Second     // for messages to the peer
	StepLimit     = time.Second     // for a child to end after each step: stdin closed, asked, killed
	FarewellLimit = 2 * time.Second // for a command that we have started, and for hooks that still answer
)

// The limits after a deadline or a signal, counted from there. Even with a
// child and hooks that ignore everything, all of it takes less than a second.
const (
	hurriedWord  = 200 * time.Millisecond
	hurriedClose = 400 * time.Millisecond
	hurriedPrint = 400 * time.Millisecond // for printing messages that have come
)

// Hurried returns a context that ends a moment after ctx, for closing a
// connection.
func Hurried(ctx context.Context) context.Context {
	hurry, cancel := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() { time.AfterFunc(hurriedClose, cancel) })
	return hurry
}

// Signals returns a context that the first SIGINT or SIGTERM ends, with a Fault
// as its cause; the second ends the process at once. A write to a closed pipe
// becomes an error in place of a signal, so that the far side can be told. restore
// is called before the process ends at once. SIGHUP is such a signal, too, unless
// hangup takes it. Once stop was called the process is about to end, and any of them ends it at once.
func Signals(parent context.Context, restore func(), hangup func() bool) (_ context.Context, stop func()) {
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
				dieOfNext(got)
			}
		}
	}()
	return ctx, func() {
		close(done)
		cancel(nil)
	}
}

// dieOfNext ends the process by the next signal, as if it were not received any more: to have the
// runtime stop receiving them costs a fiftieth of a call.
func dieOfNext(got <-chan os.Signal) {
	for s := range got {
		DieOf(signalFault(s))
	}
}

// HungUp calls Reload for a SIGHUP and reports whether that took it, as it does
// for serve, which reads its hooks again.
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

// WithFarewell returns a context that ends a moment after ctx, for printing
// messages that have come by then.
func WithFarewell(ctx context.Context) (context.Context, func()) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(hurriedPrint, cancel) })
	return out, func() { stop(); cancel() }
}

// Farewell returns a context for saying goodbye to the peer: it lasts for
// WordLimit, but ends a moment after ctx.
func Farewell(ctx context.Context) (context.Context, context.CancelFunc) {
	return Outlive(ctx, WordLimit)
}

// Outlive returns a context that lasts for d, but ends a moment after ctx.
func Outlive(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	out, cancel := context.WithTimeout(context.WithoutCancel(ctx), d)
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(hurriedWord, cancel) })
	return out, func() { stop(); cancel() }
}
