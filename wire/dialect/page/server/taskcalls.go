package server

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// asTask answers a question of the server as a task, if the server asks for that and we have
// declared it; else false.
func (h *handler) asTask(ctx context.Context, in *dialect.Inbound) (bool, error) {
	wanted := scan.Get(in.Msg.Params, "task")
	if h.codec == nil || scan.Type(wanted) != 'o' || !h.codec.TakesTask(in.Msg.Method) {
		return false, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t, err := h.begin(in, wanted, cancel)
	if err != nil {
		return true, err
	}
	in.Answered = true
	params := scan.Without(in.Msg.Params, "task")
	result, err := h.respondAs(ctx, &in.Msg, dialect.Request{Method: in.Msg.Method, Params: params, ID: in.Msg.ID, Vars: h.vars(&in.Msg)}, t)
	t.end(result, err)
	h.tellStatus(ctx, &in.Msg, t)
	return true, nil
}

// tellStatus tells the other end that a task, which m has begun, is over.
func (h *handler) tellStatus(ctx context.Context, m *wire.Message, t *task) {
	if h.codec != nil {
		h.codec.Relate(m.ID, nil)
	}
	_ = h.caller.Notify(context.WithoutCancel(ctx), dialect.Op{Kind: dialect.Notify, Method: taskStatus, Params: t.line()})
}

// aboutTasks answers a call about the tasks of this connection; mine is false for any
// other call.
func (h *handler) aboutTasks(ctx context.Context, m *wire.Message) (result json.RawMessage, mine bool, err error) {
	if !h.hasTasks() {
		return nil, false, nil
	}
	switch m.Method {
	case "tasks/list":
		return h.tasks.lines(m.Params)
	case "tasks/get", "tasks/result", "tasks/cancel":
	default:
		return nil, false, nil
	}
	t, err := h.tasks.find(m.Params)
	if err != nil {
		return nil, true, err
	}
	switch m.Method {
	case "tasks/result":
		result, err = t.wait(ctx)
		return result, true, err
	case "tasks/cancel":
		if err := t.stop(); err != nil {
			return nil, true, err
		}
	}
	return t.line(), true, nil
}

// hasTasks reports whether there can be tasks on this connection whose work is ours.
func (h *handler) hasTasks() bool {
	if h.serving {
		return h.d.HasTasks() && h.hasJobs()
	}
	return h.codec != nil && h.codec.TakesTasks()
}

// wait returns the result of a task once it is over.
func (t *task) wait(ctx context.Context) (json.RawMessage, error) {
	select {
	case <-t.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if t.err != nil {
		return nil, t.err
	}
	return t.related(t.result), nil
}

// related returns an object that says in its _meta which task it belongs to.
func (t *task) related(obj json.RawMessage) json.RawMessage {
	if t == nil || scan.Type(obj) != 'o' {
		return obj
	}
	var meta, o scan.Object
	meta.Members(scan.Get(obj, "_meta"))
	meta.Members(t.meta())
	for name, val := range scan.Named(obj) {
		if name != "_meta" {
			o.Add(name, val)
		}
	}
	o.Add("_meta", meta.End())
	return o.End()
}

// meta is what the _meta of all that belongs to the task says.
func (t *task) meta() json.RawMessage {
	return scan.Pair("io.modelcontextprotocol/related-task", scan.Pair("taskId", scan.AppendQuoted(nil, t.id)))
}

// listPage is how many tasks one answer lists.
const listPage = 100

// lines returns a page of the list of tasks; its cursor is the id of the last task of the page
// before.
func (a *tasks) lines(params json.RawMessage) (json.RawMessage, bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.expireLocked()
	from := 0
	if after, ok := scan.Text(scan.Get(params, "cursor")); ok {
		i := slices.IndexFunc(a.list, func(t *task) bool { return t.id == after })
		if i < 0 {
			return nil, true, wire.Errorf(wire.CodeInvalidParams, "there is no page %s", strconv.Quote(after))
		}
		from = i + 1
	}
	var list scan.Array
	for i, t := range a.list[from:] {
		if i == listPage {
			var o scan.Object
			o.Add("tasks", list.End())
			o.Text("nextCursor", a.list[from+i-1].id)
			return o.End(), true, nil
		}
		list.Add(t.lineLocked())
	}
	return scan.Pair("tasks", list.End()), true, nil
}
