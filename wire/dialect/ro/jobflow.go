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
		if err != nil {
			return nil, err
		}
		return poll.Lines(have.line()), nil
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
	have, ok := c.jobs.markRead(string(m.ID))
	if !ok {
		_ = st.Cancel(life)
		stop()
		return nil, wire.NewFault(wire.Protocol, op.Method+" returned neither a result nor a job", nil)
	}
	if have.last, have.state = m.Clone(), status(m.Body); have.state == "" { // unaffected by later messages
		have.state = "pending"
	}
	go func() {
		defer wire.Guard()
		defer stop()
		var err error
		for err == nil {
			_, err = st.Next(life)
		}
		c.jobs.lose(have.id, err)
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
	liveness, err := openLiveness(ctx, caller, op.Job)
	if err != nil {
		w.leave()
		return nil, err
	}
	alive, stop := context.WithCancel(context.WithoutCancel(ctx))
	w.end = func(ctx context.Context) error {
		stop()
		return liveness.Cancel(ctx)
	}
	go func() {
		defer wire.Guard()
		var err error
		for err == nil {
			_, err = liveness.Next(alive)
		}
		w.lose(err)
	}()
	return w, nil
}

// openLiveness opens a stream that receives no messages and ends with the connection.
func openLiveness(ctx context.Context, caller dialect.Caller, method string) (dialect.Stream, error) {
	return caller.Open(ctx, dialect.Op{Kind: dialect.Subscribe, Method: method, Stream: wire.ID("\x00")})
}

// wait returns a stream of the job's latest and later messages. For an ended job, the stream has only the last message.
func (j *jobs) wait(id string) *waiter {
	w := &waiter{jobs: j, wake: make(chan struct{}, 1)}
	j.mu.Lock()
	defer j.mu.Unlock()
	switch have := j.of(id); {
	case have == nil:
	case have.lost != nil:
		w.loseLocked(have.lost)
	default:
		w.pushLocked(have.last)
		if !have.over {
			have.waits = append(have.waits, w)
		}
	}
	return w
}

// A waiter is a stream of the messages about one job.
type waiter struct {
	jobs *jobs
	end  func(context.Context) error // ends the liveness stream; may be nil
	wake chan struct{}               // receives a value when queue or lost changes

	// jobs.mu guards these fields.
	queue []wire.Message
	lost  error // the reason why no message follows those in queue, or nil
}

// lose ends the stream with err, after the queued messages.
func (w *waiter) lose(err error) {
	w.jobs.mu.Lock()
	defer w.jobs.mu.Unlock()
	w.loseLocked(err)
}

func (w *waiter) loseLocked(err error) {
	w.lost = cmp.Or(w.lost, unfinished(err))
	w.wakeUp()
}

// unfinished returns the reason why a job has no result if its messages ended with err. io.EOF must not count as the
// end of the job.
func unfinished(err error) error {
	if err != io.EOF {
		return err
	}
	return wire.NewFault(wire.Closed, "the messages about the job stopped before the job ended", nil)
}

// maxQueued bounds the unread messages of a waiter. A new message replaces the oldest one.
const maxQueued = 1024

func (w *waiter) pushLocked(m wire.Message) {
	if len(w.queue) == maxQueued {
		w.queue = w.queue[1:]
	}
	w.queue = append(w.queue, m)
	if m.Final {
		w.lost = io.EOF
	}
	w.wakeUp()
}

func (w *waiter) wakeUp() {
	wire.Wake(w.wake)
}

// take removes the next message from the queue. If the queue is empty, err is the reason why no message follows. ok is
// false if there is neither a message nor a reason.
func (w *waiter) take() (m wire.Message, err error, ok bool) {
	w.jobs.mu.Lock()
	defer w.jobs.mu.Unlock()
	if len(w.queue) == 0 {
		return m, w.lost, w.lost != nil
	}
	m, w.queue = w.queue[0], w.queue[1:]
	return m, nil, true
}

// Next returns the next message, or io.EOF after the last.
func (w *waiter) Next(ctx context.Context) (wire.Message, error) {
	for {
		if m, err, ok := w.take(); ok {
			return m, err
		}
		select {
		case <-w.wake:
		case <-ctx.Done():
			return wire.Message{}, ctx.Err()
		}
	}
}

// Cancel stops waiting. The job continues.
func (w *waiter) Cancel(ctx context.Context) error {
	w.leave()
	if w.end == nil {
		return nil
	}
	return w.end(ctx)
}

func (w *waiter) leave() {
	w.jobs.mu.Lock()
	defer w.jobs.mu.Unlock()
	for _, have := range w.jobs.list {
		have.waits = slices.DeleteFunc(have.waits, func(other *waiter) bool { return other == w })
	}
}
