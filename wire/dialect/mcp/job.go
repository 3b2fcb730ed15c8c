package mcp

import (
	"context"
	"encoding/json"
	"errors"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/poll"
	"rpcx/wire/scan"
)

// Job runs one of the Job operations with tasks.
func (f *client) Job(ctx context.Context, caller dialect.Caller, op dialect.Op) (dialect.Stream, error) {
	t := f.following(caller, op, scan.AppendQuoted(nil, op.Job))
	if f.isModern() {
		return f.modernJob(ctx, caller, t)
	}
	switch op.Kind {
	case dialect.JobRun, dialect.JobStart:
		if err := f.runsAsTask(ctx, caller, op.Method); err != nil {
			return nil, err
		}
		st, err := caller.Open(ctx, dialect.Op{Kind: dialect.Call, Method: op.Method, Params: op.Params, Extra: asTask, Nested: op.Nested, About: op.About})
		if err != nil {
			return nil, err
		}
		t.Reports, t.OnReport = st, t.begun
		return t, nil
	case dialect.JobWait:
		st, err := caller.Open(ctx, dialect.Op{Kind: dialect.Watch, Method: taskStatus})
		if err != nil {
			return nil, err
		}
		t.Reports, t.OnReport = st, t.onReport
		t.Track()
		return t, nil
	case dialect.JobStatus:
		return f.about(ctx, caller, taskGet, t.task)
	case dialect.JobCancel:
		if err := f.can("/capabilities/tasks/cancel", "cancel tasks"); err != nil {
			return nil, err
		}
		return f.about(ctx, caller, taskCancel, t.task)
	case dialect.JobList:
		if err := f.can("/capabilities/tasks/list", "list tasks"); err != nil {
			return nil, err
		}
		return f.list(ctx, caller)
	}
	return nil, wire.ErrUnsupported
}

// runsAsTask returns a usage Fault for a tool that, according to the server's list, cannot run as a task. The server itself
// rejects tools that it does not list.
func (f *client) runsAsTask(ctx context.Context, caller dialect.Caller, method string) error {
	if err := f.can("/capabilities/tasks/requests/tools/call", "run tools as tasks"); err != nil {
		wire.AsFault(err).Hint = "use rpcx call for a tool that cannot run as a task"
		return err
	}
	if f.c.IsPlain(method) {
		return wire.Usagef("%s is not a tool, and only tools can be tasks", method)
	}
	m, err := f.c.Described(ctx, caller, method)
	switch _, ok := errors.AsType[*wire.Error](err); {
	case ok:
		return nil
	case err != nil:
		return err
	case m != nil && m.Kind != catalog.Job:
		return wire.Usagef("%s is not a job: the server does not run this tool as a task", method).WithHint("use rpcx call, which waits for the result")
	}
	return nil
}

// about makes a call whose result is the status of a task, and yields the status.
func (f *client) about(ctx context.Context, caller dialect.Caller, method string, task json.RawMessage) (dialect.Stream, error) {
	answer, err := f.c.Ask(ctx, caller, method, scan.Pair("taskId", task))
	if err != nil {
		return nil, taskFault(method, err)
	}
	if isOver(scan.String(scan.Get(answer, "status"))) {
		f.SetRunning(task, false)
	}
	return poll.Lines(taskLine(answer)), nil
}

// list requests the list of tasks, page by page.
func (f *client) list(ctx context.Context, caller dialect.Caller) (dialect.Stream, error) {
	var lines []json.RawMessage
	var params json.RawMessage
	err := f.c.Pages(taskList, func(cursor json.RawMessage) (json.RawMessage, error) {
		if cursor != nil {
			params = scan.Pair("cursor", cursor)
		}
		answer, err := f.c.Ask(ctx, caller, taskList, params)
		if err != nil {
			return nil, taskFault(taskList, err)
		}
		for task := range scan.Elements(scan.Get(answer, "tasks")) {
			lines = append(lines, taskLine(task))
		}
		return scan.Get(answer, "nextCursor"), nil
	})
	return poll.Answer(err, lines...)
}

// taskFault converts the error of a call about tasks to a failure of the command.
func taskFault(method string, err error) error {
	var rpc *wire.Error
	if !errors.As(err, &rpc) {
		return err
	}
	f := &wire.Fault{Kind: wire.RPCError, Method: method, RPC: rpc, Message: rpc.Error()}
	if method != taskList {
		f.Hint = "rpcx job list lists the known jobs"
	}
	return f
}

// taskLine describes a task to users: the server's description with the task's name as "job".
func taskLine(task json.RawMessage) json.RawMessage {
	var o scan.Object
	o.Compact("job", scan.Get(task, "taskId"))
	o.Compact("status", scan.Get(task, "status"))
	for name, val := range scan.Named(task) {
		if name != "taskId" && name != "status" && name != "_meta" && name != "resultType" {
			o.Compact(name, val)
		}
	}
	return o.End()
}
