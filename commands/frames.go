package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/session"
)

// hostGrace is how much longer than the host we wait for an eval that has run out
// of its time there.
const hostGrace = 2 * time.Second

// evaluatorFlags are what a HotRepl host's evaluator can be asked beside a value.
type evaluatorFlags struct {
	complete bool
	cursor   int64
	reset    bool
}

func (w *evaluatorFlags) flags() []Flag {
	w.cursor = -1
	return []Flag{
		boolean("", "complete", "", "print how CODE could go on in place of evaluating it (hotrepl)", &w.complete),
		number("", "cursor", "with --complete, `N` is the place in CODE (its end)", 0, &w.cursor),
		boolean("", "reset", "", "have the peer forget what code has set; takes no CODE (hotrepl)", &w.reset),
	}
}

// check refuses what makes no sense together, or in the endpoint's dialect.
func (w *evaluatorFlags) check(l *commandLine, e session.Endpoint, rest []string, file string) error {
	switch {
	case w.complete && w.reset:
		return l.usage("--complete and --reset are two things")
	case w.cursor >= 0 && !w.complete:
		return l.usage("--cursor goes with --complete")
	case w.reset && (len(rest) > 0 || file != ""):
		return l.usage("--reset takes no CODE")
	case (w.complete || w.reset) && e.Dialect != "" && !session.SpecOf(e).LiveEval:
		return l.usage("--complete and --reset: %s has neither", e.Dialect)
	}
	return nil
}

// operation is what is asked of the evaluator; timeout is how long it may take.
func (w *evaluatorFlags) operation(e session.Endpoint, code string, timeout time.Duration) dialect.Op {
	op := dialect.Op{Kind: dialect.Eval, Method: "eval", Code: code}
	switch {
	case w.complete:
		op.Method = "complete"
		if w.cursor >= 0 {
			op.Extra = json.RawMessage(fmt.Sprintf(`{"cursor":%d}`, w.cursor))
		}
	case w.reset:
		op.Method = "reset"
	case timeout > 0 && session.SpecOf(e).LiveEval:
		op.Extra = timeoutMember(timeout)
	}
	return op
}

// bound is how long we wait: longer than the host, where that is told to keep
// the time.
func (w *evaluatorFlags) bound(op dialect.Op, timeout time.Duration) time.Duration {
	if timeout > 0 && op.Method == "eval" && op.Extra != nil {
		return timeout + hostGrace
	}
	return timeout
}

func timeoutMember(d time.Duration) json.RawMessage {
	return json.RawMessage(`{"timeoutMs":` + strconv.FormatInt(max(d.Milliseconds(), 1), 10) + `}`)
}

// watchFlags are how code is watched.
type watchFlags struct {
	every    int64
	onChange bool
}

func (w *watchFlags) flags() []Flag {
	return []Flag{
		number("", "every", "METHOD is code, evaluated every `FRAMES` frames (1; hotrepl)", 1, &w.every),
		boolean("", "on-change", "", "only values that are not the last one (hotrepl)", &w.onChange),
	}
}

// operation makes of op one that watches code, where the dialect does that.
// limit is how many values are wanted; 0: any number.
func (w *watchFlags) operation(l *commandLine, e session.Endpoint, op *dialect.Op, rest []string, limit int64) (watches bool, err error) {
	switch {
	case !session.SpecOf(e).LiveEval && e.Dialect != "" && *w != (watchFlags{}):
		return false, l.usage("--every and --on-change: %s watches no code", e.Dialect)
	case !session.SpecOf(e).LiveEval:
		return false, nil
	case len(rest) > 1:
		f := l.usage("subscribe takes one CODE, not %q too", rest[1])
		f.Hint = "quote it for the shell: '…'"
		return true, f
	}
	op.Method, op.Code = "subscribe", rest[0]
	b := []byte(`{"intervalFrames":` + strconv.FormatInt(max(w.every, 1), 10))
	if limit > 0 {
		b = strconv.AppendInt(append(b, `,"limit":`...), limit, 10)
	}
	if w.onChange {
		b = append(b, `,"onChange":true`...)
	}
	op.Extra = append(b, '}')
	return true, nil
}

// retryFlag says how often a call is made again.
func retryFlag(to *int64) Flag {
	return number("", "retry", "make the call again, up to `N` times, when the peer says that it failed but may be made again (retryable)", 0, to)
}

// The times between attempts.
const (
	firstRetry   = 100 * time.Millisecond
	longestRetry = 5 * time.Second
)

// retry makes attempts until one is not refused as retryable, n more than one at
// most.
func (a *app) retry(ctx context.Context, n int64, attempt func() error) error {
	pause := firstRetry
	for {
		err := attempt()
		f := wire.AsFault(err)
		if n--; n < 0 || f == nil || f.Kind != wire.RPCError || f.Retryable == nil || !*f.Retryable {
			return err
		}
		a.console.Note(fmt.Sprintf("%s; again in %v", f.Message, pause))
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return cause(ctx, ctx.Err())
		}
		pause = min(2*pause, longestRetry)
	}
}
