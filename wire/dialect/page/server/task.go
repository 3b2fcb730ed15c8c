package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/codec"
	"rpcx/wire/scan"
)

// The tasks of the Model Context Protocol whose work is done here: as a server, the call of a tool
// whose method is a job can become a task; as a client, a question that a hook answers can. The
// call is answered at once, and the result is kept until it is asked for, as long as the connection
// lasts or the ttl that the other end has asked for.

// maxTasks bounds the tasks of a connection that are remembered: the one that ended first is
// forgotten first. Running tasks are bounded as requests in flight.
const maxTasks = 1024

// pollInterval is the interval, in milliseconds, that we suggest to clients that poll. They are
// also notified when a task is over.
const pollInterval = 1000

const taskStatus = "notifications/tasks/status"

// tasks are those of one connection, the oldest first.
type tasks struct {
	mu   sync.Mutex
	list []*task
}

// A task is a call that was answered with the task's name.
type task struct {
	all    *tasks
	id     string
	begun  time.Time
	ttl    time.Duration // how long it is kept from its beginning; 0: without a limit
	cancel context.CancelFunc
	done   chan struct{} // closed when it is over

	// guarded by all.mu:
	status  string
	words   string // the latest message about its progress
	changed time.Time
	result  json.RawMessage
	err     error
	asks    int // questions of its hook that the other end has not answered
}

// isTask begins a task if the params of a call ask for one and the method is a job. It returns nil
// for a plain call.
func (h *handler) isTask(in *dialect.Inbound, name string, cancel context.CancelFunc) (*task, error) {
	wanted := scan.Get(in.Msg.Params, "task")
	if !h.serving || h.oneShot || !h.d.HasTasks() || scan.Type(wanted) != 'o' || !h.hasJobs() {
		return nil, nil
	}
	if kind, _ := h.r.Kind(name); kind != catalog.Job {
		e := wire.NewError(wire.CodeNoMethod, name+" is not run as a task")
		e.Raw = e.JSON() // Raw marks that the method exists: a hook answered, none is missing
		return nil, e
	}
	return h.begin(in, wanted, cancel)
}

// begin starts a task and returns the answer with its name. The wishes of the other end, such as
// the ttl, are in the request's member task.
func (h *handler) begin(in *dialect.Inbound, wanted json.RawMessage, cancel context.CancelFunc) (*task, error) {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	now := time.Now()
	t := &task{all: &h.tasks, id: hex.EncodeToString(b[:]), begun: now, changed: now, status: "working", cancel: cancel, done: make(chan struct{})}
	if ms, err := strconv.ParseFloat(string(scan.Get(wanted, "ttl")), 64); err == nil && ms > 0 && ms < float64(time.Duration(1<<63-1)/time.Millisecond) {
		t.ttl = time.Duration(ms) * time.Millisecond
	}
	h.tasks.add(t)
	if h.codec != nil {
		h.codec.Relate(in.Msg.ID, &codec.Related{Meta: t.meta(), Asking: t.asking})
	}
	return t, in.Emit(wire.Event{Kind: wire.Data, Final: true, Data: scan.Pair("task", t.line())})
}

// hasJobs reports whether a method that we offer is a job: only then is the client told that calls
// can become tasks.
func (h *handler) hasJobs() bool {
	c := h.b.Catalog()
	return c != nil && slices.ContainsFunc(c.Methods, func(m catalog.Method) bool { return m.Kind == catalog.Job })
}

// add remembers a task.
func (a *tasks) add(t *task) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.expireLocked()
	if len(a.list) >= maxTasks {
		if i := slices.IndexFunc(a.list, (*task).isOver); i >= 0 {
			a.list = slices.Delete(a.list, i, i+1)
		}
	}
	a.list = append(a.list, t)
}

// expireLocked forgets the tasks that are over and whose ttl has passed.
func (a *tasks) expireLocked() {
	a.list = slices.DeleteFunc(a.list, func(t *task) bool {
		return t.ttl > 0 && t.isOver() && time.Since(t.begun) > t.ttl
	})
}

// isOver reports whether the task is over. The lock is held.
func (t *task) isOver() bool { return t.status != "working" && t.status != "input_required" }

// find returns the task that params name.
func (a *tasks) find(params json.RawMessage) (*task, error) {
	id, _ := scan.Text(scan.Get(params, "taskId"))
	a.mu.Lock()
	defer a.mu.Unlock()
	a.expireLocked()
	for _, t := range a.list {
		if t.id == id {
			return t, nil
		}
	}
	return nil, wire.Errorf(wire.CodeInvalidParams, "there is no task %s", strconv.Quote(id))
}

// line returns the description of a task for the other end.
func (t *task) line() json.RawMessage {
	t.all.mu.Lock()
	defer t.all.mu.Unlock()
	return t.lineLocked()
}

func (t *task) lineLocked() json.RawMessage {
	var o scan.Object
	o.Text("taskId", t.id)
	o.Text("status", t.status)
	o.SomeText("statusMessage", t.words)
	o.Text("createdAt", t.begun.UTC().Format(time.RFC3339))
	o.Text("lastUpdatedAt", t.changed.UTC().Format(time.RFC3339))
	if t.ttl > 0 {
		o.Int("ttl", t.ttl.Milliseconds())
	} else {
		o.Add("ttl", []byte("null"))
	}
	o.Int("pollInterval", pollInterval)
	return o.End()
}

// says stores a progress message of the hook.
func (t *task) says(ev wire.Event) {
	if t == nil || ev.Kind != wire.Progress || ev.Message == "" {
		return
	}
	t.all.mu.Lock()
	defer t.all.mu.Unlock()
	if !t.isOver() {
		t.words, t.changed = ev.Message, time.Now()
	}
}

// end stores the result of a task, unless it was cancelled before.
func (t *task) end(result json.RawMessage, err error) {
	t.all.mu.Lock()
	defer t.all.mu.Unlock()
	if t.isOver() {
		return
	}
	t.status, t.changed, t.result, t.err = "completed", time.Now(), result, err
	if err != nil || string(scan.Get(result, "isError")) == "true" {
		t.status = "failed"
	}
	if err != nil {
		t.words = wire.AsError(err).Message
	}
	close(t.done)
}

// asking counts the questions of the hook to the other end that are not answered: n is 1 or -1.
func (t *task) asking(more int) {
	t.all.mu.Lock()
	defer t.all.mu.Unlock()
	t.asks += more
	t.changed = time.Now()
	switch {
	case t.isOver():
	case t.asks > 0:
		t.status = "input_required"
	default:
		t.status = "working"
	}
}

// stop cancels a task that is not over.
func (t *task) stop() error {
	t.all.mu.Lock()
	defer t.all.mu.Unlock()
	if t.isOver() {
		return wire.Errorf(wire.CodeInvalidParams, "the task is over: %s", t.status)
	}
	t.status, t.words, t.changed = "cancelled", "the task was cancelled", time.Now()
	t.err = wire.NewError(wire.CodeServer, t.words)
	close(t.done)
	t.cancel()
	return nil
}
