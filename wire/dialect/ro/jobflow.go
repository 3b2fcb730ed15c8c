package ro

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"slices"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/poll"
)

// Job runs one of the Job operations on the jobs of this connection. It returns a usage Fault for JobCancel, which
// RO-JRPC lacks.
func (c *codec) Job(ctx context.Context, caller dialect.Caller, op dialect.Op) (dialect.Stream, error) {
	switch op.Kind {
	case dialect.JobRun:
		op.Kind, op.Lasting = dialect.Call, true
		return caller.Open(ctx, op)
	case dialect.JobStart:
		return c.startJob(ctx, caller, op)
	case dialect.JobWait:
		return c.waitJob(ctx, caller, op)
	case dialect.JobStatus:
		have, err := c.jobs.named(op.Job)
		return poll.Answer(err, have.line())
	case dialect.JobList:
		c.jobs.mu.Lock()
		defer c.jobs.mu.Unlock()
		lines := wire.Map(c.jobs.list, func(have *job) json.RawMessage { return have.line() })
		return poll.Lines(lines...), nil
	}
	return nil, wire.Usagef("RO-JRPC cannot cancel jobs").WithHint("if the peer has a verb for it, call that verb, such as job/JOB:cancel")
}

// startJob makes the call and returns a stream with one message: the state of the job, or the response if it ended the
// call. A goroutine reads the rest of the call, because over HTTP results arrive only while a client reads the response.
func (c *codec) startJob(ctx context.Context, caller dialect.Caller, op dialect.Op) (dialect.Stream, error) {
	op.Kind, op.Lasting = dialect.Call, true
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	bound := context.AfterFunc(ctx, stop)
	st, err := caller.Open(life, op)
	if err != nil {
		stop()
		return nil, cmp.Or(ctx.Err(), err)
	}
	m, err := st.Next(life)
	switch {
	case err != nil, !bound():
		_ = st.Cancel(life)
		stop()
		return nil, cmp.Or(ctx.Err(), err)
	case m.Kind == wire.Response && (m.Err != nil || m.Final): // answered at once, so there is no job
		stop()
		return poll.Of(m.Clone()), nil
	}
	have, ok := c.jobs.markRead(string(m.ID.Key()))
	if !ok {
		_ = st.Cancel(life)
		stop()
		return nil, wire.NewFault(wire.Protocol, op.Method+" returned neither a result nor a job", nil)
	}
	have.last, have.state = m.Clone(), cmp.Or(status(m.Body), "pending") // unaffected by later messages
	go func() {
		defer wire.Guard()
		defer stop()
		c.jobs.lose(have.id, dialect.Drain(life, st))
	}()
	return poll.Lines(have.line()), nil
}

// waitJob follows a job to its end, which may already have arrived. If no goroutine reads the job's call, waitJob opens
// a stream without messages to detect the end of the connection.
func (c *codec) waitJob(ctx context.Context, caller dialect.Caller, op dialect.Op) (dialect.Stream, error) {
	have, err := c.jobs.named(op.Job)
	if err != nil {
		return nil, err
	}
	w := c.jobs.wait(have.id)
	if have.hasReader || have.over {
		return w, nil
	}
	none := dialect.Op{Kind: dialect.Subscribe, Method: op.Job, Stream: wire.ID("\x00")} // no message has this stream
	if w.liveness, err = caller.Open(ctx, none); err != nil {
		w.leave()
		return nil, err
	}
	go func() {
		defer wire.Guard()
		err := dialect.Drain(context.WithoutCancel(ctx), w.liveness)
		c.jobs.mu.Lock()
		defer c.jobs.mu.Unlock()
		w.end(unfinished(err))
	}()
	return w, nil
}

// wait returns a stream of the job's latest and later messages. For an ended job, the stream has only the last message.
func (j *jobs) wait(id string) *waiter {
	w := &waiter{jobs: j, messages: make(chan *wire.Message, maxQueued)}
	j.mu.Lock()
	defer j.mu.Unlock()
	switch have := j.of(id); {
	case have == nil:
	case have.lost != nil:
		w.end(have.lost)
	default:
		w.push(have.last)
		if !have.over {
			have.waits = append(have.waits, w)
		}
	}
	return w
}

// maxQueued bounds the unread messages of a waiter. A new message replaces the oldest one.
const maxQueued = 1024

// A waiter is a stream of the messages about one job.
type waiter struct {
	jobs     *jobs
	liveness dialect.Stream     // ends with the connection; may be nil
	messages chan *wire.Message // pointers, because the whole queue is allocated for each waiter
	ended    error              // why no message follows; set before messages is closed. jobs.mu guards the writes.
}

// push adds a message. The caller holds jobs.mu.
func (w *waiter) push(m wire.Message) {
	if w.ended != nil {
		return
	}
	if len(w.messages) == maxQueued {
		select {
		case <-w.messages:
		default: // the reader was faster
		}
	}
	if w.messages <- &m; m.Final {
		w.end(io.EOF)
	}
}

// end ends the stream with err, after the messages in the queue. The caller holds jobs.mu.
func (w *waiter) end(err error) {
	if w.ended == nil {
		w.ended = err
		close(w.messages)
	}
}

// unfinished returns the reason why a job has no result if its messages ended with err. io.EOF must not count as the
// end of the job.
func unfinished(err error) error {
	if err != io.EOF {
		return err
	}
	return wire.NewFault(wire.Closed, "the messages about the job stopped before the job ended", nil)
}

// Next returns the next message, or io.EOF after the last.
func (w *waiter) Next(ctx context.Context) (wire.Message, error) {
	select {
	case m, more := <-w.messages:
		if !more {
			return wire.Message{}, w.ended
		}
		return *m, nil
	case <-ctx.Done():
		return wire.Message{}, ctx.Err()
	}
}

// Cancel stops waiting. The job continues.
func (w *waiter) Cancel(ctx context.Context) error {
	w.leave()
	if w.liveness == nil {
		return nil
	}
	return w.liveness.Cancel(ctx)
}

func (w *waiter) leave() {
	w.jobs.mu.Lock()
	defer w.jobs.mu.Unlock()
	for _, have := range w.jobs.list {
		have.waits = slices.DeleteFunc(have.waits, func(other *waiter) bool { return other == w })
	}
}
