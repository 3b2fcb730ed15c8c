package request

import (
	"context"
	"fmt"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/wire"
)

// RetryFlag makes --retry: how often a call is made again that failed but may be
// made again.
func RetryFlag(to *int64) cmdline.Flag {
	return cmdline.Number("", "retry", "make the call again, up to `N` times, when the peer says that it failed but may be made again (retryable)", 0, to)
}

// The times between attempts.
const (
	firstRetry   = 100 * time.Millisecond
	longestRetry = 5 * time.Second
)

// retry makes an attempt, and up to n more as long as the peer's error says that
// the call may be made again. Pauses grow from firstRetry to longestRetry.
func retry(ctx context.Context, a *env.Env, n int64, attempt func() error) error {
	pause := firstRetry
	for {
		err := attempt()
		f := wire.AsFault(err)
		if n--; n < 0 || f == nil || f.Kind != wire.RPCError || f.Retryable == nil || !*f.Retryable {
			return err
		}
		a.Console.Note(fmt.Sprintf("%s; again in %v", f.Message, pause))
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return env.Cause(ctx, ctx.Err())
		}
		pause = min(2*pause, longestRetry)
	}
}
