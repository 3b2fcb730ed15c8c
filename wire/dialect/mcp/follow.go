package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/poll"
	"rpcx/wire/scan"
)

// The bounds of the pause between two polls that a server can request.
const (
	soonest = 10 * time.Millisecond
	latest  = 30 * time.Second
)

// A following is a stream that follows a task to its end. When the task is over, or needs input to continue, it requests the result, and
// receives the server's request.
type following struct {
	poll.Stream
	client *client
	caller dialect.Caller
	op     dialect.Op
	task   json.RawMessage // its id
	status string          // the latest status
	words  string          // the latest message about its status
	shown  string          // the status and the message that were last shown

	answered map[string]bool // the requests of the task that hooks have answered
}

// begun handles the response to the call that should begin the task, and earlier messages.
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
		t.Leave(ctx)
		t.Stream = *poll.Lines(taskLine(task))
		return nil
	}
	t.task = scan.Get(task, "taskId")
	t.Heard, t.Ask, t.GiveUp = t.heard, t.ask, t.giveUp
	return t.stands(ctx, task)
}

func (t *following) giveUp(ctx context.Context) error {
	t.client.setTask(t.task, false)
	return t.client.cancel(ctx, t.caller, t.task)
}

// ask requests the task's status. An error of the server ends the stream.
func (t *following) ask(ctx context.Context) error {
	said, err := t.client.c.Ask(ctx, t.caller, taskGet, scan.Pair("taskId", t.task))
	if err == nil {
		return t.stands(ctx, said)
	}
	var rpc *wire.Error
	if !errors.As(err, &rpc) {
		return err
	}
	t.end(ctx, wire.Message{Err: rpc, Raw: rpc.JSON()})
	return nil
}

// heard handles a status of the task, its result, or a message about it.
func (t *following) heard(ctx context.Context, m wire.Message) error {
	switch {
	case m.Kind == wire.Response:
		if err := t.unwrap(&m); err != nil {
			return err
		}
		t.end(ctx, m)
		return nil
	case m.Method != taskStatus:
		t.Put(m)
		return nil
	}
	said := m.Body
	if m.Kind == wire.Notification {
		said = m.Params
	}
	if !scan.Equal(scan.Get(said, "taskId"), t.task) {
		return nil
	}
	return t.stands(ctx, said)
}

// stands handles a status of the task: it shows a change as progress, and requests the result when the task is over or waits for input.
func (t *following) stands(ctx context.Context, task json.RawMessage) error {
	if ms, err := strconv.ParseFloat(string(scan.Get(task, "pollInterval")), 64); err == nil && ms > 0 {
		t.Every = latest
		if ms < float64(latest/time.Millisecond) {
			t.Every = max(time.Duration(ms*float64(time.Millisecond)), soonest)
		}
	}
	t.status, t.words = scan.String(scan.Get(task, "status")), scan.String(scan.Get(task, "statusMessage"))
	over := isOver(t.status)
	if t.status == "" {
		return wire.NewFault(wire.Protocol, "the server sent a task without a status", nil).WithMethod(taskGet)
	}
	t.show(task)
	if over {
		t.client.setTask(t.task, false)
		t.GiveUp = nil
	}
	if t.Ask == nil || !over && t.status != "input_required" {
		return nil
	}
	st, err := openResult(ctx, t.caller, t.task, t.Reports)
	if err != nil {
		return err
	}
	t.Ask, t.Reports = nil, st
	return nil
}

// show shows a new message about the status as progress.
func (t *following) show(task json.RawMessage) {
	now := t.status + "\x00" + t.words
	if now == t.shown {
		return
	}
	t.shown = now
	if t.words != "" && !isOver(t.status) {
		t.Put(wire.Message{
			Kind: wire.Item, Raw: task, Body: task,
			Event: &wire.Event{Kind: wire.Progress, Message: t.words, Job: t.task, Extra: scan.Pair("status", scan.AppendQuoted(nil, t.status))},
		})
	}
}

// end ends the stream with the result of the task, or its error.
func (t *following) end(ctx context.Context, m wire.Message) {
	t.Leave(ctx)
	t.client.setTask(t.task, false)
	m.Kind, m.ID, m.Event = wire.Item, nil, &wire.Event{Kind: wire.Data, Final: true, Data: m.Body}
	if m.Err != nil {
		m.Event = &wire.Event{Kind: wire.Failure, Final: true, Err: m.Err}
	}
	t.Put(m)
	t.End()
}

// unwrap converts the result to that of a tool call. A task that failed or was cancelled has no result, whatever the server sends.
func (t *following) unwrap(m *wire.Message) error {
	if err := t.client.c.Unwrap(m, t.op.Method, t.op.Params); err != nil || m.Err != nil {
		return err
	}
	words := t.words
	switch {
	case t.status != "failed" && t.status != "cancelled":
		return nil
	case words != "":
	case t.status == "failed":
		words = "the task has failed"
	default:
		words = "the task was cancelled"
	}
	m.Err, m.Body = wire.NewError(wire.CodeServer, words).WithData(m.Body), nil
	return nil
}

// A resultStream yields the reports about a task, and then its result.
type resultStream struct {
	reports dialect.Stream     // nil: there are no further ones
	stop    context.CancelFunc // ends the call for the result
	came    context.Context    // ends when m and err are set
	m       wire.Message
	err     error
}

// openResult requests the result of a task, which arrives when the task is over.
func openResult(ctx context.Context, caller dialect.Caller, task json.RawMessage, reports dialect.Stream) (*resultStream, error) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	st, err := caller.Open(ctx, dialect.Op{Kind: dialect.Internal, Method: taskResult, Params: scan.Pair("taskId", task)})
	if err != nil {
		stop()
		return nil, err
	}
	came, done := context.WithCancel(context.Background())
	r := &resultStream{reports: reports, stop: stop, came: came}
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
		case ctx.Err() == nil && r.came.Err() == nil: // no more reports will arrive
			dialect.CancelAnyway(ctx, r.reports)
			r.reports = nil
		}
	}
	select {
	case <-r.came.Done():
		return r.m, r.err
	case <-ctx.Done():
		return wire.Message{}, ctx.Err()
	}
}

// report returns the next report, including one that arrived before the result.
func (r *resultStream) report(ctx context.Context) (wire.Message, error) {
	if !dialect.Waiting(r.reports) {
		until, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(r.came, cancel)()
		ctx = until
	}
	return r.reports.Next(ctx)
}

// Cancel stops waiting for the result; the task continues.
func (r *resultStream) Cancel(ctx context.Context) error {
	r.stop()
	if r.reports == nil {
		return nil
	}
	return r.reports.Cancel(ctx)
}
