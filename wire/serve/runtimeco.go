package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/hook"
	"rpcx/wire/scan"
)

// cancelTime is how long rpcx waits for the answer to a cancelled eval. It drops a later answer.
const cancelTime = 2 * time.Second

// coRuntime evaluates code in a co-process. The manual describes the lines that they exchange under SCOMP AND RUNTIMES.
// The first eval starts the process. If the process ends, the next eval starts a new one, and the state of all sessions
// is lost.
type coRuntime struct {
	command string
	o       RuntimeOptions
	ctx     context.Context // cancelled by Close
	cancel  context.CancelFunc
	wg      sync.WaitGroup

	noisy sync.Once // the user is warned about a line that is not an answer

	mu          sync.Mutex
	closed      bool
	process     *hook.LineProcess // nil before the first eval
	last        int64             // the last eval's id
	pending     map[int64]*coEval
	knows       map[string]bool   // sessions with a state in the co-process
	lines       int64             // the number of lines from all co-processes
	cancelLimit time.Duration     // see cancelTime
	stall       time.Duration     // see stallTime
	watched     *hook.LineProcess // the co-process that watch observes, or nil
}

// coEval is a pending eval.
type coEval struct {
	ctx     context.Context
	e       dialect.Code
	process *hook.LineProcess
	done    chan coAnswer // has a buffer of one
}

type coAnswer struct {
	value json.RawMessage
	err   error
}

func newCo(command string, o RuntimeOptions) *coRuntime {
	r := &coRuntime{command: command, o: o, pending: map[int64]*coEval{}, cancelLimit: cancelTime, stall: stallTime}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// About returns the name of the engine. The language of a co-process is unknown.
func (*coRuntime) About() map[string]string { return map[string]string{"engine": "co-process"} }

// Completions returns nil, because co-processes have no request for completions.
func (*coRuntime) Completions() []string { return nil }

// Eval passes the code to the co-process and waits for the answer.
func (r *coRuntime) Eval(ctx context.Context, e dialect.Code) (json.RawMessage, error) {
	t, err := r.ensureRunning(e.Session)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx) // cancelled at return, which ends pending invocations
	defer cancel()
	run := &coEval{ctx: ctx, e: e, process: t, done: make(chan coAnswer, 1)}
	r.mu.Lock()
	r.last++
	id := r.last
	r.pending[id] = run
	r.mu.Unlock()
	defer r.forget(id)
	line := coLine(id)
	line.Text("eval", e.Code)
	line.Text("session", e.Session)
	if !t.Send(ctx.Done(), append(line.End(), '\n')) && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	select {
	case got := <-run.done:
		return got.value, got.err
	case <-t.Done():
		select {
		case got := <-run.done: // its last output
			return got.value, got.err
		default:
		}
		how, _ := t.Result()
		r.o.Warn("the runtime did not answer: it " + how)
		return nil, wire.NewError(wire.CodeInternal, "the runtime failed")
	case <-ctx.Done():
		r.cancelEval(id, run)
		return nil, ctx.Err()
	}
}

// cancelEval cancels an eval in the co-process, and waits briefly for its end before the session's next eval. If it does
// not end, cancelEval watches the co-process, because code of other sessions may have to wait for it.
func (r *coRuntime) cancelEval(id int64, run *coEval) {
	stop, end := context.WithTimeout(r.ctx, r.cancelLimit)
	defer end()
	line := coLine(id)
	line.Bool("cancel", true)
	if run.process.Send(stop.Done(), append(line.End(), '\n')) {
		select {
		case <-run.done:
			return
		case <-run.process.Done():
			return
		case <-stop.Done():
		}
	}
	r.forget(id)
	r.watch(run.process)
}

// Forget drops the state of a session in the co-process.
func (r *coRuntime) Forget(session string) {
	r.mu.Lock()
	t := r.process
	known := r.knows[session] && !r.closed
	delete(r.knows, session)
	r.mu.Unlock()
	if known {
		t.Send(r.ctx.Done(), resetLine(nil, session))
	}
}

