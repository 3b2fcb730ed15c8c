package program

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"rpcx/wire"
	"rpcx/wire/jq"
)

// A result is what a run has come to.
type result struct {
	out   json.RawMessage
	holds bool
}

// runs applies a program to an input.
type runs func(ctx context.Context, prog *jq.Program, in json.RawMessage, vals jq.Values) (result, error)

// longSteps finds the functions of jq whose time grows faster than their input: jq looks at the
// clock between two steps only, and each of these is one. A text that is repeated is another.
var longSteps = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(match|capture|scan|splits?|sub|gsub|indices|r?index)\b|\*`)
})

// maxDetachedRuns bounds the runs that were left behind and have not ended.
const maxDetachedRuns = 4

// detachedRuns counts them.
var detachedRuns atomic.Int64

// runDetached runs a program for at most 2*Limit, in a goroutine of its own that is left behind where
// that was not enough.
func runDetached(prog *jq.Program, in json.RawMessage, vals jq.Values, run runs) (result, error) {
	if detachedRuns.Load() >= maxDetachedRuns {
		return result{}, errors.New("others of its kind that took too long are still running")
	}
	type outcome struct {
		result
		err error
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*Limit)
	defer cancel()
	in = bytes.Clone(in) // the message may be gone while it is still read
	done := make(chan outcome, 1)
	var late atomic.Bool
	go func() {
		defer wire.Guard()
		got, err := run(ctx, prog, in, vals)
		if done <- (outcome{got, err}); !late.CompareAndSwap(false, true) {
			detachedRuns.Add(-1)
		}
	}()
	select {
	case o := <-done:
		return o.result, o.err
	case <-ctx.Done():
	}
	select {
	case o := <-done: // it has seen the clock itself
		return o.result, o.err
	case <-time.After(Limit / 10):
	}
	if detachedRuns.Add(1); !late.CompareAndSwap(false, true) { // it has just ended
		detachedRuns.Add(-1)
	}
	return result{}, context.DeadlineExceeded
}
