package hotrepl

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// A job is polled at intervals that grow from firstPoll to longestPoll. Each
// answer is awaited for answerTimeout: real hosts do not answer at all for a job
// that they do not know.
const (
	firstPoll     = 50 * time.Millisecond
	longestPoll   = time.Second
	answerTimeout = 15 * time.Second
)

// Job carries out one of the Job operations by polling the host. Each event of
// the stream is a report: an object with the job, its state and status, and its
// progress, output or error. If the Extra of a JobRun or JobWait says "bare",
// the only event is the output, as a call would print it; the job then ends
// with the stream: it is cancelled when nobody waits for it any more.
func (c *codec) Job(ctx context.Context, caller dialect.Caller, op dialect.Op) (dialect.Stream, error) {
	p := &poll{codec: c, caller: caller, op: op, job: scan.AppendQuoted(nil, op.Job)}
	switch op.Kind {
	case dialect.JobRun, dialect.JobStart:
		call := op
		call.Kind = dialect.Call
		if op.Kind == dialect.JobRun && scan.Get(op.Extra, "bare") != nil {
			p.bare, call.Extra = true, nil
		}
		st, err := caller.Open(ctx, call)
		p.asked, p.job, p.ours = st, nil, true
		return p, err
	case dialect.JobWait:
		p.bare = scan.Get(op.Extra, "bare") != nil
		p.ours = p.bare
		return p, nil
	case dialect.JobStatus, dialect.JobCancel, dialect.JobList:
		return p, nil
	}
	return nil, wire.ErrUnsupported
}

// A poll is the stream of a job operation: it asks the host each time that the
// next event is wanted.
type poll struct {
	codec  *codec
	caller dialect.Caller
	op     dialect.Op
	job    json.RawMessage // the job's id; nil: not known yet
	asked  dialect.Stream  // the command_call that starts the job, until it is answered; else nil
	ours   bool            // we started the job, so Cancel ends it
	bare   bool            // the output alone is wanted, not a report
	pause  time.Duration
	ready  []wire.Message // what Next returns next
	over   bool           // nothing comes after ready
}

// Next returns the next message, asking the host if there is none yet.
func (p *poll) Next(ctx context.Context) (wire.Message, error) {
	for len(p.ready) == 0 {
		if p.over {
			return wire.Message{}, io.EOF
		}
		if err := p.more(ctx); err != nil {
			return wire.Message{}, err
		}
	}
	m := p.ready[0]
	p.ready = p.ready[1:]
	return m, nil
}

// more asks the host, or waits for the start of the job, and queues the answer.
func (p *poll) more(ctx context.Context) error {
	switch p.op.Kind {
	case dialect.JobList:
		return p.answer(p.ask(ctx, typeJournal, p.op.Extra))
	case dialect.JobCancel:
		return p.answer(p.ask(ctx, typeJobCancel, p.about()))
	case dialect.JobStatus:
		return p.answer(p.ask(ctx, typeStatus, p.about()))
	}
	if p.asked != nil {
		m, err := p.asked.Next(ctx)
		if err == nil {
			m = m.Clone()
			if m.Kind != wire.Response {
				p.ready = append(p.ready, m)
				return nil
			}
			p.asked = nil
		}
		return p.answer(m, err)
	}
	if p.pause > 0 || p.ours {
		p.pause = min(max(2*p.pause, firstPoll), longestPoll)
		select {
		case <-time.After(p.pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	p.pause = max(p.pause, firstPoll/2)
	return p.answer(p.ask(ctx, typeStatus, p.about()))
}

func (p *poll) about() json.RawMessage { return scan.Pair("jobId", p.job) }

// ask sends a message and waits for its answer, at most answerTimeout.
func (p *poll) ask(ctx context.Context, kind string, members json.RawMessage) (wire.Message, error) {
	bound, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	st, err := p.caller.Open(bound, dialect.Op{Kind: dialect.Internal, Method: kind, Params: members})
	if err != nil {
		return wire.Message{}, err
	}
	m, err := st.Next(bound)
	if err == nil {
		return m.Clone(), nil
	}
	_ = st.Cancel(ctx)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		f := wire.NewFault(wire.Timeout, "the host does not answer a "+kind+" within "+answerTimeout.String(), err)
		if kind != typeJournal {
			f.Hint = "hosts answer nothing of a job that they do not know"
		}
		return m, f
	}
	return m, err
}

// answer queues what a user sees of the host's answer.
func (p *poll) answer(m wire.Message, err error) error {
	if err != nil {
		return err
	}
	ev, err := dialect.EventOf(p.codec, m)
	if err != nil {
		return err
	}
	if ev.Kind == wire.Progress && p.job == nil {
		p.job = append(json.RawMessage(nil), ev.Job...)
	}
	waits := p.op.Kind == dialect.JobRun || p.op.Kind == dialect.JobWait
	switch {
	case ev.Kind == wire.Progress && waits:
		p.tell(m, ev, false)
		return nil
	case p.op.Kind == dialect.JobList && ev.Err == nil:
		p.entries(m)
	case p.op.Kind == dialect.JobCancel && ev.Err == nil, p.bare:
		p.tell(m, ev, true)
	case ev.Err != nil && ev.Job == nil:
		p.tell(m, ev, true)
	default:
		data := wire.Event{Kind: wire.Data, Data: report(ev)}
		p.tell(m, data, ev.Err == nil)
		if ev.Err != nil {
			p.tell(m, ev, true)
		}
	}
	p.over = true
	return nil
}

// tell queues m, to be shown as ev.
func (p *poll) tell(m wire.Message, ev wire.Event, final bool) {
	m.Kind, m.Final, ev.Final = wire.Item, final, final
	m.Event, m.Body, m.Err = &ev, ev.Data, ev.Err
	p.ready = append(p.ready, m)
}

// entries queues each entry of a journal.
func (p *poll) entries(m wire.Message) {
	for val := range scan.Elements(m.Body) {
		p.tell(m, wire.Event{Kind: wire.Data, Data: val}, false)
	}
	if n := len(p.ready); n > 0 {
		p.ready[n-1].Final = true
	}
}

// Cancel has the host cancel the job, if we started it and it is not over.
func (p *poll) Cancel(ctx context.Context) error {
	if p.over || !p.ours {
		return nil
	}
	p.over = true
	switch {
	case p.asked != nil:
		return p.asked.Cancel(ctx)
	case p.job != nil && p.op.Kind != dialect.JobStart:
		_, err := p.ask(ctx, typeJobCancel, p.about())
		return err
	}
	return nil
}

// report returns what is known of a job as one object, as users see it.
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
	for name, val := range scan.Named(ev.Extra) {
		if name != "state" && name != "status" {
			o.Compact(name, val)
		}
	}
	return o.End()
}
