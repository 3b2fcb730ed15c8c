package request

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
	"rpcx/wire/session"
)

// SomeFailed returns the outcome of a batch with error responses, which rpcx has printed.
func SomeFailed() error {
	return wire.NewFault(wire.RPCError, "some calls of the batch failed", nil)
}

// end returns the outcome at the end of the stream.
func (c *ResponsePrinter) end(err error) error {
	if c.grace.failed() {
		return c.finish()
	}
	if err == io.EOF && c.advice.IsFailure() && !c.data.Load() && c.Watch == nil {
		_, err := c.failure(c.deadline.Ctx, nil, wire.Event{Kind: wire.Failure, Err: c.advice.Error()})
		return err
	}
	if ev := c.advice.Unheeded(); ev != nil {
		c.env.Console.Event(*ev)
	}
	c.advice = nil
	if err == io.EOF {
		if c.state == someFailed {
			return SomeFailed()
		}
		if c.WatchEnds {
			c.state = lost
		}
		return nil
	}
	if c.deadline.Ctx.Err() != nil {
		c.cancel(c.stream)
		return c.timeoutHint(env.Cause(c.deadline.Ctx, err))
	}
	c.state = lost
	return c.missingResults(named(err, c.Method))
}

// cancel cancels st.
func (c *ResponsePrinter) cancel(st dialect.Stream) {
	c.print.Idle() // output must not wait for the peer
	cancelStream(c.deadline.Ctx, st)
}

// message handles one message: it classifies, checks, stores and shows it, and may determine the outcome. stop ends the
// reading.
func (c *ResponsePrinter) message(m *wire.Message) (stop bool, err error) {
	c.deadline.Received()
	ctx := c.deadline.Ctx
	ev, err := c.classifier.classify(ctx, &c.ReadOptions, c.conv, c.print, m)
	if ev == nil || err != nil {
		return err != nil, err
	}
	if err := c.check(ctx, ev); err != nil {
		return true, err
	}
	c.keep(&c.ReadOptions, m, ev)
	c.show(c.env, c.Method, c.Catalog, ev)
	c.count(ev)
	last := m.Final || ev.Final
	if last {
		if err := c.finishNotifications(); err != nil {
			return true, err
		}
		ev.Result = c.Notifications != nil
	}
	if stop, err = c.print.Print(ctx, m, ev); err != nil {
		return true, err
	}
	switch {
	case ev.Kind != wire.Failure:
		return stop, nil
	case m.Kind == wire.Item && !last && c.Watch == nil:
		return c.afterError(ctx, *ev)
	case last || c.Watch == nil:
		return c.failure(ctx, scan.Get(m.Raw, "id"), *ev)
	}
	return stop, nil
}

// check returns an error for data that does not match the peer's schema.
func (c *ResponsePrinter) check(ctx context.Context, ev *wire.Event) error {
	if c.result == nil || ev.Kind != wire.Data {
		return nil
	}
	data := ev.Data
	if c.Within != "" {
		if data = scan.Get(data, c.Within); data == nil { // the event of a failure has no such member
			return nil
		}
	}
	err := c.result.Check(ctx, data)
	if err == nil || ctx.Err() != nil {
		return env.Cause(ctx, err)
	}
	return &wire.Fault{
		Kind: wire.Expectation, Method: c.Method, Err: err,
		Message: "the result of " + format.CleanLine(c.Method) + " does not match the peer's schema: " + err.Error(),
		Hint:    "accept it with --no-check",
	}
}

// failure handles an error event in the response to id. The event meets an expectation or is the outcome.
func (c *ResponsePrinter) failure(ctx context.Context, id wire.ID, ev wire.Event) (stop bool, err error) {
	met, err := c.print.Error(ctx, ev.Err)
	if met || err != nil {
		return !c.Many, err
	}
	f := c.advice.Explain(rpcFault(c.Method, ev.Err))
	if c.Many {
		c.state = someFailed
		if len(id) > 0 && string(id) != "null" {
			f.Message = format.CleanLine(string(id)) + ": " + f.Message
		}
		c.env.Console.Error(f, cmdline.StatusOf(f.Kind).Code)
		return false, nil
	}
	return true, f
}

// waitFor returns the operation that waits for a job that a call started.
func waitFor(job string) dialect.Op {
	return dialect.Op{Kind: dialect.JobWait, Job: job, Extra: json.RawMessage(`{"bare":true}`)}
}

// rpcFault returns the Fault for an error from the peer.
func rpcFault(method string, e *wire.Error) *wire.Fault {
	return &wire.Fault{
		Kind: wire.RPCError, Method: method, RPC: e, Retryable: e.Retryable, Hint: e.Hint,
		Message: strings.TrimPrefix(method+": "+errorText(e), ": "), // without a method, only the text
	}
}

// errorText returns an error's message and code, and its class, if any.
func errorText(e *wire.Error) string {
	kind, ok := scan.Text(scan.Get(e.Raw, "kind"))
	code, isText := scan.Text(e.Code)
	if !ok || !isText || kind != e.Kind {
		return e.Error()
	}
	return fmt.Sprintf("%s (%s, code %s)", e.Message, kind, code)
}

// named returns err with the name of its method.
func named(err error, method string) error {
	f := wire.AsFault(err)
	if f == nil {
		return err
	}
	return f.WithMethod(method)
}

// A classifier is the first stage of reading a response: it converts messages to events. All messages share one event.
type classifier struct {
	event   wire.Event
	opening string // the response that opened the stream, until the first item, or ""
}

// classify returns the event of m, which is valid until the next call. It returns nil if m only opens the stream, or if
// --select excludes it.
func (c *classifier) classify(ctx context.Context, o *ReadOptions, conv session.Conversation, print *format.Pipeline, m *wire.Message) (*wire.Event, error) {
	if o.Choose {
		if ok, err := print.Selects(ctx, m); err != nil || !ok {
			return nil, err
		}
	}
	if o.Stream && o.opens(m) {
		return nil, nil
	}
	ev := &c.event
	if err := o.eventOf(conv, m, ev); err != nil {
		return nil, err
	}
	c.opening = ""
	if o.opens(m) {
		if c.opening = string(m.Body); ev.Kind != wire.Progress {
			return nil, nil
		}
	}
	if o.Stream && ev.Kind == wire.Progress && ev.Data != nil { // in a stream, the user wants the data of progress
		ev.Kind, ev.Message, ev.Fraction = wire.Data, "", nil
	}
	return ev, nil
}

// opens reports whether m is only the response that opens a stream.
func (o *ReadOptions) opens(m *wire.Message) bool {
	return (o.Stream || !o.Many) && o.Watch == nil && m.Kind == wire.Response && m.Err == nil && !m.Final
}

// eventOf sets ev to the user's event for m. A message of --select becomes data, and keeps its event's name, number and
// time.
func (o *ReadOptions) eventOf(conv session.Conversation, m *wire.Message, ev *wire.Event) error {
	err := conv.Event(m, ev)
	if !o.Choose || m.Raw == nil {
		return err
	}
	chosen := wire.Event{Kind: wire.Data, Data: m.Raw}
	if err == nil {
		chosen.Method, chosen.Seq, chosen.Time = ev.Method, ev.Seq, ev.Time
	}
	*ev = chosen
	return nil
}
