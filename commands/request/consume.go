package request

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strconv"

	"rpcx/commands/cmdline"
	"rpcx/commands/dialects"
	"rpcx/commands/env"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// SomeFailed returns the outcome of a batch in which some calls were answered with
// errors that have been shown.
func SomeFailed() error {
	return wire.NewFault(wire.RPCError, "some calls of the batch failed", nil)
}

// end returns the outcome when no more messages come.
func (c *Consumer) end(err error) error {
	if c.grace.failed {
		return c.finish()
	}
	if err == io.EOF && c.advice.IsFailure() && !c.said.data.Load() && !c.Watch {
		_, err := c.failure(c.deadline.Ctx, nil, wire.Event{Kind: wire.Failure, Err: c.advice.Error()})
		return err
	}
	if ev := c.advice.Unheeded(); ev != nil {
		c.env.Console.Event(*ev)
	}
	c.advice = nil
	if err == io.EOF {
		if c.failed {
			return SomeFailed()
		}
		return nil
	}
	if c.deadline.Ctx.Err() != nil {
		c.cancel()
		return c.timeoutHint(env.Cause(c.deadline.Ctx, err))
	}
	c.lost = true
	return c.missingResults(named(err, c.Method))
}

// cancel tells the peer that the rest is not wanted.
func (c *Consumer) cancel() {
	c.print.Idle() // output must not wait for the peer
	ctx, done := env.Farewell(c.deadline.Ctx)
	defer done()
	_ = c.stream.Cancel(ctx)
}

// message handles one message; stop says that no more are wanted.
func (c *Consumer) message(m *wire.Message) (stop bool, err error) {
	c.deadline.Touch()
	ctx := c.deadline.Ctx
	if c.Choose {
		ok, err := c.print.Selects(ctx, m)
		if err != nil || !ok {
			return err != nil, err
		}
	}
	if c.Stream && c.opens(m) {
		return false, nil
	}
	ev := &c.shown
	err = c.event(m, ev)
	switch {
	case err != nil:
		return true, err
	case c.opens(m) && ev.Kind != wire.Progress:
		c.opening = string(m.Body)
		return false, nil
	case c.Stream && ev.Kind == wire.Progress && ev.Data != nil: // of a stream, the data of progress is what the user wants
		ev.Kind, ev.Message, ev.Fraction = wire.Data, "", nil
	}
	if c.opening = ""; c.opens(m) {
		c.opening = string(m.Body)
	}
	if err := c.checkDeclared(ctx, ev); err != nil {
		return true, err
	}
	c.job = startedJob(m, ev)
	if c.KeepLast && ev.Kind == wire.Data {
		c.Last = bytes.Clone(ev.Data)
	}
	if c.KeepRaw && ev.Kind == wire.Data {
		c.Raw = bytes.Clone(m.Raw)
	}
	if ev.Kind == wire.Data && !c.said.data.Load() {
		c.said.data.Store(true)
	}
	if ev.Kind != wire.Failure {
		c.Answers.Put(*m)
	}
	if ev.Kind == wire.Guidance && ev.Fix == nil && ev.Extra != nil {
		var shown wire.Event
		given := *ev // which the advice keeps
		c.advice, shown = dialects.NewAdvice(c.env.Line, c.Method, c.Catalog, &given)
		*ev = given // with the command that would work
		c.env.Console.Event(shown)
	} else if ev.Kind != wire.Data {
		c.env.Console.Event(*ev)
	}
	if ev.Kind == wire.Failure && ev.Err != nil && ev.Err.Kind == "" && c.advice != nil {
		ev.Err.Kind = c.advice.Kind
	}
	c.newType(ev)
	if m.Final || ev.Final {
		if err := c.finishNotifications(); err != nil {
			return true, err
		}
		ev.Result = c.Notifications != nil
	}
	stop, err = c.print.Print(ctx, m, ev)
	if err != nil {
		return true, err
	}
	switch last := m.Final || ev.Final; {
	case ev.Kind != wire.Failure:
		return stop, nil
	case m.Kind == wire.Item && !last && !c.Watch:
		return c.afterError(ctx, *ev)
	case last || !c.Watch:
		return c.failure(ctx, scan.Get(m.Raw, "id"), *ev)
	}
	return stop, nil
}

