package request

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"rpcx/commands/cmdline"
	"rpcx/commands/dialects"
	"rpcx/commands/env"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
	"rpcx/wire/schema"
	"rpcx/wire/session"
)

// ErrSomeFailed is the outcome where some calls of many were answered with errors,
// which have been shown.
func ErrSomeFailed() error {
	return wire.NewFault(wire.RPCError, "some calls of the batch failed", nil)
}

// A Consumer prints the events of one call or stream until it ends.
type Consumer struct {
	App      *env.Env
	Conv     session.Conversation
	Stream   dialect.Stream
	Print    *format.Pipeline
	Deadline *env.Deadline
	Method   string
	Watch    bool // what comes unasked is taken: --method or --select is given
	Choose   bool // --select is given
	// answers is where an answer may be kept; nil: none is.
	Answers *dialects.AnswerCache
	Lasts   bool   // the stream is not over with one answer
	Many    bool   // one answer's failure is not the end of the others
	failed  bool   // with many: some answer was one
	lost    bool   // the connection ended
	job     string // that the last message said has begun; "": it said no such thing
	// keepLast has the last data kept in last.
	KeepLast bool
	Last     json.RawMessage
	result   *schema.Schema // what data must fit; nil: whatever comes
	Within   string         // the member of data that result is about; "": all of it
	opening  string         // the answer that opened the stream, as long as nothing has come of it
	Grace    grace
	advice   *dialects.Advice // of the last guidance; nil: none
	Cat      *catalog.Catalog // what is known of the peer; nil: nothing
	types    map[string]bool  // of events that no dialect of ours has, which were named
}

// Waiter is a stream that knows whether a message waits.
type Waiter interface{ Waiting() bool }

// Run reads to the end. What it returns is the outcome of the command, but for
// what Finish of the pipeline says.
func (c *Consumer) Run() error {
	waiting, _ := c.Stream.(Waiter)
	for {
		if waiting == nil || !waiting.Waiting() {
			c.Print.Idle()
		}
		m, err := c.Stream.Next(c.waitContext())
		if err != nil {
			return c.end(err)
		}
		c.Deadline.Touch()
		stop, err := c.message(m)
		if stop || err != nil {
			c.cancel()
			return env.Cause(c.Deadline.Ctx, err)
		}
	}
}

// end is the outcome when no more messages come.
func (c *Consumer) end(err error) error {
	if c.Grace.failed {
		return c.finish()
	}
	if ev := c.advice.Unheeded(); ev != nil {
		c.App.Console.Event(*ev)
	}
	c.advice = nil
	if errors.Is(err, io.EOF) {
		if c.failed {
			return ErrSomeFailed()
		}
		return nil
	}
	if c.Deadline.Ctx.Err() != nil {
		c.cancel()
		return c.timeoutHint(env.Cause(c.Deadline.Ctx, err))
	}
	c.lost = true
	return named(err, c.Method)
}

// cancel tells the far side that nobody wants the rest.
func (c *Consumer) cancel() {
	c.Print.Idle() // what was printed does not wait for the far side
	ctx, done := env.Farewell(c.Deadline.Ctx)
	defer done()
	_ = c.Stream.Cancel(ctx)
}

// message takes one message; stop says that no more are wanted.
func (c *Consumer) message(m wire.Message) (stop bool, err error) {
	ctx := c.Deadline.Ctx
	if c.Choose {
		ok, err := c.Print.Selects(ctx, m)
		if err != nil || !ok {
			return err != nil, err
		}
	}
	if c.Lasts && c.opens(m) {
		return false, nil
	}
	ev, err := c.event(m)
	switch {
	case err != nil:
		return true, err
	case c.opens(m) && ev.Kind != wire.Progress:
		c.opening = string(m.Body)
		return false, nil
	case c.Lasts && ev.Kind == wire.Progress && ev.Data != nil: // what a call's progress carries is what a stream is read for
		ev.Kind, ev.Message, ev.Fraction = wire.Data, "", nil
	}
	if c.opening = ""; c.opens(m) {
		c.opening = string(m.Body)
	}
	if err := c.promised(ev); err != nil {
		return true, err
	}
	c.job = StartedJob(m, ev)
	if c.KeepLast && ev.Kind == wire.Data {
		c.Last = bytes.Clone(ev.Data)
	}
	c.Answers.Put(m)
	if ev.Kind == wire.Guidance && ev.Fix == nil && ev.Extra != nil {
		var shown wire.Event
		c.advice, shown = dialects.NewAdvice(c.App.Line, c.Method, c.Cat, &ev)
		c.App.Console.Event(shown)
	} else {
		c.App.Console.Event(ev)
	}
	if ev.Kind == wire.Failure && ev.Err != nil && ev.Err.Kind == "" && c.advice != nil {
		ev.Err.Kind = c.advice.Kind
	}
	c.newType(ev)
	stop, err = c.Print.Print(ctx, m, ev)
	if err != nil {
		return true, err
	}
	switch last := m.Final || ev.Final; {
	case ev.Kind != wire.Failure:
		return stop, nil
	case m.Kind == wire.Item && !last && !c.Watch:
		return c.afterError(ctx, ev)
	case last || !c.Watch:
		return c.failure(ctx, ev)
	}
	return stop, nil
}

