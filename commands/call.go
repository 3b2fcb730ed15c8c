package commands

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"rpcx/commands/batch"
	"rpcx/commands/cmdline"
	"rpcx/commands/dialects"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/commands/params"
	"rpcx/commands/request"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
	"rpcx/wire/session"
)

// callOptions are what `call` was given.
type callOptions struct {
	options.Client
	params     options.Params
	ro         dialects.RO
	cache      dialects.Cache
	answers    *dialects.AnswerCache // nil: none are kept
	notify     bool
	batch      bool
	jobs       int64
	unordered  bool
	rawRequest string
	grace      cmdline.Duration
	retry      int64
}

func callCommand(a *env.Env) *cmdline.Command {
	o := &callOptions{}
	flags := append([]cmdline.Flag{
		options.GraceFlag(&o.grace),
		request.RetryFlag(&o.retry),
		cmdline.Bool("", "notify", "n", "send a notification: no answer is expected", &o.notify),
		cmdline.Bool("", "batch", "", `read {"method","params","id"} lines from stdin, print one line for each`, &o.batch),
		cmdline.Number("", "jobs", "with --batch, `N` calls in flight (16)", 1, &o.jobs),
		cmdline.Bool("", "unordered", "", "with --batch, print answers as they come", &o.unordered),
		cmdline.Text("", "raw-request", "", "send the message `JSON` (- for stdin) as it stands, with its own id", &o.rawRequest),
	}, slices.Concat(o.params.Flags(), o.ro.Flags(), o.cache.Flags())...)
	return &cmdline.Command{
		Name:        "call",
		Usage:       "make one call and print its result",
		ArgsUsage:   "ENDPOINT METHOD [PARAMS...]",
		Description: callDescription + "\n\n" + paramsDescription,
		Metadata: map[string]any{cmdline.ExamplesKey: []cmdline.Example{
			{Says: "A call of the embedded demo", Command: "rpcx call demo:orders getOrder id=o_001"},
			{Says: "One member of a result, without quotes", Command: "rpcx call demo:orders getOrder id=o_001 -r -q .customer"},
			{Says: "Answer the peer when it calls back", Command: `rpcx call demo:orders approveOrder id=o_002 --on 'approve=jq:.total < 5000'`},
			{Says: "A verb of a resource, in RO-JRPC", Command: "rpcx call demo:ro repo/99/issue/7:get"},
			{Says: "What a method takes, where the peer tells (introspect)", Command: "rpcx call demo:introspect storage_tree_create --help"},
			{Says: "What would be sent", Command: "rpcx call ws://localhost:8080/ add a:=1 b:=2 --dry-run"},
			{Says: "Assert in CI", Command: "rpcx call demo:orders getOrder id=o_001 --expect '.status == \"shipped\"'"},
		}},
		Flags:  append(flags, o.Flags(a, options.IdleCall)...),
		Action: func(ctx context.Context, _ *cmdline.Command) error { return runCall(ctx, a, o) },
	}
}

const callDescription = `One call: its data goes to stdout, one JSON value a line, and its end is the end of
the command, whatever else arrives meanwhile. What the peer asks of us is answered by
--on and --hooks; what nothing answers gets -32601. A method that streams is for
subscribe: call prints what it answers first, often only the subscription's id. In
introspect every method streams: call prints all of it, and METHOD --help what the method
takes. A HotRepl host has one client at a time: call without a session evicts whoever was
connected.`

const paramsDescription = `PARAMS are key=text, key:=json, key@=FILE (its text), key:@=FILE (its JSON), where a.b
nests and a[] appends; or JSON: one object or array is the params whole, several values
are positional; - reads the params whole from stdin. Words with spaces, quotes, $ or []
want quotes of the shell.`

func runCall(ctx context.Context, a *env.Env, o *callOptions) error {
	if a.Line.WantsHelp {
		return methodHelp(ctx, a, &o.Client)
	}
	e, rest, err := request.Endpoint(ctx, a, o.Conn.Dialect)
	if err != nil {
		return err
	}
	o.cache.Fresh = o.Conn.NoCache && session.SpecOf(e).CachedCatalog == nil
	if err := o.exclude(a.Line, rest); err != nil {
		return err
	}
	print, err := options.NewPrinter(a, e, &o.Out, format.Options{})
	if err != nil {
		return err
	}
	cat, err := options.LoadCatalog(o.params.Catalog)
	if err != nil {
		return err
	}
	if o.batch {
		return batch.Run(ctx, a, batch.Options{Client: &o.Client, Params: o.params, Jobs: o.jobs, Unordered: o.unordered}, e, cat, print)
	}
	o.Hooks.Functions = params.FuncNames(rest)
	if o.rawRequest == "" && request.NeedsConnection(e, cat, rest, o.params) {
		if err := request.CheckName(a, e, rest[0], false, o.params); err != nil {
			return err
		}
		return o.converse(ctx, a, e, cat, print, func(ctx context.Context, conv session.Conversation) (request.TypedOp, error) {
			return request.Prepare(ctx, conv, &e, rest, cat, func(cat *catalog.Catalog) (dialect.Op, error) {
				return o.operation(ctx, a, e, rest, cat)
			})
		})
	}
	op, err := o.operation(ctx, a, e, rest, cat)
	if err != nil {
		return err
	}
	if o.params.DryRun {
		return request.DryRun(e, op)
	}
	if o.answers, err = o.cache.For(ctx, a, e, op, &o.Conn); err != nil {
		return err
	}
	if found, err := o.answers.Find(ctx, print); found {
		return errors.Join(err, print.Finish())
	}
	return o.converse(ctx, a, e, cat, print, func(context.Context, session.Conversation) (request.TypedOp, error) {
		return request.TypedOp{Op: op, Cat: cat}, nil
	})
}

