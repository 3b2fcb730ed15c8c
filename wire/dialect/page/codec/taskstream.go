package codec

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// The bounds of the interval at which a task is polled. If the server does not name an interval, it
// grows from firstPoll to longestPoll.
const (
	firstPoll   = 50 * time.Millisecond
	laterPoll   = time.Second
	longestPoll = 30 * time.Second
	soonestPoll = 10 * time.Millisecond
)

// A taskStream follows a task to its end. If the server has not reported for a while, it asks for
// the task's status. When the task is over, or needs an answer of ours to go on, it asks for the
// result, with which the server's question comes.
type taskStream struct {
	c      *Codec
	caller dialect.Caller
	op     dialect.Op
	st     dialect.Stream  // the answers to the call that began the task, or the reports about tasks; nil: it has ended
	ours   bool            // we began the task, so it is cancelled if nobody waits for it any longer
	task   json.RawMessage // its id; nil: it is not known yet
	every  time.Duration   // how often to ask, as the server wants it; 0: it has not said
	pause  time.Duration
	status string // as it was told last
	told   string // its status and message, as they were told last
	words  string // the latest message about its status

	asked *taskAnswer // the result that is being asked for; nil: it is not

	ready []wire.Message
	over  bool // nothing comes after ready
}

// Next returns the next message about the task; io.EOF after its result.
func (t *taskStream) Next(ctx context.Context) (wire.Message, error) {
	for len(t.ready) == 0 {
		if t.over {
			return wire.Message{}, io.EOF
		}
		if err := t.more(ctx); err != nil {
			return wire.Message{}, err
		}
	}
	m := t.ready[0]
	t.ready = t.ready[1:]
	return m, nil
}

// more reads one message, or asks for the status.
func (t *taskStream) more(ctx context.Context) error {
	if t.task == nil {
		m, err := t.st.Next(ctx)
		if err != nil {
			return err
		}
		return t.begun(ctx, m.Clone())
	}
	m, err := t.listen(ctx)
	switch {
	case err == nil:
		return t.heard(ctx, m.Clone())
	case t.asked.is():
		return t.answered(ctx)
	case ctx.Err() != nil:
		return ctx.Err()
	case !errors.Is(err, context.DeadlineExceeded): // no more reports will come
		t.leave(ctx)
		return nil
	}
	said, err := t.c.ask(ctx, t.caller, taskGet, scan.Pair("taskId", t.task))
	if err != nil {
		return t.fail(err)
	}
	return t.stands(ctx, said)
}

// listen waits for a report about the task, until it is time to ask.
func (t *taskStream) listen(ctx context.Context) (wire.Message, error) {
	t.pause = min(max(2*t.pause, firstPoll), laterPoll)
	if t.every > 0 {
		t.pause = t.every
	}
	until, cancel := context.WithTimeout(ctx, t.pause)
	defer cancel()
	if a := t.asked; a != nil { // the result, when it comes, says all
		until, cancel = context.WithCancel(ctx)
		defer cancel()
		over := until.Done()
		go func() {
			select {
			case <-a.came:
				cancel()
			case <-over:
			}
		}()
	}
	switch st := t.st.(type) {
	case nil:
	case interface{ Waiting() bool }:
		if st.Waiting() { // it came before the result did
			until = ctx
		}
		return t.st.Next(until)
	default:
		return t.st.Next(until)
	}
	<-until.Done()
	return wire.Message{}, context.DeadlineExceeded
}

// begun handles the answer to the call that should begin the task.
func (t *taskStream) begun(ctx context.Context, m wire.Message) error {
	task := scan.Get(m.Body, "task")
	switch {
	case m.Kind != wire.Response:
		t.ready = append(t.ready, m)
		return nil
	case m.Err != nil || scan.Type(scan.Get(task, "taskId")) != 's': // there is no task: it is the result
		m.Final, t.over = true, true
		t.ready = append(t.ready, m)
		return nil
	}
	t.task = scan.Get(task, "taskId")
	if t.op.Kind == dialect.JobStart {
		t.over = true
		t.leave(ctx)
		t.ready = append(t.ready, dataOf(taskLine(task), true))
		return nil
	}
	return t.stands(ctx, task)
}

