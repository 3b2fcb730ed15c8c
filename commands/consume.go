package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
	"rpcx/wire/schema"
	"rpcx/wire/session"
)

// A consumer prints the events of one call or stream until it ends.
type consumer struct {
	app      *app
	conv     session.Conversation
	stream   dialect.Stream
	print    *format.Pipeline
	deadline *deadline
	method   string
	watch    bool // what comes unasked is taken: --method or --select is given
	choose   bool // --select is given
	// answers is where an answer may be kept; nil: none is.
	answers *answerCache
	lasts   bool   // the stream is not over with one answer
	many    bool   // one answer's failure is not the end of the others
	failed  bool   // with many: some answer was one
	lost    bool   // the connection ended
	job     string // that the last message said has begun; "": it said no such thing
	// keepLast has the last data kept in last.
	keepLast bool
	last     json.RawMessage
	result   *schema.Schema // what data must fit; nil: whatever comes
	within   string         // the member of data that result is about; "": all of it
	opening  string         // the answer that opened the stream, as long as nothing has come of it
	grace    grace
	advice   *advice          // of the last guidance; nil: none
	cat      *catalog.Catalog // what is known of the peer; nil: nothing
	types    map[string]bool  // of events that no dialect of ours has, which were named
}

// waiter is a stream that knows whether a message waits.
type waiter interface{ Waiting() bool }

// run reads to the end. What it returns is the outcome of the command, but for
// what Finish of the pipeline says.
func (c *consumer) run() error {
	waiting, _ := c.stream.(waiter)
	for {
		if waiting == nil || !waiting.Waiting() {
			c.print.Idle()
		}
		m, err := c.stream.Next(c.waitContext())
		if err != nil {
			return c.end(err)
		}
		c.deadline.touch()
		stop, err := c.message(m)
		if stop || err != nil {
			c.cancel()
			return cause(c.deadline.ctx, err)
		}
	}
}

// end is the outcome when no more messages come.
func (c *consumer) end(err error) error {
	if c.grace.failed {
		return c.finish()
	}
	if ev := c.advice.unheeded(); ev != nil {
		c.app.console.Event(*ev)
	}
	c.advice = nil
	if errors.Is(err, io.EOF) {
		if c.failed {
			return errBatch()
		}
		return nil
	}
	if c.deadline.ctx.Err() != nil {
		c.cancel()
		return c.timeoutHint(cause(c.deadline.ctx, err))
	}
	c.lost = true
	return named(err, c.method)
}

// cancel tells the far side that nobody wants the rest.
func (c *consumer) cancel() {
	c.print.Idle() // what was printed does not wait for the far side
	ctx, done := farewellContext(c.deadline.ctx)
	defer done()
	_ = c.stream.Cancel(ctx)
}

// message takes one message; stop says that no more are wanted.
func (c *consumer) message(m wire.Message) (stop bool, err error) {
	ctx := c.deadline.ctx
	if c.choose {
		ok, err := c.print.Selects(ctx, m)
		if err != nil || !ok {
			return err != nil, err
		}
	}
	if c.lasts && c.opens(m) {
		return false, nil
	}
	ev, err := c.event(m)
	switch {
	case err != nil:
		return true, err
	case c.opens(m) && ev.Kind != wire.Progress:
		c.opening = string(m.Body)
		return false, nil
	case c.lasts && ev.Kind == wire.Progress && ev.Data != nil: // what a call's progress carries is what a stream is read for
		ev.Kind, ev.Message, ev.Fraction = wire.Data, "", nil
	}
	if c.opening = ""; c.opens(m) {
		c.opening = string(m.Body)
	}
	if err := c.promised(ev); err != nil {
		return true, err
	}
	c.job = startedJob(m, ev)
	if c.keepLast && ev.Kind == wire.Data {
		c.last = bytes.Clone(ev.Data)
	}
	c.answers.put(m)
	if ev.Kind == wire.Guidance && ev.Fix == nil && ev.Extra != nil {
		var shown wire.Event
		c.advice, shown = newAdvice(c.app.line, c.method, c.cat, &ev)
		c.app.console.Event(shown)
	} else {
		c.app.console.Event(ev)
	}
	if ev.Kind == wire.Failure && ev.Err != nil && ev.Err.Kind == "" && c.advice != nil {
		ev.Err.Kind = c.advice.kind
	}
	c.newType(ev)
	stop, err = c.print.Print(ctx, m, ev)
	if err != nil {
		return true, err
	}
	switch last := m.Final || ev.Final; {
	case ev.Kind != wire.Failure:
		return stop, nil
	case m.Kind == wire.Item && !last && !c.watch:
		return c.afterError(ctx, ev)
	case last || !c.watch:
		return c.failure(ctx, ev)
	}
	return stop, nil
}

// promised says whether data is what the peer has promised.
func (c *consumer) promised(ev wire.Event) error {
	if c.result == nil || ev.Kind != wire.Data {
		return nil
	}
	data := ev.Data
	if c.within != "" {
		if data = scan.Get(data, c.within); data == nil { // of what failed
			return nil
		}
	}
	if err := c.result.Check(data); err != nil {
		return unfit(c.method, err)
	}
	return nil
}

// opens says that m is but the answer that opens a stream.
func (c *consumer) opens(m wire.Message) bool {
	return (c.lasts || !c.many) && !c.watch && m.Kind == wire.Response && m.Err == nil && !m.Final
}

// event is what a user sees of m. What --select chose is data, whatever it is.
func (c *consumer) event(m wire.Message) (wire.Event, error) {
	if c.choose && m.Raw != nil {
		return wire.Event{Kind: wire.Data, Data: m.Raw}, nil
	}
	return c.conv.Event(m)
}

// failure is an error event: expected, or the outcome.
func (c *consumer) failure(ctx context.Context, ev wire.Event) (stop bool, err error) {
	met, err := c.print.Error(ctx, ev.Err)
	if met || err != nil {
		return !c.many, err
	}
	f := c.advice.explain(rpcFault(c.method, ev.Err))
	if c.many {
		c.failed = true
		c.app.console.Error(f, statusOf(f.Kind).code)
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
func (c *consumer) newType(ev wire.Event) {
	const most = 20 // a peer can think of more
	if ev.Kind != wire.Data || ev.Topic == "" || c.types[ev.Topic] || len(c.types) == most {
		return
	}
	if c.types == nil {
		c.types = map[string]bool{}
	}
	c.types[ev.Topic] = true
	c.app.console.Warn(unknownType(ev.Topic))
}
