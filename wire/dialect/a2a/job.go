package a2a

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/codec"
	"rpcx/wire/dialect/poll"
	"rpcx/wire/scan"
)

// A client calls the agent on one connection. It also controls tasks (section 4.1.1), which outlive the connection.
type client struct {
	codec.NoFlow
	c *codec.Codec
}

// atOnce makes the agent respond before the task ends (section 3.2.2).
var atOnce = json.RawMessage(`{"configuration":{"returnImmediately":true}}`)

// Job runs one of the Job operations with the protocol's methods for tasks.
func (f *client) Job(ctx context.Context, caller dialect.Caller, op dialect.Op) (dialect.Stream, error) {
	id := scan.Pair("id", scan.AppendQuoted(nil, op.Job))
	switch op.Kind {
	case dialect.JobRun, dialect.JobStart:
		if op.Method != "SendMessage" {
			return nil, wire.Usagef("only SendMessage starts a task, not %s", op.Method)
		}
		response, err := f.ask(ctx, caller, op.Method, codec.Merged(op.Params, atOnce))
		task := scan.Get(response, "task")
		switch {
		case err != nil:
			return nil, err
		case task == nil: // the agent has answered without a task
			return poll.Lines(response), nil
		case op.Kind == dialect.JobStart:
			return poll.Lines(line(task)), nil
		}
		t := f.follow(caller, scan.Get(task, "id"))
		return t, t.Update(ctx, task)
	case dialect.JobWait:
		t := f.follow(caller, scan.AppendQuoted(nil, op.Job))
		t.Now = true
		return t, nil
	case dialect.JobStatus:
		return f.about(ctx, caller, "GetTask", id)
	case dialect.JobCancel:
		return f.about(ctx, caller, "CancelTask", id)
	case dialect.JobList:
		return f.list(ctx, caller)
	}
	return nil, wire.ErrUnsupported
}

// ask makes a call. It converts an error of the agent to a failure of the command.
func (f *client) ask(ctx context.Context, caller dialect.Caller, method string, params json.RawMessage) (json.RawMessage, error) {
	response, err := f.c.Ask(ctx, caller, method, params)
	if rpc, ok := errors.AsType[*wire.Error](err); ok {
		return nil, &wire.Fault{Kind: wire.RPCError, Method: method, RPC: rpc, Message: rpc.Error()}
	}
	return response, err
}

// about makes a call whose result is a task, and yields the task.
func (f *client) about(ctx context.Context, caller dialect.Caller, method string, params json.RawMessage) (dialect.Stream, error) {
	task, err := f.ask(ctx, caller, method, params)
	return poll.Answer(err, line(task))
}

// list requests the list of tasks, page by page.
func (f *client) list(ctx context.Context, caller dialect.Caller) (dialect.Stream, error) {
	var lines []json.RawMessage
	params := json.RawMessage("{}")
	err := f.c.Pages("ListTasks", func(token json.RawMessage) (json.RawMessage, error) {
		if token != nil {
			params = scan.Pair("pageToken", token)
		}
		response, err := f.ask(ctx, caller, "ListTasks", params)
		for task := range scan.Elements(scan.Get(response, "tasks")) {
			lines = append(lines, line(task))
		}
		if next := scan.Get(response, "nextPageToken"); scan.String(next) != "" {
			return next, err
		}
		return nil, err
	})
	return poll.Answer(err, lines...)
}

// line describes a task to users, with its id as "job" and its state as "status".
func line(task json.RawMessage) json.RawMessage {
	var o scan.Object
	o.Compact("job", scan.Get(task, "id"))
	o.Compact("status", scan.Get(scan.Get(task, "status"), "state"))
	for name, val := range scan.Named(task) {
		switch name {
		case "id", "history":
		case "status":
			o.Compact("message", scan.Get(val, "message"))
		default:
			o.Compact(name, val)
		}
	}
	return o.End()
}

// follow returns a stream that follows a task until the task ends or needs input.
func (f *client) follow(caller dialect.Caller, id json.RawMessage) *poll.Task {
	t := &poll.Task{Read: read}
	t.Status = func(ctx context.Context) (json.RawMessage, error) {
		return f.ask(ctx, caller, "GetTask", scan.Pair("id", id))
	}
	t.CancelWork = func(ctx context.Context) error {
		_, err := f.c.Ask(ctx, caller, "CancelTask", scan.Pair("id", id))
		if _, ok := errors.AsType[*wire.Error](err); ok { // the task has already ended
			return nil
		}
		return err
	}
	t.Track()
	return t
}

// read converts the state of a task to a message. The final state becomes the result or an error.
func read(_ context.Context, task json.RawMessage) (m wire.Message, over bool, err error) {
	status := scan.Get(task, "status")
	state, words := scan.String(scan.Get(status, "state")), texts(scan.Get(status, "message"))
	m = wire.Message{Raw: task, Body: task}
	switch name := strings.TrimPrefix(state, statePrefix); name {
	case "":
		return m, false, wire.NewFault(wire.Protocol, "the task has no state", nil).WithMethod("GetTask")
	case "COMPLETED":
		m.Body = line(task)
	case "FAILED", "CANCELED", "REJECTED", "INPUT_REQUIRED", "AUTH_REQUIRED":
		m.Err = &wire.Error{Code: scan.AppendQuoted(nil, state), Message: words, Data: line(task)}
		m.Err.Raw = m.Err.JSON()
	default:
		m.Event = &wire.Event{Kind: wire.Progress, Message: strings.ToLower(name), Job: scan.Get(task, "id")}
		if words != "" {
			m.Event.Message += ": " + words
		}
		return m, false, nil
	}
	return m, true, nil
}

const statePrefix = "TASK_STATE_"

// texts returns the text in a message's parts.
func texts(message json.RawMessage) string {
	var all []string
	for part := range scan.Elements(scan.Get(message, "parts")) {
		if text, ok := scan.Text(scan.Get(part, "text")); ok {
			all = append(all, text)
		}
	}
	return strings.Join(all, " ")
}