// heard handles a report about the task, or a message of it.
func (t *taskStream) heard(ctx context.Context, m wire.Message) error {
	if m.Method != taskStatus {
		t.ready = append(t.ready, m)
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

// stands handles a status of the task: a change is shown as progress. When the task is over, or
// waits for us, the result is requested.
func (t *taskStream) stands(ctx context.Context, task json.RawMessage) error {
	if ms, err := strconv.ParseFloat(string(scan.Get(task, "pollInterval")), 64); err == nil && ms > 0 {
		t.every = longestPoll
		if d := time.Duration(ms * float64(time.Millisecond)); ms < float64(longestPoll/time.Millisecond) {
			t.every = max(d, soonestPoll)
		}
	}
	t.status, t.words = scan.String(scan.Get(task, "status")), scan.String(scan.Get(task, "statusMessage"))
	if t.status == "" {
		return protocolFault(taskGet, "what the server says of the task has no status")
	}
	if now := t.status + "\x00" + t.words; now != t.told {
		t.told = now
		if t.words != "" && !isOver(t.status) {
			t.ready = append(t.ready, wire.Message{
				Kind: wire.Item, Raw: task, Body: task,
				Event: &wire.Event{Kind: wire.Progress, Message: t.words, Job: t.task, Extra: scan.Pair("status", scan.AppendQuoted(nil, t.status))},
			})
		}
	}
	if isOver(t.status) {
		t.c.setTask(t.task, false)
	}
	if t.asked != nil || !isOver(t.status) && t.status != "input_required" {
		return nil
	}
	return t.ask(ctx)
}

// ask requests the result, which comes when the task is over.
func (t *taskStream) ask(ctx context.Context) error {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	st, err := t.caller.Open(ctx, dialect.Op{Kind: dialect.Internal, Method: taskResult, Params: scan.Pair("taskId", t.task)})
	if err != nil {
		stop()
		return err
	}
	a := &taskAnswer{came: make(chan struct{}), stop: stop}
	t.asked = a
	go func() {
		defer wire.Guard()
		defer close(a.came)
		m, err := st.Next(ctx)
		if a.m, a.err = m.Clone(), err; err != nil {
			dialect.CancelAnyway(ctx, st)
		}
	}()
	return nil
}

// answered handles the result, which is that of the tool.
func (t *taskStream) answered(ctx context.Context) error {
	t.leave(ctx)
	t.asked.stop()
	if t.asked.err != nil {
		return t.asked.err
	}
	m := t.asked.m
	t.c.setTask(t.task, false)
	t.over = true
	if err := t.unwrap(&m); err != nil {
		return err
	}
	ev := wire.Event{Kind: wire.Data, Final: true, Data: m.Body}
	if m.Err != nil {
		ev = wire.Event{Kind: wire.Failure, Final: true, Err: m.Err}
	}
	m.Kind, m.Final, m.ID, m.Event = wire.Item, true, nil, &ev
	t.ready = append(t.ready, m)
	return nil
}

// fail ends the stream with an error that the server has answered; any other error is
// returned.
func (t *taskStream) fail(err error) error {
	var rpc *wire.Error
	if !errors.As(err, &rpc) {
		return err
	}
	t.c.setTask(t.task, false)
	t.over = true
	t.ready = append(t.ready, wire.Message{Kind: wire.Item, Final: true, Err: rpc, Raw: rpc.JSON(), Event: &wire.Event{Kind: wire.Failure, Final: true, Err: rpc}})
	return nil
}

// leave stops listening for reports; the task goes on.
func (t *taskStream) leave(ctx context.Context) {
	if t.st == nil {
		return
	}
	dialect.CancelAnyway(ctx, t.st)
	t.st = nil
}

// Cancel cancels the task if we began it and it is not over.
func (t *taskStream) Cancel(ctx context.Context) error {
	if t.over && t.st == nil {
		return nil
	}
	over := t.over || isOver(t.status)
	t.over = true
	t.leave(ctx)
	if t.asked != nil {
		t.asked.stop()
	}
	if t.task == nil || over || !t.ours {
		return nil
	}
	t.c.setTask(t.task, false)
	if t.c.can("capabilities.tasks.cancel", "") != nil {
		return nil
	}
	_, err := t.c.ask(ctx, t.caller, taskCancel, scan.Pair("taskId", t.task))
	var rpc *wire.Error
	if errors.As(err, &rpc) { // it is over by now
		return nil
	}
	return err
}
