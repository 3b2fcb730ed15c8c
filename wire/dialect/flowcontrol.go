package dialect

import (
	"context"
	"sync"
	"time"

	"rpcx/wire"
)

// A Stopwatch measures the working time of a hook. While it is stopped, the hook's time limits do not run. The zero
// value is running.
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

// WithStopwatch returns a copy of ctx from which StopwatchOf returns w.
func WithStopwatch(ctx context.Context, w *Stopwatch) context.Context {
	return context.WithValue(ctx, stopwatchKey{}, w)
}

// WithWorkLimit returns a copy of ctx that ends with the cause after some working time, as measured by the Stopwatch of
// ctx. Without a Stopwatch, it ends after that time.
func WithWorkLimit(ctx context.Context, d time.Duration, cause error) (context.Context, func()) {
	w, _ := ctx.Value(stopwatchKey{}).(*Stopwatch)
	if w == nil {
		return context.WithTimeoutCause(ctx, d, cause)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	l := &workLimit{left: d}
	w.mu.Lock()
	defer w.mu.Unlock()
	l.timer = time.AfterFunc(d, func() { cancel(cause) })
	if l.since = time.Now(); w.stopped {
		l.timer.Stop()
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

// A CallPipeline keeps many calls in flight at low cost: a call has no Stream if it has one plain answer, as most calls
// do. See peer.Peer.Pipeline.
type CallPipeline interface {
	// Send prepares the request of a call, which Flush then writes. It returns false if the pipeline cannot accept the
	// call, because the connection is busy or the dialect needs several messages for it. The caller then tries again
	// after Flush, or opens the call as a Stream. Send and Flush are called by one goroutine at a time.
	Send(op *Op, c PipelinedCall) bool
	// Flush writes the requests that Send has prepared. It does not block: another goroutine writes the rest.
	Flush()
	// Promote creates a Stream for a call that has not been answered. The call's Opened receives the Stream. If c is
	// nil, Promote applies to all calls of the pipeline.
	Promote(c PipelinedCall)
}

// A PipelinedCall is one call of a CallPipeline. The peer calls its methods while it holds its lock, so that they must
// not block or call the peer.
type PipelinedCall interface {
	// Answered receives the only answer, which is valid until Answered returns. It returns false if it cannot use the
	// answer. Opened is then called. If it returns true, the call is over.
	Answered(m *wire.Message) bool
	// Opened receives the call's Stream if the answer is not plain or the connection ends.
	Opened(st Stream)
}

// FlowControl bounds the memory of answers that the peer has not read yet. The answerer of a request calls Await before
// it makes the answer, and again if it has waited for something else since.
type FlowControl interface {
	// Await waits until an answer is allowed. If no answer will ever be allowed, the error, a *wire.Error, is the
	// answer.
	Await() error
	// Free reports whether Await would return nil immediately.
	Free() bool
	// Request returns the id of the request that is being answered, or nil if there is none.
	Request() wire.ID
}

// flowControlKey is the context key for a FlowControl.
type flowControlKey struct{}

// WithFlowControl returns a copy of ctx from which FlowControlOf returns r.
func WithFlowControl(ctx context.Context, r FlowControl) context.Context {
	return context.WithValue(ctx, flowControlKey{}, r)
}

// FlowControlOf returns the FlowControl for the answer to the request of ctx. If none was set, it returns one that
// never waits.
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
	// Suspend releases the slot of a command that waits for a nested call; resume takes the slot again.
	Suspend(hook string) (resume func())
	// Request returns the id of the request that a command answers, or nil if there is none.
	Request(hook string) wire.ID
}
