package request

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/wire"
)

type Retries struct {
	N      int64
	Unsafe bool
}

func (r *Retries) Flags() []*cmdline.Flag {
	return []*cmdline.Flag{
		cmdline.Number("", "retry", "repeat a failed call up to `N` times if that is safe: the error is retryable, or the HTTP status is 429 or 503", 0, &r.N),
		cmdline.Bool("", "retry-unsafe", "", "also repeat a POST that the server may have executed (HTTP status 502 or 504, or a lost response)", &r.Unsafe),
	}
}

// The pauses between attempts double from the first to the longest.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
	longestWait  = time.Second // between attempts to connect
)

// retry repeats attempt until its outcome is final. It repeats an attempt that does not reach the peer for the time of
// --wait, and others up to r.N times if their failures allow it. --timeout bounds all attempts together.
func (r Retries) retry(run *env.Env, d *env.Deadline, posts bool, attempt func() error) error {
	left, pause := r.N, firstPause
	for {
		err := untilReached(run, d, attempt)
		f := wire.AsFault(err)
		if left--; left < 0 || f == nil || !r.allows(f, posts) {
			return err
		}
		wait := max(pause, retryAfter(f))
		run.Console.Note(fmt.Sprintf("%s; retrying in %v", f.Message, wait))
		if err := sleep(d, wait, f); err != nil {
			return err
		}
		pause = min(2*pause, longestPause)
	}
}

// allows reports whether a call that failed with f may be repeated. With posts, each call is a separate POST, whose
// failure does not end the connection.
func (r Retries) allows(f *wire.Fault, posts bool) bool {
	switch {
	case f.Retryable != nil: // also for the HTTP statuses 429 and 503
		return *f.Retryable
	case f.HTTP == nil:
		return r.Unsafe && posts && f.Kind == wire.Closed
	}
	return r.Unsafe && (f.HTTP.Status == http.StatusBadGateway || f.HTTP.Status == http.StatusGatewayTimeout)
}

// retryAfter returns the server's Retry-After, or 0.
func retryAfter(f *wire.Fault) time.Duration {
	if f.HTTP == nil {
		return 0
	}
	return time.Duration(f.HTTP.RetryAfter) * time.Second
}

// untilReached repeats attempt for up to --wait, as long as each failure proves that the attempt did not reach the peer.
func untilReached(run *env.Env, d *env.Deadline, attempt func() error) error {
	for pause := firstPause; ; pause = min(2*pause, longestWait) {
		err := attempt()
		f := wire.AsFault(err)
		if f == nil || !f.Unreached {
			return err
		}
		limit, _ := run.Line.Value("wait").(time.Duration)
		wait := min(max(pause, retryAfter(f)), time.Until(run.Started.Add(limit)))
		if wait <= 0 {
			return err
		}
		run.Verbose(fmt.Sprintf("%s; retrying in %v", f.Message, wait.Round(time.Millisecond)))
		if err := sleep(d, wait, f); err != nil {
			return err
		}
		d.Touch() // --idle starts when the peer is reached
	}
}

// WaitReached is like untilReached, but for a command that bounds its own time.
func WaitReached(ctx context.Context, run *env.Env, attempt func() error) error {
	d := env.NewDeadline(ctx, 0, 0)
	defer d.Stop()
	return untilReached(run, d, attempt)
}

// deadlineKey is the context key of the Deadline of a call of Collect.
type deadlineKey struct{}

// Resend returns what sends a message again for up to --wait, as long as each failure proves that it did not reach the
// peer (session.Options.Resend). Before each attempt, it calls touch, and restarts the idle timer of a call of Collect. Without --wait,
// it returns nil.
func Resend(run *env.Env, touch func()) func(ctx context.Context, attempt func() error) error {
	if limit, _ := run.Line.Value("wait").(time.Duration); limit <= 0 {
		return nil
	}
	return func(ctx context.Context, attempt func() error) error {
		return WaitReached(ctx, run, func() error {
			touch()
			if call, ok := ctx.Value(deadlineKey{}).(*env.Deadline); ok {
				call.Touch()
			}
			return attempt()
		})
	}
}

// sleep waits for t after the failure last, or returns why d ended first. A timeout has last as its hint.
func sleep(d *env.Deadline, t time.Duration, last *wire.Fault) error {
	if wire.Sleep(d.Ctx, t) {
		return nil
	}
	err := env.Cause(d.Ctx, d.Ctx.Err())
	f := wire.AsFault(err)
	if f == nil || f.Kind != wire.Timeout || f.Hint != "" {
		return err
	}
	return f.WithHint(last.Message)
}
