package request

import (
	"cmp"
	"context"
	"strings"
	"time"

	"rpcx/commands/env"
	"rpcx/commands/params"
	"rpcx/commands/suggest"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/all"
	"rpcx/wire/schema"
	"rpcx/wire/session"
)

// ReadOptions describe how to read a response. The zero value reads a plain call.
type ReadOptions struct {
	Method        string
	Watch         *dialect.Op // selects notifications to print; nil for only the response
	WatchEnds     bool        // Watch ends with the response to its request, because the peer sends nothing else
	Choose        bool        // --select was given
	Stream        bool        // a stream follows the response
	Many          bool        // there are several responses, and reading continues after an error
	KeepLast      bool
	KeepRaw       bool
	CheckResult   bool             // data must match the schema in Catalog
	Jobs          bool             // if the call starts a job, wait for the job's result
	Within        string           // the member of the data that the schema describes, or "" for all data
	Notifications *dialect.Op      // a Watch that ends with the response; may be nil
	What          string           // the name of the request for a hint, if the dialect cannot cancel it, or ""
	Grace         time.Duration    // bounds the wait for a stream's end after an error (1 s by default)
	Answers       *AnswerCache     // stores the response; may be nil
	Catalog       *catalog.Catalog // the peer's catalog; may be nil
}

// A ResponsePrinter prints the events of one call or stream to its end. Each message passes the stages of the method
// message, each of which has its own state.
type ResponsePrinter struct {
	ReadOptions
	Kept
	classifier
	commentary

	env      *env.Env
	conv     session.Conversation
	stream   dialect.Stream
	print    *format.Pipeline
	deadline *env.Deadline

	result        *schema.Schema // the schema for data, or nil
	state         readState
	grace         grace                // the grace period after a failure
	notifications *notificationPrinter // prints the messages for ReadOptions.Notifications; may be nil
}

// A readState is the worst outcome so far.
type readState uint8

const (
	nothingWrong readState = iota
	someFailed             // with Many, a response was an error
	lost                   // the connection, or the request's exchange (WatchEnds), ended
	incomplete             // events were lost because the ring of the session was full
)

// NewResponsePrinter returns a ResponsePrinter for one request of a conversation. It prints to print. d bounds its
// waits.
func NewResponsePrinter(run *env.Env, conv session.Conversation, print *format.Pipeline, d *env.Deadline) *ResponsePrinter {
	return &ResponsePrinter{env: run, conv: conv, print: print, deadline: d}
}

// Reset returns a ResponsePrinter for the conversation's next request, and restarts the idle timer.
func (c *ResponsePrinter) Reset() *ResponsePrinter {
	c.deadline.Touch()
	return NewResponsePrinter(c.env, c.conv, c.print, c.deadline)
}

// Describe returns the peer's catalog.
func (c *ResponsePrinter) Describe() (*catalog.Catalog, error) {
	return c.conv.Describe(c.deadline.Ctx)
}

// Do sends op and prints the response to its end. If events of a stream were lost, it returns a Fault.
func (c *ResponsePrinter) Do(op dialect.Op) (err error) {
	if !c.Stream {
		return c.do(op)
	}
	waiting, done := context.WithCancel(c.deadline.Ctx)
	defer done()
	go c.warnWaiting(waiting)
	if c.Watch != nil {
		err = c.doWatching(op)
	} else {
		err = c.endStream(c.do(op))
	}
	if lossy, _ := c.env.Line.Value("lossy").(bool); err != nil || c.state != incomplete || lossy {
		return err
	}
	return wire.NewFault(wire.Closed, "events were lost because the ring of the session was full", nil).WithHint("accept this with --lossy")
}

func (c *ResponsePrinter) do(op dialect.Op) error {
	if err := c.startNotifications(); err != nil {
		return err
	}
	defer func() { _ = c.finishNotifications() }()
	st, err := c.conv.Open(c.deadline.Ctx, op)
	if err != nil || st == nil { // a message without an id has no response
		return env.Cause(c.deadline.Ctx, err)
	}
	if c.CheckResult && c.Catalog != nil && all.Named(c.conv.Dialect()).Params.Typed {
		c.result = params.ForResult(c.Catalog, op.Method, c.env.Console.Warn)
	}
	return c.Read(st)
}