// resetLine appends the line that drops the state of a session.
func resetLine(b []byte, session string) []byte {
	line := scan.AppendObject(b)
	line.Text("session", session)
	line.Bool("reset", true)
	return append(line.End(), '\n')
}

// Close ends all sessions in the co-process and waits for its exit.
func (r *coRuntime) Close() error {
	r.mu.Lock()
	r.closed = true
	t := r.process
	var last []byte
	for _, session := range slices.Sorted(maps.Keys(r.knows)) {
		last = resetLine(last, session)
	}
	r.mu.Unlock()
	if t != nil {
		t.Stop(last)
	}
	r.cancel()
	r.wg.Wait()
	return nil
}

// ensureRunning returns the running co-process, and starts one if necessary. It records that the co-process has a state for
// session.
func (r *coRuntime) ensureRunning(session string) (*hook.LineProcess, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errors.New("the server is being closed")
	}
	if r.process != nil && !wire.IsClosed(r.process.Done()) {
		r.knows[session] = true
		return r.process, nil
	}
	t, err := hook.StartLineProcess(r.command, r.o.Stderr)
	if err != nil {
		r.o.Warn("the runtime could not be started: " + err.Error())
		return nil, wire.NewError(wire.CodeInternal, "the runtime failed")
	}
	r.process, r.knows = t, map[string]bool{session: true}
	r.wg.Go(func() {
		defer wire.Guard()
		if err := t.Run(func(line []byte) { r.received(t, line) }, nil); err != nil {
			r.o.Warn(fmt.Sprintf("the runtime %v on one line", err))
		}
	})
	return t, nil
}

func (r *coRuntime) forget(id int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.pending, id)
}

// said processes a line from the co-process. It ignores lines about unknown evals.
func (r *coRuntime) received(t *hook.LineProcess, line []byte) {
	id, err := strconv.ParseInt(string(scan.Get(line, "id")), 10, 64)
	if bad := scan.Valid(line, wire.DefaultMaxDepth); bad != nil || err != nil {
		r.noisy.Do(func() { r.o.Warn(fmt.Sprintf("the runtime printed a line that is not an answer: %.80q", line)) })
		return
	}
	r.mu.Lock()
	r.lines++
	run := r.pending[id]
	r.mu.Unlock()
	if run == nil || run.process != t {
		return
	}
	line = append([]byte(nil), line...)
	if invoke := scan.Get(line, "invoke"); invoke != nil {
		r.wg.Go(func() {
			defer wire.Guard()
			value, err := run.e.Invoke(run.ctx, scan.String(scan.Get(invoke, "name")), scan.Get(invoke, "input"))
			answerCall(id, run, invoke, value, err)
		})
		return
	}
	if asked := scan.Get(line, "function"); asked != nil {
		r.wg.Go(func() {
			value, err := functionValue(run.e, scan.String(scan.Get(asked, "name")))
			answerCall(id, run, asked, value, err)
		})
		return
	}
	select {
	case run.done <- answerOf(line):
	default: // it answered before
	}
}

func answerOf(line []byte) coAnswer {
	e := scan.Get(line, "error")
	if e == nil || string(e) == "null" {
		return coAnswer{value: scan.Get(line, "value")}
	}
	failed := &dialect.EvalError{
		Kind: scan.String(scan.Get(e, "kind")), Message: scan.String(scan.Get(e, "message")), Stack: scan.String(scan.Get(e, "stack")),
		Compile: string(scan.Get(e, "compile")) == "true",
	}
	failed.Message = cmp.Or(failed.Message, "the code failed")
	return coAnswer{err: failed}
}

// coLine begins a line about the eval with that id.
func coLine(id int64) scan.Object {
	var line scan.Object
	line.Int("id", id)
	return line
}
