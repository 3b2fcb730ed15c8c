package codec

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// A task of the Model Context Protocol is a call of a tool whose answer only names
// the task. How it stands is polled, and its result asked for, by that name. This is
// the flow "mcp" of a page; the commands of rpcx job are in taskjob.go.

// The methods of tasks.
const (
	taskGet    = "tasks/get"
	taskResult = "tasks/result"
	taskCancel = "tasks/cancel"
	taskList   = "tasks/list"
	taskStatus = "notifications/tasks/status"
)

// AsTask is the Extra of a Call that is to become a task.
var AsTask = json.RawMessage(`{"task":{}}`)

// tasks are those that were started on this connection and are not known to be over.
type tasks map[string]bool

// maxTasks bounds the tasks that are remembered in order to be cancelled.
const maxTasks = 1024

// HasTasks reports whether the page's calls can be tasks.
func (d *Dialect) HasTasks() bool { return d.Page.Flow == "mcp" }

// accepted notes the task that the answer to a call has begun. The call is kept, so that
// its progress and the task's status are still told to who waits for it. It returns false
// where the answer names no task: then it is the result.
func (c *Codec) accepted(m *wire.Message, s *call) bool {
	id := scan.Get(scan.Get(m.Body, "task"), "taskId")
	if !s.task || m.Err != nil || scan.Type(id) != 's' {
		return false
	}
	s.result, s.stream = bytes.Clone(id), s.id
	c.setTask(s.result, true)
	return true
}

// setTask notes that a task runs, or that it is over.
func (c *Codec) setTask(id json.RawMessage, runs bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := scan.String(id)
	switch {
	case !runs:
		delete(c.tasks, name)
	case len(c.tasks) < maxTasks:
		if c.tasks == nil {
			c.tasks = tasks{}
		}
		c.tasks[name] = true
	}
}

// RunningJobs returns the names of the tasks that were started on this connection and
// are not known to be over.
func (c *Codec) RunningJobs() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.tasks))
}

// cancelTasks cancels the tasks that still run, since nobody could ask for their results
// once the connection has ended.
func (c *Codec) cancelTasks(ctx context.Context, caller dialect.Caller) error {
	for _, name := range c.RunningJobs() {
		if c.can("capabilities.tasks.cancel", "") != nil {
			return nil
		}
		_, err := c.ask(ctx, caller, taskCancel, scan.Pair("taskId", scan.AppendQuoted(nil, name)))
		var rpc *wire.Error
		if err != nil && !errors.As(err, &rpc) { // else it is over by now
			return err
		}
	}
	return nil
}

// taskVersion is the first version of the protocol that has tasks.
const taskVersion = "2025-11-25"

// asksTask are the methods of a server whose requests can become tasks of its client.
var asksTask = []string{"sampling/createMessage", "elicitation/create"}

// TakesTask reports whether a request of the server's can become a task of ours: in the
// greeting we have said so of the methods that a hook answers.
func (c *Codec) TakesTask(method string) bool {
	if !c.d.HasTasks() || c.o.Serving || c.own.step.Load() != nil || !slices.Contains(asksTask, method) {
		return false
	}
	sc := c.Scope()
	return slices.Contains(sc.Conn.Hooks, method) && scan.String(scan.Get(sc.Conn.Kept, "protocol")) >= taskVersion
}

// TakesTasks reports whether any request of the server's can become a task of ours.
func (c *Codec) TakesTasks() bool { return slices.ContainsFunc(asksTask, c.TakesTask) }

// A Related is a task of ours to which what its hook says belongs.
type Related struct {
	Meta   json.RawMessage // the object that a message's _meta gets
	Asking func(more int)  // called with 1 when the hook asks the client, and with -1 when that is over
}

// Relate has what is said in answering the request id belong to a task; nil ends that.
func (c *Codec) Relate(id wire.ID, to *Related) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.related == nil {
		c.related = map[string]*Related{}
	}
	if c.related[string(id)] = to; to == nil {
		delete(c.related, string(id))
	}
}

// relatedTo returns the task of ours to which belongs what is said about a request; nil if it
// belongs to none.
func (c *Codec) relatedTo(about wire.ID) *Related {
	if len(about) == 0 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.related[string(about)]
}

// mark adds to the params of op which task it belongs to.
func (to *Related) mark(op *dialect.Op) {
	if to != nil && (len(op.Params) == 0 || scan.Type(op.Params) == 'o') {
		op.Params = merged(op.Params, scan.Pair("_meta", to.Meta))
	}
}

// taskStatusCame tells the calls that began the task how it stands.
func (c *Codec) taskStatusCame(m *wire.Message) {
	if !c.d.HasTasks() || c.o.Serving || m.Method != taskStatus {
		return
	}
	id := scan.Get(m.Params, "taskId")
	if isOver(scan.String(scan.Get(m.Params, "status"))) {
		c.setTask(id, false)
	}
	for _, s := range c.calls {
		if s.task && s.result != nil && scan.Equal(s.result, id) {
			c.out = append(c.out, wire.Message{Kind: wire.Item, Beside: true, ID: s.id, Method: taskStatus, Raw: m.Raw, Body: m.Params})
		}
	}
}

// isOver reports whether a task with that status is over.
func isOver(status string) bool {
	return status == "completed" || status == "failed" || status == "cancelled"
}

// A taskAnswer is the answer to the call for a result.
type taskAnswer struct {
	came chan struct{} // closed when there is one
	m    wire.Message
	err  error
	stop context.CancelFunc // gives it up
}

// is reports whether the answer has come. There may be no call, a nil one.
func (a *taskAnswer) is() bool {
	if a == nil {
		return false
	}
	select {
	case <-a.came:
		return true
	default:
		return false
	}
}

// unwrap makes of the result what a call of the tool would have been answered with. A task
// that has failed or was cancelled has no result, whatever the server gives.
func (t *taskStream) unwrap(m *wire.Message) error {
	s := &call{method: t.op.Method, params: t.op.Params}
	if rule := t.c.d.Page.Call; rule != nil {
		s.unwrap = unwrapping{rule.Result, rule.Error}
	}
	if err := t.c.unwrapped(m, s); err != nil || m.Err != nil {
		return err
	}
	if t.status == "failed" || t.status == "cancelled" {
		words := t.words
		if words == "" {
			words = "the task was " + t.status
			if t.status == "failed" {
				words = "the task has failed"
			}
		}
		m.Err, m.Body = wire.NewError(wire.CodeServer, words).WithData(m.Body), nil
	}
	return nil
}
