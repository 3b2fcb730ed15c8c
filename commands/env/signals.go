package env

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/wire"
)

// A normal shutdown has these time limits: rpcx first sends its last messages to the peer, then closes the connection.
const (
	LastMessagesTimeout = time.Second     // for messages to the peer
	CloseStepTimeout    = time.Second     // for a child's end after each step: stdin closed, SIGTERM, SIGKILL
	CloseTimeout        = 2 * time.Second // for a command of rpcx, and for running hooks
)

// After a deadline or a signal, these time limits apply instead. rpcx then ends within a second, even if children and
// hooks ignore signals.
const (
	hurriedMessages = 200 * time.Millisecond
	hurriedClose    = 400 * time.Millisecond
	hurriedPrint    = 400 * time.Millisecond // for printing received messages
)

// outlast returns a context that ends d after ctx.
func outlast(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(d, cancel) })
	return out, func() { stop(); cancel() }
}

// GraceContext returns a context for closing a connection. It ends hurriedClose after ctx.
func GraceContext(ctx context.Context) context.Context {
	hurry, _ := outlast(ctx, hurriedClose)
	return hurry
}

// Signals receives SIGINT, SIGTERM and SIGHUP.
type Signals struct {
	ready chan struct{} // closed when the process can receive the signals
	run   atomic.Pointer[running]
}

// running is the part of a run that handles signals.
type running struct {
	cancel      context.CancelCauseFunc
	restore     func()
	hangup      func() bool
	interrupted bool
}

// NotifySignals starts to receive signals. It does so in a goroutine, because the runtime first starts three threads,
// which takes a while. Until Context is called, a signal ends the process, as by default. A write to a closed pipe
// returns an error instead of ending the process, which leaves time for messages to the peer.
func NotifySignals() *Signals {
	h := &Signals{ready: make(chan struct{})}
	go h.receive()
	return h
}

func (h *Signals) receive() {
	got := make(chan os.Signal, 2)
	signal.Notify(got, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	close(h.ready)
	for s := range got {
		if r := h.run.Load(); r == nil || !r.take(s) {
			f := signalFault(s)
			ExitBySignal(f)
			os.Exit(cmdline.StatusOf(f.Kind).Code)
		}
	}
}

// Context returns a context that ends with the first SIGINT or SIGTERM, with a Fault as its cause. The second signal
// calls restore and ends the process at once. SIGHUP counts as such a signal unless hangup returns true. After stop, any
// signal ends the process again. stop does not call signal.Stop, which takes as long as connecting to a peer.
func (h *Signals) Context(parent context.Context, restore func(), hangup func() bool) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	<-h.ready
	h.run.Store(&running{cancel: cancel, restore: restore, hangup: hangup})
	return ctx, func() {
		h.run.Store(nil)
		cancel(nil)
	}
}

// take handles a signal. It returns false if the signal ends the process at once.
func (r *running) take(s os.Signal) bool {
	switch {
	case s == syscall.SIGHUP && r.hangup():
		return true
	case r.interrupted:
		r.restore()
		return false
	}
	r.interrupted = true
	r.cancel(signalFault(s))
	return true
}

// HungUp handles a SIGHUP. It calls Reload and returns its result. Without Reload, it returns false.
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

// If a command does not end after its deadline or a signal, its context ends after lateCancel, and its process after
// lateExit.
const (
	lateCancel = 1500 * time.Millisecond
	lateExit   = 2800 * time.Millisecond
)

// EndInTime ends the process lateExit after the end of ctx, or after the timeout of within (0 for none). It calls cancel
// lateCancel after the timeout. stop prevents both.
func (run *Env) EndInTime(ctx context.Context, cancel context.CancelCauseFunc) (within func(timeout time.Duration), stop func()) {
	var ended atomic.Bool
	exit := func() {
		if f := wire.AsFault(context.Cause(ctx)); f != nil && ended.CompareAndSwap(false, true) {
			run.exitLate(f)
		}
	}
	undo := []func() bool{context.AfterFunc(ctx, func() { time.AfterFunc(lateExit, exit) })}
	within = func(timeout time.Duration) {
		if timeout > 0 {
			expired := wire.NewFault(wire.Timeout, fmt.Sprintf("not done within %v (--timeout)", timeout), nil)
			undo = append(undo, time.AfterFunc(timeout+lateCancel, func() { cancel(expired) }).Stop,
				time.AfterFunc(timeout+lateExit, exit).Stop)
		}
	}
	return within, func() {
		ended.Store(true)
		for _, f := range undo {
			f()
		}
	}
}

// exitLate ends the process with the status of f.
func (run *Env) exitLate(f *wire.Fault) {
	code := cmdline.StatusOf(f.Kind).Code
	printed := make(chan struct{})
	go func() {
		defer close(printed)
		run.Out.Abandon(f)
		run.Console.Clear()
		run.Console.Error(f, code)
	}()
	select {
	case <-printed:
	case <-time.After(hurriedMessages): // stderr is blocked
	}
	run.Out.Restore()
	ExitBySignal(f)
	os.Exit(code)
}

// BoundOutput abandons writes to stdout and stderr that are still blocked hurriedPrint after the end of ctx. If stop is
// called before ctx ends, it abandons no write.
func (run *Env) BoundOutput(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		why := context.Cause(ctx)
		time.AfterFunc(hurriedPrint, func() { run.Out.Abandon(why) })
	})
}

// WithCloseDelay returns a context that ends hurriedPrint after ctx, for printing the messages that have arrived.
func WithCloseDelay(ctx context.Context) (context.Context, context.CancelFunc) {
	return outlast(ctx, hurriedPrint)
}

// CloseContext returns a context for the last messages to the peer. It ends after LastMessagesTimeout, or hurriedMessages after
// ctx, whichever is earlier.
func CloseContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return DetachedContext(ctx, LastMessagesTimeout)
}

// DetachedContext returns a context that ends after d, or hurriedMessages after ctx, whichever is earlier.
func DetachedContext(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	out, stop := outlast(ctx, hurriedMessages)
	out, cancel := context.WithTimeout(out, d)
	return out, func() { cancel(); stop() }
}
