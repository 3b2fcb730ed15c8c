package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"

	"rpcx/commands/cmdline"
	"rpcx/commands/daemon"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/commands/prompt"
	"rpcx/commands/request"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/session"
	"rpcx/wire/session/relay"
)

// connectOptions are the flags of connect.
type connectOptions struct {
	daemon.Options
	options.StopConditions
	params options.Params
}

func connectCommand(run *env.Env) *cmdline.Command {
	o := &connectOptions{}
	flags := []*cmdline.Flag{
		cmdline.Text(cmdline.GroupParams, "catalog", "", "convert and check parameters with the catalog in `FILE` (only at the prompt)", &o.params.Catalog).Filled("a file"),
		cmdline.Bool(cmdline.GroupParams, "no-check", "", "send parameters even if they do not match their schema (only at the prompt)", &o.params.NoCheck),
	}
	return &cmdline.Command{
		Name:        "connect",
		Usage:       "exchange messages over stdin and stdout, or keep a session",
		Args:        "ENDPOINT",
		Description: connectDescription,
		Examples: []cmdline.Example{
			{Says: "Send two messages and print all messages from the peer", Command: `printf '%s\n' '{"id":1,"method":"listOrders"}' '{"id":2,"method":"getOrder","params":{"id":"o_001"}}' | rpcx connect demo:orders`},
			{Says: "Connect to a language server, and answer its requests with a hook", Command: `rpcx connect lsp+exec:gopls --on 'workspace/configuration=jq:[.items[] | null]' < messages.ndjson`},
		},
		Flags:  slices.Concat(o.StopConditions.Flags(), flags, o.Session.Flags(), o.Reconnect.Flags(), options.WithoutErrors(o.Options.Flags(run, options.IdlePipe))),
		Action: func(ctx context.Context) error { return runConnect(ctx, run, o) },
	}
}

const connectDescription = `Each line of stdin is one message, and each message from the peer is one compact line on
stdout. rpcx adds "jsonrpc" to a line with "method" if the dialect needs it; it never adds
an id. If a hook matches a request from the peer, the hook answers the request, and rpcx does
not print it. Answer all other requests on stdin. When stdin ends, rpcx answers -32603 to the
peer's open requests, waits for pending responses, and closes the connection; with --count,
--until, --for or --idle it continues until that limit is reached. With --reconnect, it
continues on a new connection; responses that were pending are lost, and the exit status is
then 7.

On a terminal, connect is a prompt. Type METHOD key=value to make a call, with PARAMS as in
rpcx call, or type a JSON message, which rpcx sends unchanged. Incoming messages appear above
the line that you edit. Ctrl-C cancels the latest call; Ctrl-D closes the connection (see
rpcx-prompt(7)).`

func runConnect(ctx context.Context, run *env.Env, o *connectOptions) error {
	if keep, err := daemon.Asked(run.Line); keep || err != nil {
		if err != nil {
			return err
		}
		return daemon.Keep(ctx, run, &o.Options)
	}
	e, rest, err := request.Endpoint(ctx, run, o.Conn.Dialect)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return run.Line.Usage("connect takes only ENDPOINT, not %q", rest[0])
	}
	o.Out.Count, o.Out.Until = o.Count, o.Until
	print, err := options.NewPrinter(run, e, &o.Out)
	if err != nil {
		return err
	}
	cat, err := options.LoadCatalog(o.params.Catalog)
	if err != nil {
		return err
	}
	cl := o.Time.Deadline(ctx, 0)
	interactive := format.Interactive(os.Stdin, run.Stdout) && !o.Out.Null
	typed := env.NewLines(cl.Ctx)
	switch {
	case !interactive:
		o.Own = typed.Method(e.Spec())
	case o.Given():
		return run.Line.Usage("--count, --until and --for need stdin from a pipe; end the prompt with Ctrl-D")
	}
	o.StartTimer(cl)
	o.Lasts, o.Raw = true, true
	opened := false
	err = request.Converse(run, cl, e, &o.Client, nil, func(conv session.Conversation) error {
		pipe, err := conv.Raw()
		if err != nil {
			return err
		}
		opened = true
		if interactive {
			return prompt.Run(prompt.Options{
				Env: run, Endpoint: e, Conv: conv, Pipe: pipe, Print: print, Deadline: cl, Params: o.params, Catalog: cat,
			})
		}
		return (&connection{env: run, pipe: pipe, print: print, deadline: cl, dialect: conv.Dialect(), typed: typed, lasts: o.Given() || o.Time.Idle > 0}).run()
	})
	if opened {
		err = errors.Join(err, print.Finish())
	}
	return err
}

