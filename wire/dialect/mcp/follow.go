package mcp

import (
	"cmp"
	"context"
	"encoding/json"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/poll"
	"rpcx/wire/scan"
)

// A following is a stream that follows a task until it ends.
type following struct {
	poll.Task
	client *client
	caller dialect.Caller
	op     dialect.Op
	task   json.RawMessage // the task's id
	status string          // the latest status
	words  string          // the latest statusMessage

	answered map[string]bool // the task's requests that hooks have answered
}

// following returns a stream for a task. It does not follow the task yet.
func (f *client) following(caller dialect.Caller, op dialect.Op, task json.RawMessage) *following {
	t := &following{client: f, caller: caller, op: op, task: task}
	t.Status = func(ctx context.Context) (json.RawMessage, error) {
		return f.c.Ask(ctx, caller, taskGet, scan.Pair("taskId", t.task))
	}
	t.Read, t.Over = t.read, func() { f.SetRunning(t.task, false) }
	return t
}

// begun handles the response to the call that should start the task, and earlier messages.
func (t *following) begun(ctx context.Context, m wire.Message) error {
	task := scan.Get(m.Body, "task")
	switch {
	case m.Kind != wire.Response:
		t.Put(m)
		return nil
	case m.Err != nil || scan.Type(scan.Get(task, "taskId")) != 's': // there is no task: the response is the result
		t.Put(m)
		t.End()
		return nil
	case t.op.Kind == dialect.JobStart:
		t.StopReports(ctx)
		t.Stream = *poll.Lines(taskLine(task))
		return nil
	}
	t.task = scan.Get(task, "taskId")
	t.OnReport, t.CancelWork = t.onReport, t.cancelWork
	t.Track()
	return t.Update(ctx, task)
}

func (t *following) cancelWork(ctx context.Context) error {
	t.client.SetRunning(t.task, false)
	return t.client.cancel(ctx, t.caller, t.task)
}

// onReport handles a status of the task, its result, or a message that belongs to it.
func (t *following) onReport(ctx context.Context, m wire.Message) error {
	switch {
	case m.Kind == wire.Response:
		if err := t.unwrap(&m); err != nil {
			return err
		}
		t.Finish(ctx, m)
		return nil
	case m.Method != taskStatus:
		t.Put(m)
		return nil
	}
	body := m.Body
	if m.Kind == wire.Notification {
		body = m.Params
	}
	if !scan.Equal(scan.Get(body, "taskId"), t.task) {
		return nil
	}
	return t.Update(ctx, body)
}

// read converts the task's status to a message. over reports whether that message is the last one of the stream.
func (t *following) read(ctx context.Context, task json.RawMessage) (m wire.Message, over bool, err error) {
	t.Pause(scan.Or(scan.Get(task, "pollIntervalMs"), scan.Get(task, "pollInterval"))) // the names in version 2026-07-28 and in earlier versions
	t.status, t.words = scan.String(scan.Get(task, "status")), scan.String(scan.Get(task, "statusMessage"))
	m = wire.Message{Raw: task, Body: task}
	if isOver(t.status) {
		t.Over()
		t.CancelWork = nil
	} else if t.words != "" {
		m.Event = &wire.Event{Kind: wire.Progress, Message: t.words, Job: t.task, Extra: scan.Pair("status", scan.AppendQuoted(nil, t.status))}
	}
	if t.client.isModern() {
		over, err = t.readModern(ctx, &m)
		return m, over, err
	}
	return m, false, t.wantResult(ctx)
}

// wantResult requests the result once the task has ended or needs input. In the second case, the server sends its
// request for input before the result.
func (t *following) wantResult(ctx context.Context) error {
	switch {
	case t.status == "":
		return wire.NewFault(wire.Protocol, "the server sent a task without a status", nil).WithMethod(taskGet)
	case t.Ask == nil || !isOver(t.status) && t.status != "input_required":
		return nil
	}
	st, err := openResult(ctx, t.caller, t.task, t.Reports)
	if err != nil {
		return err
	}
	t.Ask, t.Reports = nil, st
	return nil
}

// unwrap converts the result of the task to the result of a tool call. If the task failed or was cancelled, it replaces
// the result with an error.
func (t *following) unwrap(m *wire.Message) error {
	err := t.client.c.Unwrap(m, t.op.Method, t.op.Params)
	if err == nil && m.Err == nil && (t.status == "failed" || t.status == "cancelled") {
		m.Err, m.Body = t.failure().WithData(m.Body), nil
	}
	return err
}

// failure returns the error for a task that failed or was cancelled.
func (t *following) failure() *wire.Error {
	return wire.NewError(wire.CodeServer, cmp.Or(t.words, map[string]string{"failed": "the task has failed", "cancelled": "the task was cancelled"}[t.status]))
}

// A resultStream yields the reports about a task, followed by its result.
type resultStream struct {
	reports dialect.Stream     // may be nil
	stop    context.CancelFunc // ends the call for the result
	arrived context.Context    // ends when m and err are set
	m       wire.Message
	err     error
}

// openResult requests the result of a task. The response arrives when the task ends.
func openResult(ctx context.Context, caller dialect.Caller, task json.RawMessage, reports dialect.Stream) (*resultStream, error) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	st, err := caller.Open(ctx, dialect.Op{Kind: dialect.Internal, Method: taskResult, Params: scan.Pair("taskId", task)})
	if err != nil {
		stop()
		return nil, err
	}
	arrived, done := context.WithCancel(context.Background())
	r := &resultStream{reports: reports, stop: stop, arrived: arrived}
	go func() {
		defer wire.Guard()
		defer done()
		m, err := st.Next(ctx)
		if r.m, r.err = m.Clone(), err; err != nil {
			dialect.CancelAnyway(ctx, st)
		}
	}()
	return r, nil
}

// Next returns the next report, or the result.
func (r *resultStream) Next(ctx context.Context) (wire.Message, error) {
	if r.reports != nil {
		m, err := r.report(ctx)
		switch {
		case err == nil:
			return m, nil
		case ctx.Err() == nil && r.arrived.Err() == nil: // no more reports will arrive
			dialect.CancelAnyway(ctx, r.reports)
			r.reports = nil
		}
	}
	select {
	case <-r.arrived.Done():
		return r.m, r.err
	case <-ctx.Done():
		return wire.Message{}, ctx.Err()
	}
}

// report returns the next report. It waits for one only until the result arrives.
func (r *resultStream) report(ctx context.Context) (wire.Message, error) {
	if !dialect.Waiting(r.reports) {
		until, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(r.arrived, cancel)()
		ctx = until
	}
	return r.reports.Next(ctx)
}

// Cancel stops waiting for the result. The task continues.
func (r *resultStream) Cancel(ctx context.Context) error {
	r.stop()
	if r.reports == nil {
		return nil
	}
	return r.reports.Cancel(ctx)
}
