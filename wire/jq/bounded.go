package jq

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	"rpcx/wire"
)

// Limits for a run of a foreign program, in addition to its time limit.
const (
	MaxSteps  = 20_000_000
	MaxMemory = 256 << 20
)

var (
	ErrSteps  = errors.New("it took more than 20 million steps")
	ErrMemory = errors.New("it needs more than 256 MiB")
)

// bounded is the context of one run of a foreign program. gojq calls Done before each step, so Done counts the steps.
// Contexts are reused unless they have ended, because a new context for each message would cost more than most
// programs.
type bounded struct {
	context.Context
	done   chan struct{}
	timer  *time.Timer
	until  time.Time
	steps  int
	memory int64 // the memory that the process used at the start of the run, or 0 if unknown
	err    error // why done is closed; nil means a timeout
	once   *sync.Once
}

var contexts = sync.Pool{New: func() any {
	b := &bounded{done: make(chan struct{}), once: new(sync.Once)}
	b.timer = time.AfterFunc(time.Hour, b.end)
	b.timer.Stop()
	return b
}}

// take returns a context that ends after limit, or with ctx.
func take(ctx context.Context, limit time.Duration) *bounded {
	b := contexts.Get().(*bounded)
	b.Context, b.steps, b.memory, b.until = ctx, 0, 0, time.Now().Add(limit)
	b.timer.Reset(limit)
	return b
}

// release allows b to be reused, unless it has ended.
func (b *bounded) release() {
	if b.timer.Stop() && b.err == nil {
		b.Context = nil
		contexts.Put(b)
	}
}

// forCalls returns a context for the functions that a program with the context ctx calls. They can use it in other
// goroutines and even after the run, for which a bounded is not suitable.
func forCalls(ctx context.Context) (context.Context, context.CancelFunc) {
	if b, ok := ctx.(*bounded); ok {
		return context.WithDeadline(b.Context, b.until)
	}
	return ctx, func() {}
}

func (b *bounded) end() { b.once.Do(func() { close(b.done) }) }

// sampleEvery is the number of steps between checks of the memory and the outer context.
const sampleEvery = 64

// Done counts a step.
func (b *bounded) Done() <-chan struct{} {
	if b.steps++; b.steps%sampleEvery == 0 && b.err == nil {
		switch {
		case b.steps > MaxSteps:
			b.err = ErrSteps
		case b.Context.Err() != nil:
			b.err = b.Context.Err()
		case b.usesMuch():
			b.err = ErrMemory
		}
		if b.err != nil {
			b.end()
		}
	}
	return b.done
}

// Err returns why the run must end, or nil.
func (b *bounded) Err() error {
	if b.err != nil {
		return b.err
	}
	if wire.IsClosed(b.done) {
		return context.DeadlineExceeded
	}
	return nil
}

// usesMuch reports whether memory use has grown by more than MaxMemory during the run. Memory of other goroutines
// counts, but garbage does not.
func (b *bounded) usesMuch() bool {
	now := inUse()
	if b.memory == 0 || now < b.memory {
		b.memory = now
		return false
	}
	if now-b.memory < MaxMemory {
		return false
	}
	runtime.GC()
	return inUse()-b.memory > MaxMemory
}

// inUse returns the number of bytes on the heap that are in use or are garbage.
func inUse() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// longSteps finds the functions of jq whose run time grows faster than their input. gojq checks the time only between
// steps, and each such function is a single step. So is the repetition of a string.
var longSteps = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(match|capture|scan|splits?|sub|gsub|indices|r?index|contains|inside)\b|\*`)
})

// maxDetachedRuns is the maximum number of abandoned runs that have not ended.
const maxDetachedRuns = 4

// detachedRuns is the number of abandoned runs that have not ended.
var detachedRuns atomic.Int64

// HasLongStep reports whether a single step of p can take long.
func (p *Program) HasLongStep() bool { return p.longStep }

// Bounded calls run, which must run p with the given context and input. The context ends after limit, or with ctx. If a
// step of the program could take long, run is called in a separate goroutine, which Bounded abandons when the context ends.
func Bounded[T any](ctx context.Context, p *Program, limit time.Duration, in json.RawMessage, run func(ctx context.Context, in json.RawMessage) (T, error)) (T, error) {
	if p.longStep {
		return detached(ctx, limit, bytes.Clone(in), run) // the caller may reuse the message's memory while the goroutine reads it
	}
	b := take(ctx, limit)
	defer b.release()
	return run(b, in)
}

func detached[T any](ctx context.Context, limit time.Duration, in json.RawMessage, run func(ctx context.Context, in json.RawMessage) (T, error)) (none T, _ error) {
	if detachedRuns.Load() >= maxDetachedRuns {
		return none, errors.New("too many earlier programs that exceeded their limits are still running")
	}
	type outcome struct {
		result T
		err    error
	}
	done := make(chan outcome, 1)
	var abandoned atomic.Bool
	go func() {
		defer wire.Guard()
		b := take(ctx, limit)
		got, err := run(b, in)
		b.release()
		if done <- (outcome{got, err}); !abandoned.CompareAndSwap(false, true) {
			detachedRuns.Add(-1)
		}
	}()
	timer := time.NewTimer(limit + limit/10)
	defer timer.Stop()
	err := context.DeadlineExceeded
	select {
	case o := <-done: // it has noticed the timeout itself
		return o.result, o.err
	case <-timer.C:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if detachedRuns.Add(1); !abandoned.CompareAndSwap(false, true) { // the run has just ended
		detachedRuns.Add(-1)
	}
	return none, err
}
