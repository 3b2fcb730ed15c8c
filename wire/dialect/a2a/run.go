package a2a

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// These states have a meaning for rpcx. A hook can set any state.
const (
	submitted     = "SUBMITTED"
	working       = "WORKING"
	completed     = "COMPLETED"
	failed        = "FAILED"
	canceled      = "CANCELED"
	rejected      = "REJECTED"
	inputRequired = "INPUT_REQUIRED"
	authRequired  = "AUTH_REQUIRED"
)

func isOver(state string) bool {
	return slices.Contains([]string{completed, failed, canceled, rejected}, state)
}

// isResting reports whether the task has ended or waits for the client's next message.
func isResting(state string) bool {
	return isOver(state) || state == inputRequired || state == authRequired
}

// run starts the hook for a message. from is the number of the message's first event.
func (t *task) run(message json.RawMessage) (from int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case isOver(t.state):
		return 0, failure(codeUnsupported, "UNSUPPORTED_OPERATION", "the task has ended")
	case !isResting(t.state):
		return 0, failure(codeUnsupported, "UNSUPPORTED_OPERATION", "the task is still working on a message")
	}
	var params scan.Object
	params.Text("text", texts(message))
	params.Text("taskId", t.id)
	params.Text("contextId", t.context)
	params.Add("message", message)
	params.Add("history", scan.ArrayOf(t.history...))
	in := params.End()
	ctx, cancel := context.WithCancel(context.Background())
	t.cancelRun, t.cancelled = cancel, false
	t.history = append(t.history, message)
	t.addBytes(len(message))
	from = len(t.events)
	t.setLocked(submitted, nil)
	t.agent.wg.Go(func() {
		defer wire.Guard()
		defer cancel()
		responder := t.agent.host.Backend.Bind(t)
		kind, _ := responder.Kind(hookName)
		r := &running{t: t, lines: kind == catalog.Stream}
		result, err := responder.Respond(ctx, dialect.Request{Method: hookName, Params: in, Stream: r.lines, Emit: r.emit})
		r.end(result, err)
		_ = responder.Close()
	})
	return from, nil
}

// A running is one run of a task's hook.
type running struct {
	t        *task
	lines    bool
	artifact *artifact // contains the hook's text; nil before the first text
}

// emit handles an event of the hook. Data becomes parts of an artifact, and progress becomes a status. An error ends the task.
func (r *running) emit(ev wire.Event) error {
	switch ev.Kind {
	case wire.Data:
		return r.output(ev.Data)
	case wire.Progress:
		return r.t.set(working, ev.Message)
	case wire.Failure:
		return ev.Err
	}
	return nil
}

// output handles one output of the hook: a string, a status ({"state": …, "text": …}), an object with parts, or other
// data.
func (r *running) output(out json.RawMessage) error {
	if state := scan.String(scan.Get(out, "state")); state != "" {
		state = strings.TrimPrefix(strings.ToUpper(strings.ReplaceAll(state, "-", "_")), statePrefix)
		return r.t.set(state, scan.String(scan.Get(out, "text")))
	}
	if text, ok := scan.Text(out); ok {
		if r.lines {
			text += "\n"
		}
		if r.artifact == nil {
			r.artifact = &artifact{id: rand.Text()}
		}
		return r.t.put(r.artifact, textPart(text))
	}
	parts := scan.List(bytes.Clone(scan.Get(out, "parts")))
	if parts == nil {
		parts = []json.RawMessage{scan.Pair("data", out)}
	}
	return r.t.put(&artifact{id: rand.Text()}, parts...)
}

func textPart(text string) json.RawMessage { return scan.Pair("text", scan.AppendQuoted(nil, text)) }

func (r *running) end(result json.RawMessage, err error) {
	t := r.t
	if err == nil && !r.lines && string(result) != "null" && len(result) > 0 {
		err = r.output(result)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch rpc, ok := errors.AsType[*wire.Error](err); {
	case isResting(t.state) && len(t.events) > 0 && t.state != submitted && !t.cancelled:
	case t.cancelled:
		t.setLocked(canceled, nil)
	case ok:
		t.setLocked(failed, t.message(rpc.Message))
	case err != nil:
		t.setLocked(failed, t.message("the agent failed"))
	default:
		t.setLocked(completed, nil)
	}
}
