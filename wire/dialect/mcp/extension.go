package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/poll"
	"rpcx/wire/scan"
)

// The extension for tasks (SEP-2663): a server may answer a tool call with the name of a task. The client polls the task, and sends input
// with further calls.

const (
	tasksExtension = "io.modelcontextprotocol/tasks"
	taskUpdate     = "tasks/update"
)

// isTask reports whether a result is a task that replaces a call.
func isTask(result json.RawMessage) bool {
	return scan.String(scan.Get(result, "resultType")) == "task" && scan.Type(scan.Get(result, "taskId")) == 's'
}

// modernJob carries out one of the Job operations of t.
func (f *client) modernJob(ctx context.Context, caller dialect.Caller, t *following) (dialect.Stream, error) {
	if scan.Get(scan.Get(scan.Get(f.c.Scope().Conn.Kept, "capabilities"), "extensions"), tasksExtension) == nil {
		fault := wire.Usagef("the server does not run tools as tasks: it has not declared the extension %s", tasksExtension)
		fault.Hint = "rpcx call waits for the result of a tool that is not a task"
		return nil, fault
	}
	switch t.op.Kind {
	case dialect.JobRun, dialect.JobStart:
		if f.c.IsPlain(t.op.Method) {
			return nil, wire.Usagef("%s is not a tool, and only tools can be tasks", t.op.Method)
		}
		op := dialect.Op{Kind: dialect.Call, Method: t.op.Method, Params: t.op.Params, Nested: t.op.Nested, About: t.op.About}
		if t.op.Kind == dialect.JobStart {
			op.Extra = asTask
		}
		return caller.Open(ctx, op)
	case dialect.JobWait:
		t.Ask, t.Now = t.askModern, true
		return t, nil
	case dialect.JobStatus:
		return f.about(ctx, caller, taskGet, t.task)
	case dialect.JobCancel:
		if _, err := f.c.Ask(ctx, caller, taskCancel, scan.Pair("taskId", t.task)); err != nil {
			return nil, taskFault(taskCancel, err)
		}
		f.setTask(t.task, false)
		return f.about(ctx, caller, taskGet, t.task)
	}
	return nil, wire.Usagef("the server lists no tasks: version %s of MCP has no request for that", scan.String(scan.Get(f.c.Scope().Conn.Kept, "modern")))
}

// follow returns the stream of a call that has become a task: with its result, or for job start only with its name.
func (f *client) follow(ctx context.Context, caller dialect.Caller, op dialect.Op, m wire.Message) (dialect.Stream, error) {
	if string(op.Extra) == string(asTask) {
		return poll.Lines(taskLine(m.Body)), nil
	}
	t := &following{client: f, caller: caller, op: op, task: scan.Get(m.Body, "taskId")}
	f.setTask(t.task, true)
	t.Ask, t.GiveUp = t.askModern, t.giveUp
	return t, t.standsModern(ctx, m.Body)
}

// askModern requests the status of the task.
func (t *following) askModern(ctx context.Context) error {
	said, err := t.client.c.Ask(ctx, t.caller, taskGet, scan.Pair("taskId", t.task))
	if err == nil {
		err = t.standsModern(ctx, said)
	}
	if rpc, ok := errors.AsType[*wire.Error](err); ok && wire.AsFault(err) == nil {
		t.end(ctx, wire.Message{Err: rpc, Raw: rpc.JSON()})
		return nil
	}
	return err
}

// standsModern handles a status of the task: it shows a change as progress, answers the task's requests, or ends with its result.
func (t *following) standsModern(ctx context.Context, task json.RawMessage) error {
	if ms, err := strconv.ParseFloat(string(scan.Get(task, "pollIntervalMs")), 64); err == nil && ms > 0 {
		t.Every = min(max(time.Duration(min(ms, float64(latest/time.Millisecond)))*time.Millisecond, soonest), latest)
	}
	t.status, t.words = scan.String(scan.Get(task, "status")), scan.String(scan.Get(task, "statusMessage"))
	m := wire.Message{Raw: task, Body: scan.OrNull(scan.Get(task, "result"))}
	switch t.status {
	case "working":
		t.show(task)
		return nil
	case "input_required":
		t.show(task)
		return t.update(ctx, scan.Get(task, "inputRequests"))
	case "completed":
		if err := t.client.c.Unwrap(&m, t.op.Method, t.op.Params); err != nil {
			return err
		}
	case "failed":
		e := scan.Get(task, "error")
		m.Err = &wire.Error{Code: scan.Get(e, "code"), Message: scan.String(scan.Get(e, "message")), Data: scan.Get(e, "data"), Raw: e}
		if scan.Type(e) != 'o' {
			m.Err = wire.NewError(wire.CodeServer, "the task has failed")
		}
	case "cancelled":
		m.Err = wire.NewError(wire.CodeServer, "the task was cancelled")
	default:
		return wire.NewFault(wire.Protocol, "the task has the unknown status "+strconv.Quote(t.status), nil).WithMethod(taskGet)
	}
	t.GiveUp = nil
	t.end(ctx, m)
	return nil
}

// update runs hooks to answer the task's requests that they have not answered before.
func (t *following) update(ctx context.Context, requests json.RawMessage) error {
	answers, err := t.client.c.Answers(ctx, t.caller, requests, t.answered)
	if err != nil || answers == nil {
		return err
	}
	if t.answered == nil {
		t.answered = map[string]bool{}
	}
	for name := range scan.Named(answers) {
		t.answered[name] = true
	}
	_, err = t.client.c.Ask(ctx, t.caller, taskUpdate, updateOf(t.task, answers))
	return err
}

// updateOf returns the params of a call that answers requests of a task.
func updateOf(task, answers json.RawMessage) json.RawMessage {
	var o scan.Object
	o.Add("taskId", task)
	o.Add("inputResponses", answers)
	return o.End()
}