// A connection connects stdin and stdout to a conversation.
type connection struct {
	env      *env.Env
	pipe     relay.RawPipe
	print    *format.Pipeline
	deadline *env.Deadline
	dialect  string
	typed    *env.Lines
	lasts    bool        // whether the command continues after the end of stdin until the limit is reached
	enough   atomic.Bool // the limit is reached, and failures to send no longer count
	refused  atomic.Bool // rpcx refused a line of stdin
}

// run exchanges messages until stdin ends and all expected responses have arrived, or until enough is set.
func (c *connection) run() error {
	printed := make(chan error, 1)
	go func() { printed <- c.show() }()
	fed := make(chan error, 1)
	go func() { fed <- c.feed() }()
	owed := make(chan error, 1)
	ctx := c.deadline.Ctx
	allArrived := false // all responses have arrived
	for {
		select {
		case err := <-fed:
			fed = nil
			switch {
			case err == nil:
				go func() { owed <- c.pipe.Finish(ctx) }()
			case ctx.Err() == nil:
				return c.ended(err, printed)
			}
		case err := <-owed:
			if ctx.Err() == nil && (err != nil || !c.lasts) {
				return c.ended(err, printed)
			}
			allArrived = err == nil
			c.deadline.Touch()
		case err := <-printed:
			return errors.Join(c.refusal(), err, c.counts(c.pipe.Err()))
		case <-ctx.Done():
			c.pipe.Stop()
			<-printed
			if context.Cause(ctx) == options.ErrForElapsed || allArrived && c.deadline.OnIdle() {
				return c.refusal()
			}
			return env.Cause(ctx, ctx.Err())
		}
	}
}

// ended stops the pipe after err, the outcome of sending, and returns the outcome of the command.
func (c *connection) ended(err error, printed <-chan error) error {
	c.pipe.Stop()
	shown := <-printed
	return errors.Join(c.refusal(), c.counts(err), shown)
}

// refusal returns the error of a line of stdin that rpcx refused.
func (c *connection) refusal() error {
	if c.refused.Load() {
		return wire.NewFault(wire.Usage, "a line of stdin was not sent", nil)
	}
	return nil
}

// counts returns err, a failure to send a request or to receive its response. It returns nil if enough is set.
func (c *connection) counts(err error) error {
	if c.enough.Load() {
		return nil
	}
	return err
}

// show prints incoming messages.
func (c *connection) show() error {
	defer wire.Guard()
	ctx, done := env.WithCloseDelay(c.deadline.Ctx)
	defer done()
	for {
		m, idle, err := c.pipe.Recv()
		if err == io.EOF {
			c.print.Idle()
			return nil
		}
		c.deadline.Touch()
		stop, err := c.print.Print(ctx, &m, &wire.Event{Kind: wire.Data, Data: m.Raw})
		if err != nil || stop {
			c.enough.Store(true)
			c.pipe.Stop()
			return err
		}
		if idle {
			c.print.Idle()
		}
	}
}

// feed sends the lines of stdin. It reports an error for a line that is not a message, and continues.
func (c *connection) feed() error {
	defer wire.Guard()
	return c.typed.Each(func(n int64, line []byte) error {
		err := c.send(n, line)
		if f := wire.AsFault(err); f == nil || f.Kind != wire.Usage {
			return err
		}
		c.env.Console.Warn(err.Error())
		c.refused.Store(true)
		return nil
	})
}

func (c *connection) send(n int64, line []byte) error {
	msg, err := request.Outgoing(line, c.dialect)
	if err != nil {
		return lineFault(n, err.Error())
	}
	err = c.pipe.Send(c.deadline.Ctx, msg)
	if f := wire.AsFault(err); f != nil && f.Kind == wire.Usage {
		return lineFault(n, f.Message)
	}
	return err
}

func lineFault(n int64, what string) error {
	return wire.NewFault(wire.Usage, fmt.Sprintf("line %d of stdin was not sent: %s", n, what), nil)
}
