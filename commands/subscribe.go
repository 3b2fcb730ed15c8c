package commands

import (
	"context"
	"errors"
	"slices"
	"time"

	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/session"
)

// subscribeOptions are what `subscribe` was given.
type subscribeOptions struct {
	clientFlags
	params      paramFlags
	count       int64
	until       string
	lasts       duration
	choose      string
	method      string
	unsubscribe string
	since       int64
	grace       duration
	ro          roFlags
	watch       watchFlags
}

func subscribeCommand(a *app) *Command {
	o := &subscribeOptions{since: -1}
	flags := append([]Flag{
		number("", "count", "stop after `N` values", 1, &o.count),
		text("", "until", "", "stop after the value for which the jq program `EXPR` holds", &o.until),
		positive("", "for", "stop after `DURATION`", &o.lasts),
		text("", "select", "", "take as items, among all messages that come in, those for which the jq program `EXPR` holds", &o.choose),
		text("", "method", "", "take as items the notifications of the method `NAME`", &o.method),
		number("", "since", "with @NAME and no METHOD: the events that the session has kept after number `SEQ`, then what comes", 0, &o.since),
		text("", "unsubscribe", "", "end the subscription with the method `NAME` (else derived: x_subscribe, x_unsubscribe)", &o.unsubscribe),
		graceFlag(&o.grace),
	}, slices.Concat(o.watch.flags(), o.params.flags(), o.ro.flags())...)
	return &Command{
		Name:        "subscribe",
		Usage:       "print the events of a stream until it ends",
		ArgsUsage:   "ENDPOINT [METHOD [PARAMS...]]",
		Description: subscribeDescription + "\n\n" + paramsDescription,
		Metadata: map[string]any{examplesKey: []Example{
			{Says: "Three events of the demo's stream", Command: "rpcx subscribe demo:orders watchOrders --count 3"},
			{Says: "Code that is watched, every second frame of a HotRepl host", Command: "rpcx subscribe demo:hotrepl 'setState(($state // 0) + 1)' --every 2 --count 3"},
			{Says: "New heads of an Ethereum node, their numbers only", Command: `rpcx subscribe ws://localhost:8546/ eth_subscribe '["newHeads"]' -q .number`},
			{Says: "The same for days: dead peers are found, lost connections made again", Command: `rpcx subscribe ws://localhost:8546/ eth_subscribe '["newHeads"]' --reconnect --ping 30s`},
			{Says: "What comes of one target in RO-JRPC, with nothing sent", Command: "rpcx subscribe ro+ws://localhost:8080/ session/session-9"},
			{Says: "Notifications of one method, with nothing sent", Command: "rpcx subscribe ws://localhost:6800/jsonrpc --method aria2.onDownloadComplete"},
		}},
		Flags:  append(append(flags, o.reconnect.flags()...), o.flags(a, idleStream)...),
		Action: func(ctx context.Context, _ *Command) error { return runSubscribe(ctx, a, o) },
	}
}

const subscribeDescription = `The events go to stdout, one JSON value a line, until the stream ends, a limit is
reached or a signal comes; the peer is told before rpcx goes. METHOD may be left out
where --method or --select says what to take, or --since: nothing is sent then. With
--reconnect a lost connection is made again, with pauses that grow up to 30 s; the
subscription is sent again, and a gap event says that items may be missing. On a HotRepl
host METHOD is code, evaluated every few frames (--every); it has one client at a time:
subscribe without a session evicts whoever was connected.`

func runSubscribe(ctx context.Context, a *app, o *subscribeOptions) error {
	if a.line.help {
		return methodHelp(ctx, a, &o.clientFlags)
	}
	e, rest, err := a.endpoint(ctx, o.conn.dialect)
	if err != nil {
		return err
	}
	if o.since >= 0 && (len(rest) > 0 || e.Session == "") {
		f := a.line.usage("--since reads what a session has kept: it takes @NAME and no METHOD")
		f.Hint = `rpcx connect ENDPOINT --session NAME --subscribe METHOD keeps the events of METHOD`
		return f
	}
	if len(rest) > 0 && rest[0] == "" || len(rest) == 0 && o.choose == "" && o.method == "" && o.since < 0 {
		f := a.line.usage("a method is missing")
		f.Hint = "name one, or take what comes with --method NAME or --select EXPR"
		return f
	}
	print, err := a.printer(e, &o.out, format.Options{Count: o.count, Until: o.until, Select: o.choose})
	if err != nil {
		return err
	}
	cat, err := loadCatalog(o.params.catalog)
	if err != nil {
		return err
	}
	if !session.SpecOf(e).LiveEval && needsConnection(e, cat, rest, o.params) && len(rest) > 0 {
		if err := a.checkName(e, rest[0], true, o.params); err != nil {
			return err
		}
		return o.converse(ctx, a, e, cat, print, func(ctx context.Context, conv session.Conversation) (typedOp, error) {
			return prepare(ctx, conv, &e, rest, cat, func(cat *catalog.Catalog) (dialect.Op, error) {
				return o.operation(ctx, a, e, rest, cat)
			})
		})
	}
	op, err := o.operation(ctx, a, e, rest, cat)
	if err != nil {
		return err
	}
	if o.params.dryRun {
		return dryRun(e, op)
	}
	if op.Method != "" {
		o.first = &op
	}
	return o.converse(ctx, a, e, cat, print, func(context.Context, session.Conversation) (typedOp, error) {
		return typedOp{op: op, cat: cat}, nil
	})
}