// Read prints the events of st to its end. With Jobs, it also prints the events of the job that st started.
func (c *ResponsePrinter) Read(st dialect.Stream) error {
	err := c.read(st)
	if err != nil || !c.Jobs || c.job == "" {
		return err
	}
	st, err = c.conv.Open(c.deadline.Ctx, waitFor(c.job))
	if err != nil {
		return env.Cause(c.deadline.Ctx, err)
	}
	return c.read(st)
}

func (c *ResponsePrinter) read(st dialect.Stream) error {
	c.stream = st
	err := c.run()
	if c.What == "" {
		return err
	}
	return noCancelHint(all.Named(c.conv.Dialect()), err, c.What)
}

// Suggest adds a fix to err, an error from the peer, if a fix is known.
func (c *ResponsePrinter) Suggest(err error) {
	f := wire.AsFault(err)
	if f == nil || f.Kind != wire.RPCError {
		return
	}
	suggest.Call(c.env, f, c.Catalog, all.Named(c.conv.Dialect()).Jobs != nil)
	if c.Catalog == nil {
		suggest.Job(c.env, f, c.jobs(f).Method(f.Method))
	}
}

// A Waiter is a stream that knows whether a message is ready. Without it, the output is flushed after each message.
type Waiter interface{ Waiting() bool }

// A queuer is a stream that can return many messages at once.
type queuer interface{ Queued() []wire.Message }

// run reads the stream to its end. It returns the outcome of the command without the expectations that the pipeline
// checks at the end.
//
// The garbage collector's target stays at 100 (GOGC), which users can set. Printing a stream, or a path of each value,
// does not allocate, and the target has no effect. With gojq, 200 saves 3 to 14 % of the processor's time and costs 10
// to 17 MB in addition to 50; 400 saves up to 18 % and costs 5 to 55 MB (scripts/bench --json --row gogc).
func (c *ResponsePrinter) run() error {
	waiting, _ := c.stream.(Waiter)
	queue, _ := c.stream.(queuer)
	over := c.env.Waiting(strings.TrimSuffix("the response to "+c.Method, " to "))
	defer func() { over() }()
	var m wire.Message // all messages share this memory
	for {
		if waiting == nil || !waiting.Waiting() {
			c.print.Idle()
		}
		var err error
		m, err = c.stream.Next(cmp.Or(c.grace.ctx, c.deadline.Ctx))
		if err != nil {
			return c.end(err)
		}
		over()
		over = func() {}
		stop, err := c.message(&m)
		if queue != nil && !stop && err == nil {
			stop, err = c.backlog(queue.Queued())
		}
		if stop || err != nil {
			c.cancel(c.stream)
			return env.Cause(c.deadline.Ctx, err)
		}
	}
}

// backlog handles messages that arrived together.
func (c *ResponsePrinter) backlog(msgs []wire.Message) (stop bool, err error) {
	if c.print.UsesWorkers(msgs) {
		c.print.StartWorkers(c.deadline.Ctx, msgs, func(m *wire.Message, ev *wire.Event) error { return c.eventOf(c.conv, m, ev) })
		defer c.print.StopWorkers()
	}
	for i := 0; i < len(msgs) && !stop && err == nil; i++ {
		stop, err = c.message(&msgs[i])
	}
	return stop, err
}

// jobs returns the peer's description of a method whose call the peer may have refused because the method is a job. It
// returns nil in dialects that start jobs with plain calls.
func (c *ResponsePrinter) jobs(f *wire.Fault) *catalog.Catalog {
	if jobs := all.Named(c.conv.Dialect()).Jobs; !suggest.WantsJob(f) || jobs == nil || jobs.Call == nil {
		return nil
	}
	ctx, done := context.WithTimeout(c.deadline.Ctx, descriptionTimeout)
	defer done()
	cat, err := c.conv.Typing(ctx, f.Method)
	if err != nil {
		return nil
	}
	return cat
}