// checkDeclared returns an error if data does not fit the schema that the peer has
// given.
func (c *Consumer) checkDeclared(ctx context.Context, ev *wire.Event) error {
	if c.result == nil || ev.Kind != wire.Data {
		return nil
	}
	data := ev.Data
	if c.Within != "" {
		if data = scan.Get(data, c.Within); data == nil { // the event is one of a failure, which has no such member
			return nil
		}
	}
	if err := c.result.Check(ctx, data); err != nil {
		if ctx.Err() != nil {
			return env.Cause(ctx, err)
		}
		return unfit(c.Method, err)
	}
	return nil
}

// opens reports whether m is only the answer that opens a stream.
func (c *Consumer) opens(m *wire.Message) bool {
	return (c.Stream || !c.Many) && !c.Watch && m.Kind == wire.Response && m.Err == nil && !m.Final
}

// event sets ev to what a user sees of m. A message that --select chose becomes
// data, whatever it is, and keeps its event's name, number and time.
func (c *Consumer) event(m *wire.Message, ev *wire.Event) error {
	err := c.conv.Event(m, ev)
	if !c.Choose || m.Raw == nil {
		return err
	}
	chosen := wire.Event{Kind: wire.Data, Data: m.Raw}
	if err == nil {
		chosen.Method, chosen.Seq, chosen.Time = ev.Method, ev.Seq, ev.Time
	}
	*ev = chosen
	return nil
}

// failure handles an error event in answer to id: it meets an expectation, or
// it is the outcome.
func (c *Consumer) failure(ctx context.Context, id wire.ID, ev wire.Event) (stop bool, err error) {
	met, err := c.print.Error(ctx, ev.Err)
	if met || err != nil {
		return !c.Many, err
	}
	f := c.advice.Explain(rpcFault(c.Method, ev.Err))
	if c.Many {
		c.failed = true
		if len(id) > 0 && string(id) != "null" {
			f.Message = format.CleanLine(string(id)) + ": " + f.Message
		}
		c.env.Console.Error(f, cmdline.StatusOf(f.Kind).Code)
		return false, nil
	}
	return true, f
}

// newType notes, once, a type of event that the dialect does not have. Such an
// event is printed as data.
func (c *Consumer) newType(ev *wire.Event) {
	const most = 20 // a peer can make up any number
	if ev.Kind != wire.Data || ev.Topic == "" || c.types[ev.Topic] || len(c.types) == most {
		return
	}
	if c.types == nil {
		c.types = map[string]bool{}
	}
	c.types[ev.Topic] = true
	c.env.Console.Warn("the peer sends events of the type " + strconv.Quote(ev.Topic) + ", which the protocol does not have")
}

// Waited returns err, the outcome of a call; if the call has begun a job
// instead of answering, it waits for the job.
func (c *Consumer) Waited(err error) error {
	if err != nil || c.job == "" {
		return err
	}
	st, err := c.conv.Open(c.deadline.Ctx, waitFor(c.job))
	if err != nil {
		return env.Cause(c.deadline.Ctx, err)
	}
	return c.Read(st)
}

// waitFor returns the operation that waits for a job which a call has begun.
func waitFor(job string) dialect.Op {
	return dialect.Op{Kind: dialect.JobWait, Job: job, Extra: json.RawMessage(`{"bare":true}`)}
}

// startedJob returns the job that an event says has begun with the call that it
// answers; "" for none.
func startedJob(m *wire.Message, ev *wire.Event) string {
	if ev.Kind != wire.Progress || m.Kind != wire.Response || !m.Final {
		return ""
	}
	job, _ := scan.Text(ev.Job)
	return job
}