// operation is what is to be sent; one without a method sends nothing.
func (o *subscribeOptions) operation(ctx context.Context, a *app, e session.Endpoint, args []string, cat *catalog.Catalog) (op dialect.Op, err error) {
	op = dialect.Op{Kind: dialect.Subscribe, Unsubscribe: o.unsubscribe}
	if len(args) == 0 {
		return op, nil
	}
	if watches, err := o.watch.operation(a.line, e, &op, args, o.limit()); watches || err != nil {
		return op, err
	}
	op.Method = args[0]
	if op.Extra, err = o.ro.extra(a.line, e, o.conn.noCache); err != nil {
		return op, err
	}
	return op, fillParams(ctx, a, e, &op, args[1:], o.params, cat)
}

// limit is how many values the peer need send at most; 0 where that is not known
// beforehand.
func (o *subscribeOptions) limit() int64 {
	if o.out.jq != "" || o.choose != "" || o.method != "" {
		return 0
	}
	return o.count
}

// converse subscribes to what ready prepares, and reads it to its end.
func (o *subscribeOptions) converse(ctx context.Context, a *app, e session.Endpoint, cat *catalog.Catalog, print *format.Pipeline, ready prepareFunc) error {
	cl := o.time.deadline(ctx, 0)
	defer cl.stop()
	if o.lasts > 0 {
		end := time.AfterFunc(time.Duration(o.lasts), func() { cl.cancel(errEnough) })
		defer end.Stop()
	}
	watch := o.watchOp()
	if watch != nil {
		o.first = watch
	}
	conv, err := a.open(cl.ctx, e, &o.clientFlags, cat, false)
	if errors.Is(context.Cause(cl.ctx), errEnough) && err != nil {
		return wire.NewFault(wire.Unreachable, "not connected when the time of --for was over", err)
	}
	if err != nil {
		return err
	}
	p, err := ready(cl.ctx, conv)
	if errors.Is(context.Cause(cl.ctx), errEnough) && err != nil && wire.AsFault(err) == nil {
		err = wire.NewFault(wire.Timeout, "the peer had not told what the method takes when the time of --for was over", err)
	}
	if err == nil && o.params.dryRun {
		e.Dialect = conv.Dialect()
		err = dryRun(e, p.op)
	}
	if err != nil || o.params.dryRun {
		return errors.Join(cause(cl.ctx, err), closing(ctx, conv, &o.hooks, err))
	}
	c := &consumer{app: a, conv: conv, print: print, deadline: cl, method: p.op.Method, lasts: true, choose: o.choose != ""}
	c.grace.wait, c.cat = time.Duration(o.grace), p.cat
	err = o.consume(c, watch, p.op)
	return errors.Join(err, closing(ctx, conv, &o.hooks, err), print.Finish())
}

// errEnough ends a stream as asked: --for is over.
var errEnough = errors.New("the time asked for is over")

// watchOp is what is taken of all that comes in; nil: only the answers to METHOD.
func (o *subscribeOptions) watchOp() *dialect.Op {
	if o.choose == "" && o.method == "" && o.since < 0 {
		return nil
	}
	op := &dialect.Op{Kind: dialect.Watch, Method: o.method}
	if o.since >= 0 {
		op.Since = &o.since
	}
	return op
}

// consume opens the stream and reads it; watch is nil where only what op brings
// is taken.
func (o *subscribeOptions) consume(c *consumer, watch *dialect.Op, op dialect.Op) (err error) {
	if c.watch = watch != nil; c.watch {
		if c.stream, err = c.conv.Open(c.deadline.ctx, *watch); err != nil {
			return o.outcome(c, cause(c.deadline.ctx, err))
		}
	}
	switch {
	case op.Method == "":
		return o.outcome(c, c.run())
	case c.watch:
		s, err := startTrigger(c, op)
		if err != nil {
			return o.outcome(c, cause(c.deadline.ctx, err))
		}
		return s.end(c, o.outcome(c, c.run()))
	}
	if c.stream, err = c.conv.Open(c.deadline.ctx, op); err != nil {
		return o.outcome(c, cause(c.deadline.ctx, err))
	}
	return o.outcome(c, c.run())
}

// outcome says which ends are as asked.
func (o *subscribeOptions) outcome(c *consumer, err error) error {
	cause := context.Cause(c.deadline.ctx)
	if errors.Is(cause, errEnough) {
		return nil
	}
	f := wire.AsFault(err)
	switch {
	case f == nil:
		return err
	case f.Kind == wire.Timeout && o.time.idle > 0 && f == wire.AsFault(cause):
		return nil // --idle is a normal end here
	case f.Kind == wire.Closed && c.watch && f.Close != nil && f.Close.Clean:
		return nil // nothing was promised: the peer ended in good order
	case f.Kind == wire.RPCError:
		suggest(c.app, f, nil)
	}
	return err
}
