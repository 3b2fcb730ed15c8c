package dialects

import (
	"encoding/json"
	"fmt"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
)

// hotreplRow has only examples.
var hotreplRow = row{examples: map[string][]cmdline.Example{
	"eval":      {{Says: "Print completions of code on a HotRepl host", Command: `rpcx eval demo:hotrepl --complete 'archive'`}},
	"subscribe": {{Says: "Evaluate code on a HotRepl host every second frame", Command: "rpcx subscribe demo:hotrepl 'setState(($state // 10) - 1)' --every 2 --count 3"}},
	"job run":   {{Says: "Run a command of the demo as a job", Command: "rpcx job run demo:hotrepl archive.export"}},
}}

// Evaluator contains the flags for other requests to a HotRepl host's evaluator.
type Evaluator struct {
	complete bool
	cursor   int64
	Reset    bool
}

// Flags returns the flags of w.
func (w *Evaluator) Flags() []*cmdline.Flag {
	w.cursor = -1
	return []*cmdline.Flag{
		cmdline.Bool(cmdline.GroupHotRepl, "complete", "", "print completions of CODE instead of evaluating it", &w.complete),
		cmdline.Number("", "cursor", "complete at position `N` in CODE (by default, at its end)", 0, &w.cursor),
		cmdline.Bool(cmdline.GroupHotRepl, "reset", "", "reset the peer's state instead of evaluating CODE", &w.Reset),
	}
}

// Check rejects mutually exclusive flags.
func (w *Evaluator) Check(l *cmdline.CommandLine, e endpoint.Endpoint, rest []string, file string) error {
	switch {
	case w.complete && w.Reset:
		return l.Usage("--complete and --reset cannot be combined")
	case w.Reset && (len(rest) > 0 || file != ""):
		return l.Usage("--reset takes no CODE")
	}
	return nil
}

// Operation returns the operation that the flags select. timeout bounds the evaluation.
func (w *Evaluator) Operation(e endpoint.Endpoint, code string, timeout time.Duration) dialect.Op {
	op := dialect.Op{Kind: dialect.Eval, Method: "eval", Code: code}
	switch {
	case w.complete:
		op.Method = "complete"
		if w.cursor >= 0 {
			op.Extra = scan.Pair("cursor", scan.JSON(w.cursor))
		}
	case w.Reset:
		op.Method = "reset"
	case timeout > 0 && e.Spec().Evaluation.IsLive():
		op.Extra = scan.Pair("timeoutMs", scan.JSON(max(timeout.Milliseconds(), 1)))
	}
	return op
}

// HostTimeout converts a host's timeout error to the Fault of --timeout, because the command must end in the same way
// whichever side notices the timeout first.
func (w *Evaluator) HostTimeout(op dialect.Op, timeout time.Duration, err error) error {
	f := wire.AsFault(err)
	if f == nil || f.RPC == nil || f.RPC.Kind != "timeout" || timeout <= 0 || op.Method != "eval" || op.Extra == nil {
		return err
	}
	g := *f
	g.Kind, g.Message = wire.Timeout, fmt.Sprintf("not done within %v (--timeout): %s", timeout, f.RPC.Error())
	return &g
}

// Watch contains the flags for watching code.
type Watch struct {
	every    int64
	onChange bool
}

// Flags returns the flags of w.
func (w *Watch) Flags() []*cmdline.Flag {
	return []*cmdline.Flag{
		cmdline.Number(cmdline.GroupHotRepl, "every", "evaluate METHOD, which is code, every `FRAMES` frames (1)", 1, &w.every),
		cmdline.Bool("", "on-change", "", "print only values that differ from the previous one", &w.onChange),
	}
}

// Operation makes op watch code if the dialect supports that. limit is the number of values, or 0.
func (w *Watch) Operation(l *cmdline.CommandLine, e endpoint.Endpoint, op *dialect.Op, rest []string, limit int64) (watches bool, err error) {
	switch {
	case !e.Spec().Evaluation.IsLive():
		return false, nil
	case len(rest) > 1:
		return true, l.Usage("subscribe takes one CODE: unexpected argument %q", rest[1]).WithHint("quote it for the shell: '…'")
	}
	op.Method, op.Code = "subscribe", rest[0]
	var extra scan.Object
	extra.Int("intervalFrames", max(w.every, 1))
	if limit > 0 {
		extra.Int("limit", limit)
	}
	if w.onChange {
		extra.Bool("onChange", true)
	}
	op.Extra = extra.End()
	return true, nil
}

// Journal contains the flags that select entries of a journal.
type Journal struct {
	kind  string
	limit int64
}

// Flags returns the flags of j.
func (j *Journal) Flags() []*cmdline.Flag {
	j.limit = -1
	return []*cmdline.Flag{
		cmdline.Enum("", "kind", "`eval|command`: list only evaluations (eval) or commands (command)", &j.kind, []string{"eval", "command"}),
		cmdline.Number("", "limit", "list the newest `N` entries", 0, &j.limit),
	}
}

// Extra returns the flags as members of the request, or nil without flags.
func (j *Journal) Extra() json.RawMessage {
	var o scan.Object
	o.SomeText("kind", j.kind)
	if j.limit >= 0 {
		o.Int("limit", int64(j.limit))
	}
	return o.EndOrNil()
}
