package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/session"
)

// connectOptions are what `connect` was given.
type connectOptions struct {
	keepOptions
	params paramFlags
}

func connectCommand(a *app) *Command {
	o := &connectOptions{}
	flags := []Flag{
		text(groupParams, "catalog", "", "at the prompt: type and check parameters by the catalog in `FILE`", &o.params.catalog),
		boolean(groupParams, "no-check", "", "at the prompt: send parameters that the catalog refuses, as strings", &o.params.noCheck),
	}
	return &Command{
		Name:        "connect",
		Usage:       "converse: messages from stdin to the peer, the peer's to stdout; keep sessions",
		ArgsUsage:   "[ENDPOINT]",
		Description: connectDescription,
		Metadata: map[string]any{examplesKey: []Example{
			{Says: "Two messages, and what comes of them", Command: `printf '%s\n' '{"id":1,"method":"listOrders"}' '{"id":2,"method":"getOrder","params":{"id":"o_001"}}' | rpcx connect demo:orders`},
			{Says: "A language server, whose own requests are answered by a hook", Command: `rpcx connect lsp+exec:gopls --on 'workspace/configuration=jq:[.items[] | null]' < messages.ndjson`},
		}},
		Flags:  slices.Concat(flags, o.session.flags(), o.reconnect.flags(), o.flags(a, idleNone)),
		Action: func(ctx context.Context, _ *Command) error { return runConnect(ctx, a, o) },
	}
}

const connectDescription = `Each line of stdin is one message; each message of the peer is one compact line on
stdout. A line with "method" gets "jsonrpc" where the dialect wants it and it is missing;
an id is never invented. A request of the peer that a hook matches is answered by it and
not printed; any other is printed, and stdin owns the answer. At the end of stdin the
requests that nobody answered get -32603, the answers owed to us are waited for, and the
conversation ends. With --reconnect it goes on over the next connection: what was owed on
the one before is lost, and where that was an answer to us the status is 7 in the end.

Where both are a terminal there is a prompt: METHOD key=value is a call, with the PARAMS
of rpcx call, and a message in JSON is sent as it stands. What comes is printed above the
line. Ctrl-C cancels the latest call, Ctrl-D leaves (see PROMPT in rpcx(1)).`

func runConnect(ctx context.Context, a *app, o *connectOptions) error {
	if d, err := a.line.action(); d != nil || err != nil {
		if err != nil {
			return err
		}
		return d.run(ctx, a, &o.keepOptions)
	}
	e, rest, err := a.endpoint(ctx, o.conn.dialect)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return a.line.usage("connect takes an endpoint and nothing else, not %q", rest[0])
	}
	print, err := a.printer(e, &o.out, format.Options{})
	if err != nil {
		return err
	}
	cat, err := loadCatalog(o.params.catalog)
	if err != nil {
		return err
	}
	cl := o.time.deadline(ctx, 0)
	defer cl.stop()
	conv, err := a.open(cl.ctx, e, &o.clientFlags, nil, true)
	if err != nil {
		return err
	}
	pipe, err := conv.Raw()
	switch {
	case err != nil:
	case format.Interactive(os.Stdin, a.out) && !o.out.null:
		err = runPrompt(promptOptions{
			app: a, endpoint: e, conv: conv, pipe: pipe, print: print, deadline: cl, params: o.params, catalog: cat,
		})
	default:
		err = (&connection{app: a, pipe: pipe, print: print, deadline: cl, dialect: conv.Dialect()}).run()
	}
	err = errors.Join(err, closing(ctx, conv, &o.hooks, err))
	return errors.Join(err, print.Finish())
}

// A connection joins stdin and stdout to a conversation.
type connection struct {
	app      *app
	pipe     session.RawPipe
	print    *format.Pipeline
	deadline *deadline
	dialect  string
}

func (c *connection) run() error {
	printed := make(chan error, 1)
	go func() { printed <- c.show() }()
	fed := make(chan error, 1)
	go func() { fed <- c.feed() }()
	select {
	case err := <-fed:
		if f := wire.AsFault(err); err == nil || f != nil && f.Kind == wire.Usage {
			err = errors.Join(err, c.pipe.Finish(c.deadline.ctx))
		}
		c.pipe.Stop()
		return errors.Join(cause(c.deadline.ctx, err), <-printed)
	case err := <-printed:
		return errors.Join(err, c.pipe.Err())
	case <-c.deadline.ctx.Done():
		c.pipe.Stop()
		<-printed
		return cause(c.deadline.ctx, c.deadline.ctx.Err())
	}
}

// show prints what comes in.
func (c *connection) show() error {
	ctx, done := withFarewell(c.deadline.ctx)
	defer done()
	for {
		m, idle, err := c.pipe.Recv()
		if errors.Is(err, io.EOF) {
			c.print.Idle()
			return nil
		}
		c.deadline.touch()
		stop, err := c.print.Print(ctx, m, wire.Event{Kind: wire.Data, Data: m.Raw})
		if err != nil || stop {
			c.pipe.Stop()
			return err
		}
		if idle {
			c.print.Idle()
		}
	}
}

// feed sends the lines of stdin. A line that is no message is refused and named,
// and the rest goes on.
func (c *connection) feed() error {
	var refused error
	err := eachLine(c.deadline.ctx, func(n int64, line []byte) error {
		err := c.send(n, line)
		if f := wire.AsFault(err); f == nil || f.Kind != wire.Usage {
			return err
		}
		c.app.console.Warn(err.Error())
		refused = wire.NewFault(wire.Usage, "a line of stdin was not sent", nil)
		return nil
	})
	if err == nil {
		err = refused
	}
	return err
}

func (c *connection) send(n int64, line []byte) error {
	msg, err := outgoing(line, c.dialect)
	if err != nil {
		return lineFault(n, err.Error())
	}
	err = c.pipe.Send(c.deadline.ctx, msg)
	if f := wire.AsFault(err); f != nil && f.Kind == wire.Usage {
		return lineFault(n, f.Message)
	}
	return err
}

// outgoing is the message that a line of the user's stands for.
func outgoing(line []byte, dialect string) ([]byte, error) {
	if err := scan.Valid(line, wire.DefaultMaxDepth); err != nil {
		return nil, err
	}
	switch kind := scan.Type(line); {
	case kind != 'o' && kind != 'a':
		return nil, errors.New("a message is an object, or an array of them")
	case session.SpecNamed(dialect).JSONRPCMember:
		line = versioned(line)
	}
	return line, nil
}

// versioned is msg with "jsonrpc" in each request, notification and answer that
// lacks it.
func versioned(msg []byte) []byte {
	if scan.Type(msg) == 'a' {
		out := []byte{'['}
		for val := range scan.Elements(msg) {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(out, versioned(val)...)
		}
		return append(out, ']')
	}
	if scan.Type(msg) != 'o' || scan.Get(msg, "jsonrpc") != nil {
		return msg
	}
	for _, member := range []string{"method", "result", "error"} {
		if scan.Get(msg, member) != nil {
			return scan.Splice(msg, "jsonrpc", []byte(`"2.0"`))
		}
	}
	return msg
}

func lineFault(n int64, what string) error {
	return wire.NewFault(wire.Usage, fmt.Sprintf("line %d of stdin was not sent: %s", n, what), nil)
}
