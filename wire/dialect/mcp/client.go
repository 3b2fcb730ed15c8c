package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/codec"
	"rpcx/wire/scan"
)

// A client calls the peer on a connection. It starts tasks of the peer, and marks messages of local tasks.
type client struct {
	c *codec.Codec

	mu      sync.Mutex
	running map[string]bool  // tasks of this connection that may still run
	serves  map[string]*task // local tasks by the ids of their requests
	headers toolHeaders      // the headers that mirror params
}

// maxTasks bounds the stored tasks.
const maxTasks = 1024

// setTask records whether a task runs.
func (f *client) setTask(id json.RawMessage, runs bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	name := scan.String(id)
	switch {
	case !runs:
		delete(f.running, name)
	case len(f.running) < maxTasks:
		wire.Put(&f.running, name, true)
	}
}

// RunningJobs returns the names of this connection's tasks that may still run.
func (f *client) RunningJobs() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.running))
}

// Shutdown cancels the running tasks, because their results are lost with the connection.
func (f *client) Shutdown(ctx context.Context, caller dialect.Caller) error {
	for _, name := range f.RunningJobs() {
		if err := f.cancel(ctx, caller, scan.AppendQuoted(nil, name)); err != nil {
			return err
		}
	}
	return nil
}

// cancel cancels a running task if the peer supports cancellation.
func (f *client) cancel(ctx context.Context, caller dialect.Caller, task json.RawMessage) error {
	if !f.isModern() && f.can("capabilities.tasks.cancel", "") != nil {
		return nil
	}
	_, err := f.c.Ask(ctx, caller, taskCancel, scan.Pair("taskId", task))
	if _, ok := errors.AsType[*wire.Error](err); ok { // the task has ended in the meantime
		return nil
	}
	return err
}

// can returns a usage Fault if the peer has not declared a capability.
func (f *client) can(what, lacks string) error {
	val := f.c.Scope().Conn.Kept
	for name := range strings.SplitSeq(what, ".") {
		val = scan.Get(val, name)
	}
	if val != nil && string(val) != "null" && string(val) != "false" {
		return nil
	}
	return wire.Usagef("the server did not declare in its handshake that it can %s", lacks)
}

// taskVersion is the first protocol version with tasks.
const taskVersion = "2025-11-25"

// asksTask are the methods whose requests a server can make tasks of its client.
var asksTask = []string{"sampling/createMessage", "elicitation/create"}

// takesTask reports whether a server's request can become a local task. The handshake declares this for methods with a hook.
func (f *client) takesTask(method string) bool {
	if f == nil || f.c.Serving() || f.c.HandshakeByUser() || !slices.Contains(asksTask, method) {
		return false
	}
	conn := f.c.Scope().Conn
	return slices.Contains(conn.Hooks, method) && scan.String(scan.Get(conn.Kept, "protocol")) >= taskVersion
}

// serve records that messages for the request id belong to task t, or with nil to none.
func (f *client) serve(id wire.ID, t *task) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.serves == nil {
		f.serves = map[string]*task{}
	}
	if f.serves[string(id)] = t; t == nil {
		delete(f.serves, string(id))
	}
}

// Mark adds the local task of op, if any, to its params.
func (f *client) Mark(op *dialect.Op) { f.mark(op) }

func (f *client) mark(op *dialect.Op) *task {
	if len(op.About) == 0 {
		return nil
	}
	f.mu.Lock()
	t := f.serves[string(op.About)]
	f.mu.Unlock()
	if t != nil && (len(op.Params) == 0 || scan.Type(op.Params) == 'o') {
		op.Params = codec.Merged(op.Params, t.meta())
	}
	return t
}

// Accompany marks a call, and requests a task if op requires one.
func (f *client) Accompany(op *dialect.Op) codec.Companion {
	c := &call{f: f, within: f.mark(op), task: string(op.Extra) == string(asTask)}
	if c.task && f.isModern() { // the server decides
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

// A call may start a task, or may be from the hook of one.
type call struct {
	f      *client
	task   bool  // whether the request should become a task of the peer
	within *task // the local task whose hook makes the request, or nil
}

// Begins returns the task in a response.
func (c *call) Begins(m *wire.Message) json.RawMessage {
	id := scan.Get(scan.Get(m.Body, "task"), "taskId")
	if !c.task || m.Err != nil || scan.Type(id) != 's' {
		return nil
	}
	id = bytes.Clone(id)
	c.f.setTask(id, true)
	return id
}

// Over notifies the local task that its hook no longer waits for the call.
func (c *call) Over() { c.within.asking(-1) }

// About returns the task whose status is in a notification.
func (f *client) About(m *wire.Message) json.RawMessage {
	if f.c.Serving() || m.Method != taskStatus {
		return nil
	}
	id := scan.Get(m.Params, "taskId")
	if isOver(scan.String(scan.Get(m.Params, "status"))) {
		f.setTask(id, false)
	}
	return id
}
