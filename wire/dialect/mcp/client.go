package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/codec"
	"rpcx/wire/dialect/poll"
	"rpcx/wire/scan"
)

// A client calls the peer on one connection. It also starts tasks of the peer, and marks the messages of local tasks.
type client struct {
	c            *codec.Codec
	poll.Running // tasks that this connection started

	serves sync.Map // the local *task by the id of its request

	headers sync.Map    // the headers that repeat params, a []modern.Header, by tool
	listed  atomic.Bool // the tools are listed
}

// Shutdown cancels the running tasks, because their results are lost when the connection closes.
func (f *client) Shutdown(ctx context.Context, caller dialect.Caller) error {
	return f.CancelRunning(func(task json.RawMessage) error { return f.cancel(ctx, caller, task) })
}

// cancel cancels a running task if the peer supports that.
func (f *client) cancel(ctx context.Context, caller dialect.Caller, task json.RawMessage) error {
	if !f.isModern() && f.can("/capabilities/tasks/cancel", "") != nil {
		return nil
	}
	_, err := f.c.Ask(ctx, caller, taskCancel, scan.Pair("taskId", task))
	if _, ok := errors.AsType[*wire.Error](err); ok { // the task has already ended
		return nil
	}
	return err
}

// can returns a usage Fault if the peer did not declare a capability. what is the capability's JSON pointer in Conn.Kept.
// lacks describes the capability, such as "list tasks".
func (f *client) can(what, lacks string) error {
	val := scan.At(f.c.Scope().Conn.Kept, what)
	if val != nil && string(val) != "null" && string(val) != "false" {
		return nil
	}
	return wire.Usagef("the server did not declare in its handshake that it can %s", lacks)
}

// taskVersion is the first protocol version with tasks.
const taskVersion = "2025-11-25"

// asksTask are the methods whose requests a server can turn into tasks of its client.
var asksTask = []string{"sampling/createMessage", "elicitation/create"}

// acceptsTask reports whether a server's request can become a local task. The handshake declares this for the methods that
// have a hook.
func (f *client) acceptsTask(method string) bool {
	if f.c.Serving() || f.c.HandshakeByUser() || !slices.Contains(asksTask, method) {
		return false
	}
	conn := f.c.Scope().Conn
	return slices.Contains(conn.Hooks, method) && scan.String(scan.Get(conn.Kept, "protocol")) >= taskVersion
}

// Mark adds a _meta that names the local task to the params of op, if the operation belongs to a task.
func (f *client) Mark(op *dialect.Op) { f.mark(op) }

func (f *client) mark(op *dialect.Op) *task {
	if len(op.About) == 0 {
		return nil
	}
	served, _ := f.serves.Load(string(op.About))
	t, ok := served.(*task)
	if ok && (len(op.Params) == 0 || scan.Type(op.Params) == 'o') {
		op.Params = codec.Merged(op.Params, t.meta())
	}
	return t
}

// Accompany marks a call, and requests a task if op requires one. It returns nil if op neither requires a task nor
// belongs to one.
func (f *client) Accompany(op *dialect.Op) codec.Companion {
	c := &call{f: f, within: f.mark(op), task: string(op.Extra) == string(asTask)}
	if c.task && f.isModern() { // the server decides whether the call becomes a task
		c.task, op.Extra = false, nil
	}
	if c.task {
		op.Params, op.Extra = codec.Merged(op.Params, asTask), nil
	} else if c.within == nil {
		return nil
	}
	c.within.asking(1)
	return c
}

// A call may start a task, or may come from the hook of one.
type call struct {
	f      *client
	task   bool  // the request should become a task of the peer
	within *task // the local task whose hook makes the request, or nil
}

// Begins returns the id of the task that a response starts, or nil.
func (c *call) Begins(m *wire.Message) json.RawMessage {
	id := scan.Get(scan.Get(m.Body, "task"), "taskId")
	if !c.task || m.Err != nil || scan.Type(id) != 's' {
		return nil
	}
	id = bytes.Clone(id)
	c.f.SetRunning(id, true)
	return id
}

// Over records that the hook of the local task no longer waits for the call.
func (c *call) Over() { c.within.asking(-1) }

// About returns the id of the task whose status a notification reports, or nil. It removes an ended task from the
// running ones.
func (f *client) About(m *wire.Message) json.RawMessage {
	if f.c.Serving() || m.Method != taskStatus {
		return nil
	}
	id := scan.Get(m.Params, "taskId")
	if isOver(scan.String(scan.Get(m.Params, "status"))) {
		f.SetRunning(id, false)
	}
	return id
}
