package modern

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// Times and limits of tasks.
const (
	taskGrace    = 100 * time.Millisecond // how long a call may run before it becomes a task
	taskKept     = time.Hour              // how long a task is stored after its end, and the ttl that clients receive
	pollInterval = time.Second            // the suggested interval for clients
	maxTasks     = 1024                   // running tasks of all clients
)

const taskChanged = "notifications/tasks"

// A task is a run that continues after the response to its request.
type task struct {
	begun   time.Time
	changed time.Time
	words   string // the latest progress message
}

// isTask reports whether a call may become a task. It returns an error if the tool requires tasks and the client does not support
// them.
func (c *Conn) isTask(m *wire.Message) (bool, error) {
	if m.Method != callTool {
		return false, nil
	}
	name, _ := scan.Text(scan.Get(m.Params, "name"))
	tool := c.conn.Backend.Catalog().Method(name)
	if tool == nil || tool.Kind != catalog.Job {
		return false, nil
	}
	if knowsTasks(m.Params) {
		return true, nil
	}
	if support, _ := scan.Text(scan.Get(scan.Get(tool.Extra, "execution"), "taskSupport")); support == "required" {
		return false, lacksTasks()
	}
	return false, nil
}

// knowsTasks reports whether the client declared the extension for tasks.
func knowsTasks(params json.RawMessage) bool {
	return scan.Type(scan.Get(scan.Get(meta(params, MetaCapabilities), "extensions"), Tasks)) == 'o'
}

func lacksTasks() *wire.Error {
	return lacks(scan.Pair("extensions", scan.Pair(Tasks, []byte("{}"))))
}

// aboutTask answers a request about a task.
func (c *Conn) aboutTask(m *wire.Message) (json.RawMessage, error) {
	if !knowsTasks(m.Params) {
		return nil, lacksTasks()
	}
	id, _ := scan.Text(scan.Get(m.Params, "taskId"))
	r := c.s.runs.find(id)
	if r == nil || r.c.identity != c.identity || !r.isTask() {
		return nil, wire.NewError(wire.CodeInvalidParams, "there is no task "+strconv.Quote(id))
	}
	switch m.Method {
	case taskGet:
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.detailLocked(), nil
	case taskUpdate:
		if scan.Type(scan.Get(m.Params, "inputResponses")) != 'o' {
			return nil, wire.NewError(wire.CodeInvalidParams, taskUpdate+" needs the object inputResponses")
		}
		if err := r.take(scan.Get(m.Params, "inputResponses")); err != nil {
			return nil, err
		}
	case taskCancel:
		r.stop(errCancelled)
	}
	return json.RawMessage("{}"), nil
}

var errCancelled = wire.NewError(wire.CodeServer, "the task was cancelled")

func (r *run) isTask() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.task != nil
}

// becomeTaskLocked turns the run into a task and answers the request with its name. The caller holds the lock.
func (r *run) becomeTaskLocked(req *request) (json.RawMessage, error) {
	if !r.c.s.runs.count(&r.c.s.runs.tasks, maxTasks) {
		r.cancel()
		return nil, tooMany("tasks")
	}
	r.detachLocked(req)
	r.task = &task{begun: time.Now(), changed: time.Now()}
	var o scan.Object
	o.Text("resultType", taskResult)
	r.statusLocked(&o)
	return o.End(), r.askTaskLocked()
}

// askTaskLocked pauses a task that has questions. The caller holds the lock.
func (r *run) askTaskLocked() error {
	if r.task == nil || len(r.questions) == 0 {
		return nil
	}
	r.taskChangedLocked()
	if r.waiting != nil {
		return nil
	}
	return r.waitLocked()
}

// statusLocked adds the status of a task to o. The caller holds the lock.
func (r *run) statusLocked(o *scan.Object) {
	status := "working"
	switch {
	case r.over && r.why == errCancelled:
		status = "cancelled"
	case r.over && r.failureLocked() != nil:
		status = "failed"
	case r.over:
		status = "completed"
	case len(r.questions) > 0:
		status = "input_required"
	}
	o.Text("taskId", r.id)
	o.Text("status", status)
	o.SomeText("statusMessage", r.task.words)
	o.Text("createdAt", r.task.begun.UTC().Format(time.RFC3339))
	o.Text("lastUpdatedAt", r.task.changed.UTC().Format(time.RFC3339))
	o.Int("ttlMs", taskKept.Milliseconds())
	o.Int("pollIntervalMs", pollInterval.Milliseconds())
}

// failureLocked returns the error that ended the task, or nil. A failed hook ends it with an error; an error that a tool reports is a
// result. The caller holds the lock.
func (r *run) failureLocked() json.RawMessage {
	if _, err := r.resultLocked(); err != nil {
		return wire.AsError(err).JSON()
	}
	stored := scan.Get(scan.Get(r.result, "_meta"), "rpcx/error")
	if string(scan.Get(stored, "code")) == strconv.Itoa(wire.CodeInternal) {
		return stored
	}
	return nil
}

// detailLocked returns the task with its questions, its result or its error. The caller holds the lock.
func (r *run) detailLocked() json.RawMessage {
	var o scan.Object
	r.statusLocked(&o)
	switch {
	case r.over && r.why == errCancelled:
	case r.over && r.failureLocked() != nil:
		o.Add("error", r.failureLocked())
	case r.over:
		o.Add("result", scan.OrNull(r.result))
	case len(r.questions) > 0:
		o.Add("inputRequests", r.questionsLocked())
	}
	return o.End()
}

// taskChangedLocked notifies the listeners of a task that it has changed. The caller holds the lock.
func (r *run) taskChangedLocked() {
	if r.task != nil {
		r.task.changed = time.Now()
		r.c.s.listeners.notify(taskChanged, r.detailLocked())
	}
}

// progressLocked stores the message in a progress notification of the task. The caller holds the lock.
func (r *run) progressLocked(op *dialect.Op) {
	if words, ok := scan.Text(scan.Get(op.Params, "message")); ok && r.task != nil && op.Method == progress {
		r.task.words, r.task.changed = words, time.Now()
	}
}

// listenForTasks adds to l those of the wanted tasks that belong to the client.
func (l *listener) listenForTasks(ctx context.Context, wanted, params json.RawMessage, c *Conn) ([]string, error) {
	if wanted == nil {
		return nil, nil
	}
	if !knowsTasks(params) {
		return nil, lacksTasks()
	}
	for id := range scan.Elements(wanted) {
		text, _ := scan.Text(id)
		if r := c.s.runs.find(text); r != nil && r.c.identity == c.identity && r.isTask() && len(l.tasks) < maxWatched && !slices.Contains(l.tasks, text) {
			l.tasks = append(l.tasks, text)
		}
	}
	return l.tasks, ctx.Err()
}
