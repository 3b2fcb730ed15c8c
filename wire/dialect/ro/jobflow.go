package ro

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// Job does what op wants with the jobs of this connection.
func (c *codec) Job(ctx context.Context, caller dialect.Caller, op dialect.Op) (dialect.Stream, error) {
	switch op.Kind {
	case dialect.JobRun:
		op.Kind = dialect.Call
		return caller.Open(ctx, op)
	case dialect.JobStart:
		return c.startJob(ctx, caller, op)
	case dialect.JobWait:
		return c.waitJob(ctx, caller, op)
	case dialect.JobStatus:
		have, err := c.jobs.named(op.Job)
		if err != nil {
			return nil, err
		}
		return &told{have.line()}, nil
	case dialect.JobList:
		c.jobs.mu.Lock()
		defer c.jobs.mu.Unlock()
		lines := told{}
		for _, have := range c.jobs.list {
			lines = append(lines, have.line())
		}
		return &lines, nil
	}
	return nil, refused("RO-JRPC has no way to cancel a job")
}

// startJob makes the call and leaves it when its first message is there.
func (c *codec) startJob(ctx context.Context, caller dialect.Caller, op dialect.Op) (dialect.Stream, error) {
	method := op.Method
	nowhere, err := openNowhere(ctx, caller, method) // where nothing comes unasked, no job goes on by itself
	if err != nil {
		return nil, err
	}
	_ = nowhere.Cancel(ctx)
	op.Kind = dialect.Call
	st, err := caller.Open(ctx, op)
	if err != nil {
		return nil, err
	}
	m, err := st.Next(ctx)
	switch {
	case err != nil:
		_ = st.Cancel(ctx)
		return nil, err
	case m.Kind == wire.Response && (m.Err != nil || m.Final): // no job: it is answered
		return &once{m: m.Clone()}, nil
	}
	id, body := string(m.ID), bytes.Clone(m.Body)
	c.jobs.keep(id)
	_ = st.Cancel(ctx)
	have, ok := c.jobs.find(func(have *job) bool { return have.id == id })
	if !ok {
		return nil, wire.NewFault(wire.Protocol, method+" was answered by what is neither a result nor a job", nil)
	}
	if have.result, have.state = body, status(body); have.state == "" { // as the first message has it, whatever came since
		have.state = "pending"
	}
	return &told{have.line()}, nil
}

// waitJob follows a job to its end, which may have come. Beside it the stream of
// a place that does not exist is read: it ends when the connection does.
func (c *codec) waitJob(ctx context.Context, caller dialect.Caller, op dialect.Op) (dialect.Stream, error) {
	if _, err := c.jobs.named(op.Job); err != nil {
		return nil, err
	}
	w := c.jobs.wait(op.Job)
	nowhere, err := openNowhere(ctx, caller, op.Job)
	if err != nil {
		w.leave()
		return nil, err
	}
	alive, stop := context.WithCancel(context.WithoutCancel(ctx))
	w.nowhere, w.stop = nowhere, stop
	go func() {
		var err error
		for err == nil {
			_, err = nowhere.Next(alive)
		}
		w.lost <- err
	}()
	return w, nil
}

// openNowhere follows what does not exist.
func openNowhere(ctx context.Context, caller dialect.Caller, method string) (dialect.Stream, error) {
	return caller.Open(ctx, dialect.Op{Kind: dialect.Subscribe, Method: method, Stream: wire.ID("\x00")})
}

// wait makes a stream of what is told of a job from now on; of one that is over,
// its last result.
func (j *jobs) wait(name string) *waiter {
	w := &waiter{jobs: j, wake: make(chan struct{}, 1), lost: make(chan error, 1)}
	j.mu.Lock()
	defer j.mu.Unlock()
	i := len(j.list) - 1
	for i >= 0 && j.list[i].name != name {
		i--
	}
	switch {
	case i < 0:
	case j.list[i].over:
		w.push(j.list[i].last())
	default:
		j.list[i].waits = append(j.list[i].waits, w)
	}
	return w
}

// last is the last result as a message.
func (j *job) last() wire.Message {
	raw := []byte(j.line())
	return wire.Message{
		Kind: wire.Item, Final: true, Method: "job." + verbReturn, Raw: raw, Body: bytes.Clone(j.result), Err: j.err,
	}
}

// A waiter is a stream of what is told of one job.
type waiter struct {
	jobs    *jobs
	nowhere dialect.Stream
	stop    context.CancelFunc
	wake    chan struct{}
	lost    chan error
	queue   []wire.Message // under the lock of jobs
	over    bool
}

// queueMost is how many messages wait for one who waits; the oldest are lost.
const queueMost = 1024

func (w *waiter) push(m wire.Message) {
	if len(w.queue) == queueMost {
		w.queue = w.queue[1:]
	}
	w.queue = append(w.queue, m)
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// take is the next message; false where none waits.
func (w *waiter) take() (m wire.Message, ok bool) {
	w.jobs.mu.Lock()
	defer w.jobs.mu.Unlock()
	if len(w.queue) == 0 {
		return m, false
	}
	m, w.queue = w.queue[0], w.queue[1:]
	if w.over = m.Final; w.over {
		w.stop()
	}
	return m, true
}

// Next returns the next result, and io.EOF after the last.
func (w *waiter) Next(ctx context.Context) (wire.Message, error) {
	for !w.over {
		if m, ok := w.take(); ok {
			return m, nil
		}
		select {
		case <-w.wake:
		case err := <-w.lost:
			w.lost <- err
			if m, ok := w.take(); ok {
				return m, nil
			}
			return wire.Message{}, err
		case <-ctx.Done():
			return wire.Message{}, ctx.Err()
		}
	}
	return wire.Message{}, io.EOF
}

// Cancel waits no more.
func (w *waiter) Cancel(ctx context.Context) error {
	w.leave()
	w.stop()
	return w.nowhere.Cancel(ctx)
}

// leave takes the waiter away from its job.
func (w *waiter) leave() {
	w.jobs.mu.Lock()
	defer w.jobs.mu.Unlock()
	for _, have := range w.jobs.list {
		have.waits = slices.DeleteFunc(have.waits, func(other *waiter) bool { return other == w })
	}
}

// once is a stream of one message.
type once struct {
	m    wire.Message
	over bool
}

// Next returns the message, once.
func (o *once) Next(context.Context) (wire.Message, error) {
	if o.over {
		return wire.Message{}, io.EOF
	}
	o.over = true
	return o.m, nil
}

// Cancel has nobody to tell.
func (o *once) Cancel(context.Context) error { return nil }

// told is a stream of data that we have.
type told []json.RawMessage

// Next returns the next.
func (t *told) Next(context.Context) (wire.Message, error) {
	if len(*t) == 0 {
		return wire.Message{}, io.EOF
	}
	data := (*t)[0]
	*t = (*t)[1:]
	final := len(*t) == 0
	return wire.Message{
		Kind: wire.Item, Final: final, Raw: data, Body: data,
		Event: &wire.Event{Kind: wire.Data, Final: final, Data: data},
	}, nil
}

// Cancel has nobody to tell.
func (t *told) Cancel(context.Context) error { return nil }
