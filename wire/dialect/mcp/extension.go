package mcp

import (
	"context"
	"encoding/json"
	"strconv"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/mcp/modern"
	"rpcx/wire/dialect/poll"
	"rpcx/wire/scan"
)

// MCP has an extension for tasks (SEP-2663). A server may answer a tool call with the name of a task. The client then polls the task,
// and sends input with further calls.

const taskUpdate = "tasks/update"

// modernJob runs the Job operation t.op.
func (f *client) modernJob(ctx context.Context, caller dialect.Caller, t *following) (dialect.Stream, error) {
	if scan.Get(scan.At(f.c.Scope().Conn.Kept, "/capabilities/extensions"), modern.Tasks) == nil {
		return nil, wire.Usagef("the server does not run tools as tasks: it did not declare the extension %s", modern.Tasks).
			WithHint("use rpcx call for a tool that cannot run as a task")
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
		t.Track()
		t.Now = true
		return t, nil
	case dialect.JobStatus:
		return f.about(ctx, caller, taskGet, t.task)
	case dialect.JobCancel:
		if _, err := f.c.Ask(ctx, caller, taskCancel, scan.Pair("taskId", t.task)); err != nil {
			return nil, taskFault(taskCancel, err)
		}
		f.SetRunning(t.task, false)
		return f.about(ctx, caller, taskGet, t.task)
	}
	return nil, wire.Usagef("the server lists no tasks: version %s of MCP has no request for that", scan.String(scan.Get(f.c.Scope().Conn.Kept, "modern")))
}

// follow returns the stream of a call that has become a task. The stream yields the result of the task or, for a
// JobStart, only the description of the task.
func (f *client) follow(ctx context.Context, caller dialect.Caller, op dialect.Op, m wire.Message) (dialect.Stream, error) {
	if string(op.Extra) == string(asTask) {
		return poll.Lines(taskLine(m.Body)), nil
	}
	t := f.following(caller, op, scan.Get(m.Body, "taskId"))
	f.SetRunning(t.task, true)
	t.CancelWork = t.cancelWork
	t.Track()
	return t, t.Update(ctx, m.Body)
}

// readModern answers the task's requests, or replaces the task in m with its result. over reports whether the task has
// ended.
func (t *following) readModern(ctx context.Context, m *wire.Message) (over bool, err error) {
	task := m.Body
	switch t.status {
	case "working":
		return false, nil
	case "input_required":
		return false, t.update(ctx, scan.Get(task, "inputRequests"))
	case "completed":
		m.Body = scan.OrNull(scan.Get(task, "result"))
		return true, t.client.c.Unwrap(m, t.op.Method, t.op.Params)
	case "failed", "cancelled":
		m.Err = t.failure()
		if e := scan.Get(task, "error"); scan.Type(e) == 'o' {
			m.Err = &wire.Error{Code: scan.Get(e, "code"), Message: scan.String(scan.Get(e, "message")), Data: scan.Get(e, "data"), Raw: e}
		}
		return true, nil
	default:
		return false, wire.NewFault(wire.Protocol, "the task has the unknown status "+strconv.Quote(t.status), nil).WithMethod(taskGet)
	}
}

// update answers the task's unanswered requests with hooks.
func (t *following) update(ctx context.Context, requests json.RawMessage) error {
	answers, err := t.client.c.Answers(ctx, t.caller, requests, t.answered)
	if err != nil || answers == nil {
		return err
	}
	for name := range scan.Named(answers) {
		wire.Put(&t.answered, name, true)
	}
	var o scan.Object
	o.Add("taskId", t.task)
	o.Add("inputResponses", answers)
	_, err = t.client.c.Ask(ctx, t.caller, taskUpdate, o.End())
	return err
}
