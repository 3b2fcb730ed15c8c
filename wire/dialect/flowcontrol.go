package dialect

import (
	"context"
	"math"
	"sync"
	"time"

	"rpcx/wire"
)

// A Stopwatch measures the working time of a hook. While it is stopped, the hook's time limits pause. The zero value is
// running.
type Stopwatch struct {
	mu      sync.Mutex
	stopped bool
	limits  map[*workLimit]bool
}

type workLimit struct {
	left  time.Duration
	since time.Time
	timer *time.Timer
}

type stopwatchKey struct{}

// WithStopwatch returns a copy of ctx with w for WithWorkLimit.
func WithStopwatch(ctx context.Context, w *Stopwatch) context.Context {
	return context.WithValue(ctx, stopwatchKey{}, w)
}

// WithWorkLimit returns a copy of ctx that ends with cause after the working time d. The Stopwatch of ctx measures that
// time. Without a Stopwatch, the copy ends after d has elapsed.
func WithWorkLimit(ctx context.Context, d time.Duration, cause error) (context.Context, func()) {
	w, _ := ctx.Value(stopwatchKey{}).(*Stopwatch)
	if w == nil {
		return context.WithTimeoutCause(ctx, d, cause)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	l := &workLimit{left: d}
	w.mu.Lock()
	defer w.mu.Unlock()
	l.timer = time.AfterFunc(math.MaxInt64, func() { cancel(cause) })
	l.timer.Stop()
	if l.since = time.Now(); !w.stopped {
		l.timer.Reset(d)
	}
	wire.Put(&w.limits, l, true)
	return ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		l.timer.Stop()
		delete(w.limits, l)
		cancel(nil)
	}
}

// Stop stops the clock.
func (w *Stopwatch) Stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	for l := range w.limits {
		if l.timer.Stop() {
			l.left -= time.Since(l.since)
		}
	}
}

// Start restarts the clock.
func (w *Stopwatch) Start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = false
	for l := range w.limits {
		l.since = time.Now()
		l.timer.Reset(l.left)
	}
}

// A CallPipeline sends many concurrent calls at low cost. A call with one plain response, the usual case, needs no
// Stream. See peer.Peer.Pipeline.
type CallPipeline interface {
	// Send prepares the request of a call for Flush. It returns false if the pipeline cannot accept the call now,
	// because the connection is busy or the call needs several messages. The caller then tries again after Flush, or
	// opens a Stream. Send and Flush must not run concurrently.
	Send(op *Op, c PipelinedCall) bool
	// Flush writes the prepared requests without blocking: another goroutine writes the rest.
	Flush()
	// Promote makes a Stream for an unanswered call and passes it to the call's Opened. If c is nil, Promote does this
	// for all calls.
	Promote(c PipelinedCall)
}

// A PipelinedCall is one call of a CallPipeline. A peer.Peer calls its methods while it holds its lock. They must not
// block or call the peer.Peer.
type PipelinedCall interface {
	// Answered receives the only response, which is valid during the call, and ends the PipelinedCall if it returns
	// true. It returns false if it cannot use the response, and Opened is called.
	Answered(m *wire.Message) bool
	// Opened receives the call's Stream if the response is not plain or the connection ends.
	Opened(st Stream)
}

// FlowControl bounds the memory of responses that the peer has not read. The handler of a request calls Await before it
// makes the response, and again after any other wait.
type FlowControl interface {
	// Await waits until a response is allowed. If a response will never be allowed, Await returns a *wire.Error, which
	// becomes the response.
	Await() error
	// Free reports whether Await would return nil at once.
	Free() bool
	// Request returns the id of the request, or nil.
	Request() wire.ID
}

type flowControlKey struct{}

// WithFlowControl returns a copy of ctx with r for FlowControlOf.
func WithFlowControl(ctx context.Context, r FlowControl) context.Context {
	return context.WithValue(ctx, flowControlKey{}, r)
}

// FlowControlOf returns the FlowControl for the request of ctx. Without a FlowControl in ctx, it returns a FlowControl
// that never waits.
func FlowControlOf(ctx context.Context) FlowControl {
	if r, ok := ctx.Value(flowControlKey{}).(FlowControl); ok {
		return r
	}
	return unlimited{}
}

type unlimited struct{}

func (unlimited) Await() error     { return nil }
func (unlimited) Free() bool       { return true }
func (unlimited) Request() wire.ID { return nil }

// Commands are the running commands of a connection's hooks, by hook id.
type Commands interface {
	// Suspend releases the slot of a command during a nested call. resume occupies a slot again.
	Suspend(hook string) (resume func())
	// Request returns the id of the request that a command answers, or nil.
	Request(hook string) wire.ID
}
