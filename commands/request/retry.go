package request

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/wire"
)

// Retries are the flags that say how often a failed call is made again.
type Retries struct {
	N      int64
	Unsafe bool
}

// Flags makes the flags, which store into r.
func (r *Retries) Flags() []cmdline.Flag {
	return []cmdline.Flag{
		cmdline.Number("", "retry", "repeat a failed call up to `N` times if that is safe: the error is retryable, or the HTTP status is 429 or 503", 0, &r.N),
		cmdline.Bool("", "retry-unsafe", "", "also repeat a POST that may have been executed: HTTP status 502 or 504, or a lost response", &r.Unsafe),
	}
}

// The times between attempts: they double from the first to the longest.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
	longestWait  = time.Second // between attempts to reach a peer
)

// retry repeats attempt until its outcome is final: as long as --wait says
// while the peer was not reached, and up to r.N times more if a failure allows
// it. --timeout bounds all attempts together.
func (r Retries) retry(run *env.Env, d *env.Deadline, posts bool, attempt func() error) error {
	left, pause := r.N, firstPause
	for {
		err := untilReached(run, d, attempt)
		f := wire.AsFault(err)
		if left--; left < 0 || f == nil || !r.allows(f, posts) {
			return err
		}
		wait := max(pause, retryAfter(f))
		run.Console.Note(fmt.Sprintf("%s; again in %v", f.Message, wait))
		if err := sleep(d, wait); err != nil {
			return err
		}
		pause = min(2*pause, longestPause)
	}
}

// allows reports whether a call that failed with f may be retried. posts reports that each call is a POST of its own, so
// that the connection outlives it.
func (r Retries) allows(f *wire.Fault, posts bool) bool {
	if f.Kind == wire.RPCError && f.Retryable != nil {
		return *f.Retryable
	}
	if f.HTTP == nil {
		return r.Unsafe && posts && f.Kind == wire.Closed
	}
	switch f.HTTP.Status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return true
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return r.Unsafe
	}
	return false
}

// retryAfter returns how long the server asked to wait; 0 if it did not.
func retryAfter(f *wire.Fault) time.Duration {
	if f.HTTP == nil {
		return 0
	}
	return time.Duration(f.HTTP.RetryAfter) * time.Second
}

// posting reports whether a scheme sends each message as an HTTP POST.
func posting(scheme string) bool { return strings.HasPrefix(scheme, "http") }

// untilReached repeats attempt as long as --wait says, while the failure proves
// that the peer was not reached.
func untilReached(run *env.Env, d *env.Deadline, attempt func() error) error {
	for pause := firstPause; ; pause = min(2*pause, longestWait) {
		err := attempt()
		f := wire.AsFault(err)
		if f == nil || !f.Unreached {
			return err
		}
		wait := min(max(pause, retryAfter(f)), time.Until(waitEnd(run)))
		if wait <= 0 {
			return err
		}
		run.Verbose(fmt.Sprintf("%s; again in %v", f.Message, wait.Round(time.Millisecond)))
		if err := sleep(d, wait); err != nil {
			return notReached(err, f)
		}
		d.Touch() // --idle only counts once the peer is reached
	}
}

// notReached adds to a timeout that ended the wait for a peer why that was not reached.
func notReached(err error, last *wire.Fault) error {
	f := wire.AsFault(err)
	if f == nil || f.Kind != wire.Timeout || f.Hint != "" {
		return err
	}
	g := *f
	g.Hint = last.Message
	return &g
}

// waitEnd returns the time at which --wait is over.
func waitEnd(run *env.Env) time.Time {
	limit, _ := run.Line.Value("wait").(time.Duration)
	return run.Started.Add(limit)
}

// WaitReached is untilReached for a command that bounds the time itself.
func WaitReached(ctx context.Context, run *env.Env, attempt func() error) error {
	d := env.NewDeadline(ctx, 0, 0)
	defer d.Stop()
	return untilReached(run, d, attempt)
}

// sleep waits for t, or returns the reason why d ended before.
func sleep(d *env.Deadline, t time.Duration) error {
	timer := time.NewTimer(t)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-d.Ctx.Done():
		return env.Cause(d.Ctx, d.Ctx.Err())
	}
}
