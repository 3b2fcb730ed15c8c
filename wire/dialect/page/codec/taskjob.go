package codec

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// Job carries out one of the Job operations by the tasks of the page's protocol.
func (c *Codec) Job(ctx context.Context, caller dialect.Caller, op dialect.Op) (dialect.Stream, error) {
	if !c.d.HasTasks() {
		return nil, wire.Usagef("%s has no jobs", c.d.Page.Name)
	}
	job := scan.AppendQuoted(nil, op.Job)
	switch op.Kind {
	case dialect.JobRun, dialect.JobStart:
		if err := c.takesTask(ctx, caller, op.Method); err != nil {
			return nil, err
		}
		start := dialect.Op{Kind: dialect.Call, Method: op.Method, Params: op.Params, Extra: AsTask, Nested: op.Nested, About: op.About}
		st, err := caller.Open(ctx, start)
		if err != nil {
			return nil, err
		}
		return &taskStream{c: c, caller: caller, op: op, st: st, ours: op.Kind == dialect.JobRun}, nil
	case dialect.JobWait:
		st, err := caller.Open(ctx, dialect.Op{Kind: dialect.Watch, Method: taskStatus})
		if err != nil {
			return nil, err
		}
		return &taskStream{c: c, caller: caller, op: op, st: st, task: job}, nil
	case dialect.JobStatus:
		return c.aboutTask(ctx, caller, taskGet, job)
	case dialect.JobCancel:
		if err := c.can("capabilities.tasks.cancel", "cancels no tasks"); err != nil {
			return nil, err
		}
		return c.aboutTask(ctx, caller, taskCancel, job)
	case dialect.JobList:
		if err := c.can("capabilities.tasks.list", "lists no tasks"); err != nil {
			return nil, err
		}
		return c.listTasks(ctx, caller)
	}
	return nil, wire.ErrUnsupported
}

// can returns a usage Fault if the peer has not declared a capability.
func (c *Codec) can(what, lacks string) error {
	val := c.kept()
	for name := range strings.SplitSeq(what, ".") {
		val = scan.Get(val, name)
	}
	if val != nil && string(val) != "null" && string(val) != "false" {
		return nil
	}
	return wire.Usagef("the server %s: it has not declared that in its greeting", lacks)
}

// takesTask returns a usage Fault for a tool that the server does not run as a task, as
// its list of tools has it. A tool that is not in the list is the server's to refuse.
func (c *Codec) takesTask(ctx context.Context, caller dialect.Caller, method string) error {
	if err := c.can("capabilities.tasks.requests.tools.call", "runs no tools as tasks"); err != nil {
		wire.AsFault(err).Hint = "rpcx call waits for the result of a tool that is no task"
		return err
	}
	if c.d.Plain(method) {
		return wire.Usagef("%s is no tool, and only tools are tasks", method)
	}
	cat := c.described.Load()
	if cat == nil || cat.Method(method) == nil {
		said, err := c.describe(ctx, caller, method)
		var rpc *wire.Error
		if errors.As(err, &rpc) {
			return nil
		}
		if err != nil {
			return err
		}
		cat = said
	}
	if m := cat.Method(method); m != nil && m.Kind != catalog.Job {
		f := wire.Usagef("%s is no job: the server does not run this tool as a task", method)
		f.Hint = "rpcx call waits for its result"
		return f
	}
	return nil
}

// aboutTask makes a call that names a task, whose answer says how it stands.
func (c *Codec) aboutTask(ctx context.Context, caller dialect.Caller, method string, job json.RawMessage) (dialect.Stream, error) {
	said, err := c.ask(ctx, caller, method, scan.Pair("taskId", job))
	if err != nil {
		return nil, taskFault(method, err)
	}
	if isOver(scan.String(scan.Get(said, "status"))) {
		c.setTask(job, false)
	}
	return &taskStream{ready: []wire.Message{dataOf(taskLine(said), true)}, over: true}, nil
}

// listTasks asks for the list of tasks, page by page.
func (c *Codec) listTasks(ctx context.Context, caller dialect.Caller) (dialect.Stream, error) {
	t := &taskStream{over: true}
	var params, last json.RawMessage
	for range maxPages {
		said, err := c.ask(ctx, caller, taskList, params)
		if err != nil {
			return nil, taskFault(taskList, err)
		}
		for task := range scan.Elements(scan.Get(said, "tasks")) {
			t.ready = append(t.ready, dataOf(taskLine(task), false))
		}
		cursor := scan.Get(said, "nextCursor")
		switch {
		case cursor == nil || string(cursor) == "null":
			if n := len(t.ready); n > 0 {
				t.ready[n-1].Final, t.ready[n-1].Event.Final = true, true
			}
			return t, nil
		case string(cursor) == string(last):
			return nil, protocolFault(taskList, "the list goes on with the page that it has just given")
		}
		last, params = cursor, scan.Pair("cursor", cursor)
	}
	return nil, protocolFault(taskList, "the list has more than "+strconv.Itoa(maxPages)+" pages")
}

// taskFault returns the error of a call about tasks as what the command has failed with.
func taskFault(method string, err error) error {
	var rpc *wire.Error
	if !errors.As(err, &rpc) {
		return err
	}
	f := &wire.Fault{Kind: wire.RPCError, Method: method, RPC: rpc, Message: rpc.Error()}
	if method != taskList {
		f.Hint = "those that are known: rpcx job list"
	}
	return f
}

// dataOf returns a message that is shown as data.
func dataOf(data json.RawMessage, final bool) wire.Message {
	return wire.Message{
		Kind: wire.Item, Final: final, Raw: data, Body: data,
		Event: &wire.Event{Kind: wire.Data, Final: final, Data: data},
	}
}

// taskLine returns what the server says of a task as one object, with its name as "job",
// as users see it.
func taskLine(task json.RawMessage) json.RawMessage {
	var o scan.Object
	o.Compact("job", scan.Get(task, "taskId"))
	o.Compact("status", scan.Get(task, "status"))
	for name, val := range scan.Named(task) {
		if name != "taskId" && name != "status" && name != "_meta" {
			o.Compact(name, val)
		}
	}
	return o.End()
}