// exclude refuses what makes no sense together.
func (o *callOptions) exclude(l *cmdline.CommandLine, rest []string) error {
	switch {
	case o.batch && (o.notify || o.rawRequest != "" || len(rest) > 0):
		return l.Usage("--batch takes its calls from stdin alone")
	case o.batch && (o.Out.Raw || o.Out.ExpectError != ""):
		return l.Usage("--raw and --expect-error go with one call, not with --batch")
	case o.rawRequest != "" && (o.notify || len(rest) > 0):
		return l.Usage("--raw-request is the whole message: no method, no params")
	case !o.batch && o.rawRequest == "" && (len(rest) == 0 || rest[0] == ""):
		return l.Usage("a method is missing")
	case !o.batch && (o.unordered || o.jobs != 0):
		return l.Usage("--jobs and --unordered go with --batch")
	case o.batch && (o.cache != (dialects.Cache{}) || o.ro != (dialects.RO{})):
		return l.Usage("--cache, --no-cache, --target and the like go with one call, not with --batch")
	case o.batch && o.retry > 0:
		return l.Usage("--retry goes with one call, not with --batch")
	case o.jobs > batch.MaxJobs:
		return l.Usage("--jobs: at most %d calls are kept in flight", batch.MaxJobs)
	}
	return nil
}

// operation is what is to be sent.
func (o *callOptions) operation(ctx context.Context, a *env.Env, e session.Endpoint, rest []string, cat *catalog.Catalog) (op dialect.Op, err error) {
	if o.rawRequest != "" {
		msg, err := rawRequest(ctx, o.rawRequest)
		return dialect.Op{Kind: dialect.Raw, Params: msg}, err
	}
	op = dialect.Op{Kind: dialect.Call, Method: rest[0]}
	if o.notify {
		op.Kind = dialect.Notify
	}
	if op.Extra, err = o.ro.Extra(a.Line, e, o.Conn.NoCache); err != nil {
		return op, err
	}
	if err := request.FillParams(ctx, a, e, &op, rest[1:], o.params, cat); err != nil || len(op.Funcs) == 0 {
		return op, err
	}
	op.Known, err = o.Hooks.Describing(slices.Collect(maps.Values(op.Funcs)))
	return op, err
}

// rawRequest reads --raw-request.
func rawRequest(ctx context.Context, given string) (json.RawMessage, error) {
	msg := []byte(given)
	if given == "-" {
		var err error
		if msg, err = env.ReadStdin(ctx); err != nil {
			return nil, err
		}
	}
	msg = env.TrimBlank(msg)
	if err := scan.Valid(msg, wire.DefaultMaxDepth); err != nil {
		return nil, wire.NewFault(wire.Usage, "--raw-request is no JSON: "+err.Error(), err)
	}
	if t := scan.Type(msg); t != 'o' && t != 'a' {
		return nil, wire.NewFault(wire.Usage, "--raw-request is no message: one is an object, or an array of them", nil)
	}
	return msg, nil
}

// converse makes the call that ready prepares.
func (o *callOptions) converse(ctx context.Context, a *env.Env, e session.Endpoint, cat *catalog.Catalog, print *format.Pipeline, ready request.PrepareFunc) error {
	cl := o.Time.Deadline(ctx, options.DefaultIdle)
	return request.Converse(ctx, a, cl, e, &o.Client, cat, func(conv session.Conversation) error {
		return o.exchange(cl, a, e, conv, print, ready)
	})
}

// exchange is what becomes of the call on a connection.
func (o *callOptions) exchange(cl *env.Deadline, a *env.Env, e session.Endpoint, conv session.Conversation, print *format.Pipeline, ready request.PrepareFunc) error {
	p, err := ready(cl.Ctx, conv)
	e.Dialect = conv.Dialect()
	switch {
	case err != nil:
		return err
	case o.params.DryRun:
		return request.DryRun(e, p.Op)
	case p.Op.Kind == dialect.Notify:
		return env.Cause(cl.Ctx, conv.Notify(cl.Ctx, p.Op))
	}
	err = request.Retry(cl.Ctx, a, o.retry, func() error {
		st, err := conv.Open(cl.Ctx, p.Op)
		if err != nil || st == nil {
			return env.Cause(cl.Ctx, err)
		}
		c := o.consumer(a, conv, st, print, cl, p.Op)
		c.Cat = p.Cat
		if err := request.ExpectResult(a, c, e, p, o.params); err != nil {
			return err
		}
		return request.NoCancelHint(session.SpecOf(e), c.Waited(c.Run()), "what was called")
	})
	if f := wire.AsFault(err); f != nil && f.Kind == wire.RPCError {
		request.Suggest(a, f, p.Cat)
		return errors.Join(err, print.Flush())
	}
	return errors.Join(err, print.Finish())
}

func (o *callOptions) consumer(a *env.Env, conv session.Conversation, st dialect.Stream, print *format.Pipeline, cl *env.Deadline, op dialect.Op) *request.Consumer {
	many := op.Kind == dialect.Raw && scan.Type(op.Params) == 'a'
	c := &request.Consumer{App: a, Conv: conv, Stream: st, Print: print, Deadline: cl, Method: op.Method, Many: many, Answers: o.answers}
	c.Grace.Wait = time.Duration(o.grace)
	return c
}
