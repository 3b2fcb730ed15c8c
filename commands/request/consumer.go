package request

import (
	"encoding/json"
	"time"

	"rpcx/commands/dialects"
	"rpcx/commands/env"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/all"
	"rpcx/wire/schema"
	"rpcx/wire/session"
)

// A Reading says how an answer is read. Its zero value is that of a call.
type Reading struct {
	Method      string
	Watch       bool             // what comes unasked is taken: --method or --select is given
	Choose      bool             // --select is given
	Stream      bool             // the answer is not the end: a stream follows
	Many        bool             // one answer's failure is not the end of the others
	KeepLast    bool             // Last is kept
	CheckResult bool             // data must fit what Catalog promises
	Within      string           // the member of the data that the promise is about; "": all of it
	Beside      *dialect.Op      // a Watch whose messages are printed until the answer comes; nil: none are
	What        string           // was asked for, where a dialect cannot cancel it; "": nothing is said of that
	Grace       time.Duration    // how long a stream's end is waited for after an error in it; 0: a second
	Answers     *AnswerCache     // where an answer may be kept; nil: none is
	Catalog     *catalog.Catalog // what is known of the peer; nil: nothing
}

// A Consumer prints the events of one call or stream until it ends.
type Consumer struct {
	Reading
	Last json.RawMessage // the last data, with KeepLast

	env      *env.Env
	conv     session.Conversation
	stream   dialect.Stream
	print    *format.Pipeline
	deadline *env.Deadline

	unchecked bool           // --no-check is given
	result    *schema.Schema // what data must fit; nil: whatever comes
	failed    bool           // with Many: some answer was one
	lost      bool           // the connection ended
	job       string         // that the last message said has begun; "": it said no such thing
	opening   string         // the answer that opened the stream, as long as nothing has come of it
	grace     grace
	beside    *bystander       // reads Beside; nil: nothing is read
	advice    *dialects.Advice // of the last guidance; nil: none
	data      bool             // some came
	types     map[string]bool  // of events that no dialect of ours has, which were named
}

// NewConsumer returns a consumer for a conversation, which prints to print for as
// long as d allows.
func NewConsumer(run *env.Env, conv session.Conversation, print *format.Pipeline, d *env.Deadline) *Consumer {
	return &Consumer{env: run, conv: conv, print: print, deadline: d}
}

// Another returns a consumer for a further request in the same conversation.
// --idle counts from now on.
func (c *Consumer) Another() *Consumer {
	c.deadline.Touch()
	return NewConsumer(c.env, c.conv, c.print, c.deadline)
}

// Dialect returns the name of the dialect that is spoken.
func (c *Consumer) Dialect() string { return c.conv.Dialect() }

// Describe returns what the peer offers.
func (c *Consumer) Describe() (*catalog.Catalog, error) { return c.conv.Describe(c.deadline.Ctx) }

// Do sends op and prints what comes of it, to its end.
func (c *Consumer) Do(op dialect.Op) error {
	if err := c.watchBeside(); err != nil {
		return err
	}
	defer func() { _ = c.besideFirst() }()
	st, err := c.conv.Open(c.deadline.Ctx, op)
	if err != nil || st == nil { // nil: a message without an id has no answer
		return env.Cause(c.deadline.Ctx, err)
	}
	if err := c.expectResult(op.Method); err != nil {
		return err
	}
	return c.Read(st)
}

// Read prints what comes in st, to its end.
func (c *Consumer) Read(st dialect.Stream) error {
	c.stream = st
	err := c.run()
	if c.What == "" {
		return err
	}
	return noCancelHint(all.Named(c.conv.Dialect()), err, c.What)
}

// Suggest adds a command that would work to err, where it is an error of the peer
// and such a command is known.
func (c *Consumer) Suggest(err error) {
	if f := wire.AsFault(err); f != nil && f.Kind == wire.RPCError {
		Suggest(c.env, f, c.Catalog)
	}
}

// A Waiter is a stream that knows whether a message is waiting to be read. Output
// is flushed when none is.
type Waiter interface{ Waiting() bool }

// run reads to the end. What it returns is the outcome of the command, but for
// what Finish of the pipeline says.
func (c *Consumer) run() error {
	waiting, _ := c.stream.(Waiter)
	for {
		if waiting == nil || !waiting.Waiting() {
			c.print.Idle()
		}
		m, err := c.stream.Next(c.waitContext())
		if err != nil {
			return c.end(err)
		}
		c.deadline.Touch()
		stop, err := c.message(m)
		if stop || err != nil {
			c.cancel()
			return env.Cause(c.deadline.Ctx, err)
		}
	}
}
