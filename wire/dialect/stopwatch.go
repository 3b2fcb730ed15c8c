package dialect

import (
	"context"
	"sync"
	"time"
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
	if w.limits == nil {
		w.limits = map[*workLimit]bool{}
	}
	w.limits[l] = true
	return ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		l.timer.Stop()
		delete(w.limits, l)
		cancel(nil)
	}
}

// Stop stops the time.
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

// Start continues.
func (w *Stopwatch) Start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = false
	for l := range w.limits {
		l.since = time.Now()
		l.timer.Reset(l.left)
	}
}
