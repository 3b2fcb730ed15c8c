package mcp

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/codec"
	"rpcx/wire/scan"
)

// pollInterval is the suggested poll interval in milliseconds. Clients also receive a notification when a task ends.
const pollInterval = 1000

// A task is a request of the peer whose response only named the task.
type task struct {
	all     *tasks
	request wire.ID
	id      string
	begun   time.Time
	ttl     time.Duration // how long the task is stored, from its start; 0 for no limit
	cancel  context.CancelFunc
	done    chan struct{} // closed when the task ends

	// all.mu guards these fields.
	status  string
	words   string // the latest progress message
	changed time.Time
	result  json.RawMessage
	err     error
	asks    int // the number of unanswered requests that the hook has sent to the peer
}

// newTask returns a running task. wanted contains what the peer requested, such as a ttl.
func newTask(all *tasks, request wire.ID, wanted json.RawMessage, cancel context.CancelFunc) *task {
	now := time.Now()
	t := &task{all: all, request: request, id: wire.RandomHex(16), begun: now, changed: now, status: "working", cancel: cancel, done: make(chan struct{})}
	if ms, err := strconv.ParseFloat(string(scan.Get(wanted, "ttl")), 64); err == nil && ms > 0 && ms < float64(time.Duration(1<<63-1)/time.Millisecond) {
		t.ttl = time.Duration(ms) * time.Millisecond
	}
	return t
}

// isOver reports whether the task has ended. The caller holds the lock.
func (t *task) isOver() bool { return isOver(t.status) }

// isExpired reports whether the task has ended and its ttl has passed. The caller holds the lock.
func (t *task) isExpired() bool { return t.ttl > 0 && t.isOver() && time.Since(t.begun) > t.ttl }

// line returns the description of a task for the peer.
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

// Emitted stores a progress message of the hook.
func (t *task) Emitted(ev wire.Event) {
	if ev.Kind != wire.Progress || ev.Message == "" {
		return
	}
	t.all.mu.Lock()
	defer t.all.mu.Unlock()
	if !t.isOver() {
		t.words, t.changed = ev.Message, time.Now()
	}
}

// End stores the result of a task, unless the task was cancelled, and notifies the peer.
func (t *task) End(ctx context.Context, result json.RawMessage, err error) {
	t.end(result, err)
	t.cancel()
	t.all.client.serves.Delete(string(t.request))
	_ = t.all.conn.Caller.Notify(context.WithoutCancel(ctx), dialect.Op{Kind: dialect.Notify, Method: taskStatus, Params: t.line()})
}

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

// asking adds more (1 or -1) to the number of unanswered requests from the hook.
func (t *task) asking(more int) {
	if t == nil {
		return
	}
	t.all.mu.Lock()
	defer t.all.mu.Unlock()
	if t.asks += more; t.isOver() {
		return
	}
	if t.status, t.changed = "working", time.Now(); t.asks > 0 {
		t.status = "input_required"
	}
}

// stop cancels a running task.
func (t *task) stop() error {
	t.all.mu.Lock()
	defer t.all.mu.Unlock()
	if t.isOver() {
		return wire.Errorf(wire.CodeInvalidParams, "the task has already ended: %s", t.status)
	}
	t.status, t.words, t.changed = "cancelled", "the task was cancelled", time.Now()
	t.err = wire.NewError(wire.CodeServer, t.words)
	close(t.done)
	t.cancel()
	return nil
}

// wait waits until the task ends and returns its result.
func (t *task) wait(ctx context.Context) (json.RawMessage, error) {
	select {
	case <-t.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if t.err != nil {
		return nil, t.err
	}
	return t.Mark(t.result), nil
}

// Mark returns obj with a _meta that names the task.
func (t *task) Mark(obj json.RawMessage) json.RawMessage {
	if scan.Type(obj) != 'o' {
		return obj
	}
	meta := t.meta()
	if has := scan.Get(obj, "_meta"); has != nil {
		meta = codec.Merged(scan.Pair("_meta", has), meta)
	}
	return codec.Merged(scan.Without(obj, "_meta"), meta)
}

// meta returns the _meta that all messages of the task contain.
func (t *task) meta() json.RawMessage {
	return scan.Pair("_meta", scan.Pair("io.modelcontextprotocol/related-task", scan.Pair("taskId", scan.AppendQuoted(nil, t.id))))
}
