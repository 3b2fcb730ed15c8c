package hotrepl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/poll"
	"rpcx/wire/scan"
)

// answerTimeout bounds the wait for each response, because real hosts do not respond to requests about an unknown job.
const answerTimeout = 15 * time.Second

// Job runs one of the Job operations and polls the host. The data events of the stream are reports: objects with the
// job, its state and status, and its progress, output or error. If the Extra of a JobRun or JobWait has "bare", the only
// data event is the output, as a call would print it. In that case, the job belongs to the stream, and cancelling the
// stream cancels the job.
func (c *codec) Job(ctx context.Context, caller dialect.Caller, op dialect.Op) (dialect.Stream, error) {
	j := &following{codec: c, caller: caller, op: op, job: scan.AppendQuoted(nil, op.Job)}
	j.Now = true
	bare := scan.Get(op.Extra, "bare") != nil
	switch op.Kind {
	case dialect.JobRun, dialect.JobStart:
		call := op
		call.Kind = dialect.Call
		if op.Kind == dialect.JobRun && bare {
			j.bare, call.Extra = true, nil
		}
		st, err := caller.Open(ctx, call)
		if err != nil {
			return nil, err
		}
		j.job = nil
		j.Ask = func(ctx context.Context) error { // processes the response to the command_call, which starts the job
			m, err := st.Next(ctx)
			if err != nil {
				return err
			}
			return j.answer(m.Clone())
		}
		j.CancelWork = func(ctx context.Context) error { return j.cancelStart(ctx, st) }
	case dialect.JobWait:
		j.Ask, j.Now = j.asks(typeStatus, j.about()), !bare
		if j.bare = bare; bare {
			j.CancelWork = j.cancel
		}
	case dialect.JobStatus:
		j.Ask = j.asks(typeStatus, j.about())
	case dialect.JobCancel:
		j.Ask = j.asks(typeJobCancel, j.about())
	case dialect.JobList:
		j.Ask = j.asks(typeJournal, op.Extra)
	default:
		return nil, wire.ErrUnsupported
	}
	return j, nil
}

// following is the stream of a job operation.
type following struct {
	poll.Stream
	codec  *codec
	caller dialect.Caller
	op     dialect.Op
	job    json.RawMessage // the job's id, or nil while the id is unknown
	bare   bool            // the only data event is the output; there are no reports
}

// acceptTimeout bounds the wait of a cancelled start for job_accepted. rpcx ends within a second after a signal.
const acceptTimeout = 500 * time.Millisecond

// cancelStart waits for job_accepted and cancels the job, because a host ignores the cancel message of a job.
func (j *following) cancelStart(ctx context.Context, st dialect.Stream) error {
	bound, stop := context.WithTimeout(ctx, acceptTimeout)
	defer stop()
	m, err := st.Next(bound)
	if err != nil {
		return st.Cancel(ctx)
	}
	return j.codec.cancelJob(ctx, j.caller, scan.Get(m.Raw, "jobId"))
}

func (j *following) about() json.RawMessage { return scan.Pair("jobId", j.job) }

// asks returns a function that sends a message and processes its response.
func (j *following) asks(kind string, members json.RawMessage) func(context.Context) error {
	return func(ctx context.Context) error {
		m, err := j.ask(ctx, kind, members)
		if err != nil {
			return err
		}
		return j.answer(m)
	}
}

// ask sends a message and waits at most answerTimeout for its response.
func (j *following) ask(ctx context.Context, kind string, members json.RawMessage) (wire.Message, error) {
	bound, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	m, err := poll.Ask(bound, j.caller, kind, members)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		f := wire.NewFault(wire.Timeout, "the host did not answer a "+kind+" within "+answerTimeout.String(), err)
		if kind != typeJournal {
			f.Hint = "hosts do not answer requests about an unknown job"
		}
		return m, f
	}
	if id := scan.Get(m.Raw, "jobId"); err == nil && id != nil && j.job != nil && !scan.Equal(id, j.job) {
		return m, wire.NewFault(wire.Protocol, fmt.Sprintf("the response to a %s about the job %s is about the job %s", kind, j.job, wire.Excerpt(id, 40)), nil)
	}
	return m, err
}

func (j *following) cancel(ctx context.Context) error {
	_, err := j.ask(ctx, typeJobCancel, j.about())
	return err
}

// answer queues the user's events for the host's response, and ends the stream unless the job continues.
func (j *following) answer(m wire.Message) error {
	ev, err := dialect.EventOf(j.codec, m)
	if err != nil {
		return err
	}
	if ev.Kind == wire.Progress && j.job == nil {
		j.job = bytes.Clone(ev.Job)
		j.Ask, j.CancelWork = j.asks(typeStatus, j.about()), j.cancel
	}
	waits := j.op.Kind == dialect.JobRun || j.op.Kind == dialect.JobWait
	switch {
	case ev.Kind == wire.Progress && waits:
		j.yield(m, ev, false)
		return nil
	case j.op.Kind == dialect.JobList && ev.Err == nil:
		for val := range scan.Elements(m.Body) {
			j.yield(m, wire.Event{Kind: wire.Data, Data: val}, false)
		}
	case j.op.Kind == dialect.JobCancel && ev.Err == nil, j.bare, ev.Err != nil && ev.Job == nil:
		j.yield(m, ev, true)
	default:
		data := wire.Event{Kind: wire.Data, Data: report(ev)}
		j.yield(m, data, ev.Err == nil)
		if ev.Err != nil {
			j.yield(m, ev, true)
		}
	}
	j.End()
	return nil
}

// yield queues m with the event ev.
func (j *following) yield(m wire.Message, ev wire.Event, final bool) {
	m.Kind, m.Final, ev.Final = wire.Item, final, final
	m.Event, m.Body, m.Err = &ev, ev.Data, ev.Err
	j.Put(m)
}

// report returns the known facts about a job as an object for the user.
func report(ev wire.Event) json.RawMessage {
	status := scan.Get(ev.Extra, "status")
	if status == nil && ev.Kind == wire.Progress {
		status = []byte(`"running"`)
	}
	var o scan.Object
	o.Compact("job", ev.Job)
	o.Compact("state", scan.Get(ev.Extra, "state"))
	o.Compact("status", status)
	switch {
	case ev.Err != nil:
		o.Compact("error", ev.Err.JSON())
	case ev.Kind == wire.Progress:
		o.Compact("progress", ev.Data)
	default:
		o.Compact("output", ev.Data)
	}
	o.Named(ev.Extra, "state", "status")
	return o.End()
}

// Shutdown cancels the jobs of this connection. Without the connection, no client could query them, and they would
// occupy the host's slots.
func (c *codec) Shutdown(ctx context.Context, caller dialect.Caller) error {
	return c.jobs.CancelRunning(func(job json.RawMessage) error { return c.cancelJob(ctx, caller, job) })
}

// cancelJob cancels a job without waiting for the response. A nil job has no effect.
func (c *codec) cancelJob(ctx context.Context, caller dialect.Caller, job json.RawMessage) error {
	if job == nil {
		return nil
	}
	return caller.Notify(ctx, dialect.Op{Kind: dialect.Internal, Method: typeJobCancel, Params: scan.Pair("jobId", job)})
}