// promised says whether data is what the peer has promised.
func (c *Consumer) promised(ev wire.Event) error {
	if c.result == nil || ev.Kind != wire.Data {
		return nil
	}
	data := ev.Data
	if c.Within != "" {
		if data = scan.Get(data, c.Within); data == nil { // of what failed
			return nil
		}
	}
	if err := c.result.Check(data); err != nil {
		return unfit(c.Method, err)
	}
	return nil
}

// opens says that m is but the answer that opens a stream.
func (c *Consumer) opens(m wire.Message) bool {
	return (c.Lasts || !c.Many) && !c.Watch && m.Kind == wire.Response && m.Err == nil && !m.Final
}

// event is what a user sees of m. What --select chose is data, whatever it is.
func (c *Consumer) event(m wire.Message) (wire.Event, error) {
	if c.Choose && m.Raw != nil {
		return wire.Event{Kind: wire.Data, Data: m.Raw}, nil
	}
	return c.Conv.Event(m)
}

// failure is an error event: expected, or the outcome.
func (c *Consumer) failure(ctx context.Context, ev wire.Event) (stop bool, err error) {
	met, err := c.Print.Error(ctx, ev.Err)
	if met || err != nil {
		return !c.Many, err
	}
	f := c.advice.Explain(rpcFault(c.Method, ev.Err))
	if c.Many {
		c.failed = true
		c.App.Console.Error(f, cmdline.StatusOf(f.Kind).Code)
		return false, nil
	}
	return true, f
}

// rpcFault is the failure of a call that the peer answered with an error.
func rpcFault(method string, e *wire.Error) *wire.Fault {
	f := &wire.Fault{
		Kind: wire.RPCError, Method: method, RPC: e, Retryable: e.Retryable,
		Message: fmt.Sprintf("%s: %s", method, errorText(e)),
	}
	if method == "" {
		f.Message = errorText(e)
	}
	return f
}

// errorText is what an error says, with its class where the error itself names
// one.
func errorText(e *wire.Error) string {
	kind, ok := scan.Text(scan.Get(e.Raw, "kind"))
	code, isText := scan.Text(e.Code)
	if !ok || !isText || kind != e.Kind {
		return e.Error()
	}
	return fmt.Sprintf("%s (%s, code %s)", e.Message, kind, code)
}

// named says which call a failure ended.
func named(err error, method string) error {
	f := wire.AsFault(err)
	if f == nil || method == "" || f.Method != "" {
		return err
	}
	g := *f
	g.Method = method
	return &g
}

// newType names, once, a type of event that the dialect does not have. Such an
// event is passed on as data.
func (c *Consumer) newType(ev wire.Event) {
	const most = 20 // a peer can think of more
	if ev.Kind != wire.Data || ev.Topic == "" || c.types[ev.Topic] || len(c.types) == most {
		return
	}
	if c.types == nil {
		c.types = map[string]bool{}
	}
	c.types[ev.Topic] = true
	c.App.Console.Warn(dialects.UnknownType(ev.Topic))
}

// Waited goes on with a call that was answered by a job: it is waited for.
func (c *Consumer) Waited(err error) error {
	if err != nil || c.job == "" {
		return err
	}
	st, err := c.Conv.Open(c.Deadline.Ctx, WaitFor(c.job))
	if err != nil {
		return env.Cause(c.Deadline.Ctx, err)
	}
	c.Stream = st
	return c.Run()
}

// WaitFor is the operation that waits for a job which a call has begun.
func WaitFor(job string) dialect.Op {
	return dialect.Op{Kind: dialect.JobWait, Job: job, Extra: json.RawMessage(`{"bare":true}`)}
}

// StartedJob is the job that an event says was begun by the call that it answers;
// "" for none.
func StartedJob(m wire.Message, ev wire.Event) string {
	if ev.Kind != wire.Progress || m.Kind != wire.Response || !m.Final {
		return ""
	}
	job, _ := scan.Text(ev.Job)
	return job
}
