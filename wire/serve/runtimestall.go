package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/hook"
	"rpcx/wire/scan"
)

// stallTime is how long a co-process may print nothing, after it failed to end a cancelled eval, while other evals
// wait. Then rpcx ends the co-process.
const stallTime = 10 * time.Second

// watch warns that t did not end a cancelled eval, and watches t until t prints a line. A co-process often has a single
// thread for all sessions, so code that never ends would block all of them.
func (r *coRuntime) watch(t *hook.LineProcess) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.watched == t || r.process != t {
		return
	}
	r.watched = t
	r.o.Warn("the runtime is still running cancelled code; other evaluations may have to wait")
	r.wg.Go(func() { r.stopIfStalled(t) })
}

// stopIfStalled ends t if t prints nothing for r.stall while evals wait. The next eval starts another co-process.
func (r *coRuntime) stopIfStalled(t *hook.LineProcess) {
	for {
		r.mu.Lock()
		lines, waited := r.lines, len(r.pending) > 0
		r.mu.Unlock()
		select {
		case <-time.After(r.stall):
		case <-t.Done(): // the next eval starts another one, which may be watched then
			return
		case <-r.ctx.Done():
			return
		}
		r.mu.Lock()
		over := r.closed || r.process != t || r.lines != lines
		stalled := !over && waited && len(r.pending) > 0
		if over || stalled {
			r.watched = nil
		}
		if stalled {
			r.process = nil
		}
		r.mu.Unlock()
		switch {
		case over:
			return
		case stalled:
			r.o.Warn(fmt.Sprintf("no output from the runtime for %v: restarted it; the state of all sessions is lost", r.stall))
			t.Stop(nil)
			return
		}
	}
}

// functionValue returns a function value for a binding. Code can use it as its result or as an argument.
func functionValue(e dialect.Code, name string) (json.RawMessage, error) {
	switch {
	case e.Function == nil:
		return nil, errors.New("function values are not supported here")
	case !slices.Contains(e.Names, name):
		return nil, wire.NewError(wire.CodeNoMethod, "unknown binding: "+name)
	}
	value := e.Function(name)
	if value == nil {
		return nil, errors.New(name + " is a function of the client, which needs no function value for it")
	}
	return value, nil
}

// answerCall answers a call from the code of an eval. The line repeats the call's own number.
func answerCall(id int64, run *coEval, asked, value json.RawMessage, err error) {
	call := scan.OrNull(scan.Get(asked, "call"))
	line := coLine(id)
	line.Add("call", call)
	if err != nil {
		line.Compact("error", wire.AsError(err).JSON())
	} else {
		line.Compact("value", scan.OrNull(value))
	}
	run.process.Send(run.ctx.Done(), append(line.End(), '\n'))
}
