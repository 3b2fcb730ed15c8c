package commands

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"slices"
	"time"

	"rpcx/commands/params"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
	"rpcx/wire/session"
)

// callOptions are what `call` was given.
type callOptions struct {
	clientFlags
	params     paramFlags
	ro         roFlags
	cache      cacheFlags
	answers    *answerCache // nil: none are kept
	notify     bool
	batch      bool
	jobs       int64
	unordered  bool
	rawRequest string
	grace      duration
	retry      int64
}

const defaultIdle = 60 * time.Second

func callCommand(a *app) *Command {
	o := &callOptions{}
	flags := append([]Flag{
		graceFlag(&o.grace),
		retryFlag(&o.retry),
		boolean("", "notify", "n", "send a notification: no answer is expected", &o.notify),
		boolean("", "batch", "", `read {"method","params","id"} lines from stdin, print one line for each`, &o.batch),
		number("", "jobs", "with --batch, `N` calls in flight (16)", 1, &o.jobs),
		boolean("", "unordered", "", "with --batch, print answers as they come", &o.unordered),
		text("", "raw-request", "", "send the message `JSON` (- for stdin) as it stands, with its own id", &o.rawRequest),
	}, slices.Concat(o.params.flags(), o.ro.flags(), o.cache.flags())...)
	return &Command{
		Name:        "call",
		Usage:       "make one call and print its result",
		ArgsUsage:   "ENDPOINT METHOD [PARAMS...]",
		Description: callDescription + "\n\n" + paramsDescription,
		Metadata: map[string]any{examplesKey: []Example{
			{Says: "A call of the embedded demo", Command: "rpcx call demo:orders getOrder id=o_001"},
			{Says: "One member of a result, without quotes", Command: "rpcx call demo:orders getOrder id=o_001 -r -q .customer"},
			{Says: "Answer the peer when it calls back", Command: `rpcx call demo:orders approveOrder id=o_002 --on 'approve=jq:.total < 5000'`},
			{Says: "A verb of a resource, in RO-JRPC", Command: "rpcx call demo:ro repo/99/issue/7:get"},
			{Says: "What a method takes, where the peer tells (introspect)", Command: "rpcx call demo:introspect storage_tree_create --help"},
			{Says: "What would be sent", Command: "rpcx call ws://localhost:8080/ add a:=1 b:=2 --dry-run"},
			{Says: "Assert in CI", Command: "rpcx call demo:orders getOrder id=o_001 --expect '.status == \"shipped\"'"},
		}},
		Flags:  append(flags, o.flags(a, idleCall)...),
		Action: func(ctx context.Context, _ *Command) error { return runCall(ctx, a, o) },
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

func runCall(ctx context.Context, a *app, o *callOptions) error {
	if a.line.help {
		return methodHelp(ctx, a, &o.clientFlags)
	}
	e, rest, err := a.endpoint(ctx, o.conn.dialect)
	if err != nil {
		return err
	}
	o.cache.no = o.conn.noCache && session.SpecOf(e).CachedCatalog == nil
	if err := o.exclude(a.line, rest); err != nil {
		return err
	}
	print, err := a.printer(e, &o.out, format.Options{})
	if err != nil {
		return err
	}
	cat, err := loadCatalog(o.params.catalog)
	if err != nil {
		return err
	}
	if o.batch {
		return runBatch(ctx, a, batchOptions{client: &o.clientFlags, params: o.params, jobs: o.jobs, unordered: o.unordered}, e, cat, print)
	}
	o.hooks.functions = params.FuncNames(rest)
	if o.rawRequest == "" && needsConnection(e, cat, rest, o.params) {
		if err := a.checkName(e, rest[0], false, o.params); err != nil {
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
	if o.answers, err = o.cache.cache(ctx, a, e, op, &o.conn); err != nil {
		return err
	}
	if found, err := o.answers.find(ctx, print); found {
		return errors.Join(err, print.Finish())
	}
	return o.converse(ctx, a, e, cat, print, func(context.Context, session.Conversation) (typedOp, error) {
		return typedOp{op: op, cat: cat}, nil
	})
}

// exclude refuses what makes no sense together.
func (o *callOptions) exclude(l *commandLine, rest []string) error {
	switch {
	case o.batch && (o.notify || o.rawRequest != "" || len(rest) > 0):
		return l.usage("--batch takes its calls from stdin alone")
	case o.batch && (o.out.raw || o.out.expectError != ""):
		return l.usage("--raw and --expect-error go with one call, not with --batch")
	case o.rawRequest != "" && (o.notify || len(rest) > 0):
		return l.usage("--raw-request is the whole message: no method, no params")
	case !o.batch && o.rawRequest == "" && (len(rest) == 0 || rest[0] == ""):
		return l.usage("a method is missing")
	case !o.batch && (o.unordered || o.jobs != 0):
		return l.usage("--jobs and --unordered go with --batch")
	case o.batch && (o.cache != (cacheFlags{}) || o.ro != (roFlags{})):
		return l.usage("--cache, --no-cache, --target and the like go with one call, not with --batch")
	case o.batch && o.retry > 0:
		return l.usage("--retry goes with one call, not with --batch")
	case o.jobs > maxJobs:
		return l.usage("--jobs: at most %d calls are kept in flight", maxJobs)
	}
	return nil
}

// operation is what is to be sent.
func (o *callOptions) operation(ctx context.Context, a *app, e session.Endpoint, rest []string, cat *catalog.Catalog) (op dialect.Op, err error) {
	if o.rawRequest != "" {
		msg, err := rawRequest(ctx, o.rawRequest)
		return dialect.Op{Kind: dialect.Raw, Params: msg}, err
	}
	op = dialect.Op{Kind: dialect.Call, Method: rest[0]}
	if o.notify {
		op.Kind = dialect.Notify
	}
	if op.Extra, err = o.ro.extra(a.line, e, o.conn.noCache); err != nil {
		return op, err
	}
	if err := fillParams(ctx, a, e, &op, rest[1:], o.params, cat); err != nil || len(op.Funcs) == 0 {
		return op, err
	}
	op.Known, err = o.hooks.describing(slices.Collect(maps.Values(op.Funcs)))
	return op, err
}

// fillParams reads the arguments after METHOD into op.
func fillParams(ctx context.Context, a *app, e session.Endpoint, op *dialect.Op, args []string, p paramFlags, cat *catalog.Catalog) error {
	spec := session.SpecOf(e)
	if err := a.checkName(e, op.Method, op.Kind == dialect.Subscribe, p); err != nil {
		return err
	}
	if p.style != "" {
		if spec.ParamStyles == nil {
			return a.line.usage("--params-style: %s has one way to send params", spec.Name)
		}
		op.Extra = json.RawMessage(`{"params_style":"` + p.style + `"}`)
	}
	r, err := readParams(ctx, a, e, op.Method, args, p, cat)
	op.Params, op.Funcs = r.Params, r.Funcs
	return err
}

// readParams reads the arguments after METHOD.
func readParams(ctx context.Context, a *app, e session.Endpoint, method string, args []string, p paramFlags, cat *catalog.Catalog) (params.Result, error) {
	po := params.Options{
		NoCheck: p.noCheck, Stdin: stdin(ctx), ReadFile: os.ReadFile, Funcs: session.SpecOf(e).FunctionValues, Value: session.SpecOf(e).ScalarParams,
	}
	if cat != nil {
		method = session.SpecOf(e).OnWire(method)
		typer, err := params.ForMethod(cat, conventions(cat), method, a.console.Warn)
		switch {
		case err != nil && p.catalog == "" && cat.Method(method) != nil: // the peer's mistake is not the user's
			a.console.Warn(err.Error() + ": left unchecked")
		case err != nil:
			return params.Result{}, suggestMethod(a, err, method, cat)
		default:
			po.Typer = typer
		}
	}
	r, err := params.Parse(args, po)
	if err == nil && p.style == "positional" {
		r.Params = params.Positional(r.Params, po.Typer)
	}
	return r, suggestParams(a.line, err)
}

// rawRequest reads --raw-request.
func rawRequest(ctx context.Context, given string) (json.RawMessage, error) {
	msg := []byte(given)
	if given == "-" {
		var err error
		if msg, err = readStdin(ctx); err != nil {
			return nil, err
		}
	}
	msg = trimBlank(msg)
	if err := scan.Valid(msg, wire.DefaultMaxDepth); err != nil {
		return nil, wire.NewFault(wire.Usage, "--raw-request is no JSON: "+err.Error(), err)
	}
	if t := scan.Type(msg); t != 'o' && t != 'a' {
		return nil, wire.NewFault(wire.Usage, "--raw-request is no message: one is an object, or an array of them", nil)
	}
	return msg, nil
}

// converse makes the call that ready prepares.
func (o *callOptions) converse(ctx context.Context, a *app, e session.Endpoint, cat *catalog.Catalog, print *format.Pipeline, ready prepareFunc) error {
	cl := o.time.deadline(ctx, defaultIdle)
	return a.converse(ctx, cl, e, &o.clientFlags, cat, func(conv session.Conversation) error {
		return o.exchange(cl, a, e, conv, print, ready)
	})
}

// exchange is what becomes of the call on a connection.
func (o *callOptions) exchange(cl *deadline, a *app, e session.Endpoint, conv session.Conversation, print *format.Pipeline, ready prepareFunc) error {
	p, err := ready(cl.ctx, conv)
	e.Dialect = conv.Dialect()
	switch {
	case err != nil:
		return err
	case o.params.dryRun:
		return dryRun(e, p.op)
	case p.op.Kind == dialect.Notify:
		return cause(cl.ctx, conv.Notify(cl.ctx, p.op))
	}
	err = a.retry(cl.ctx, o.retry, func() error {
		st, err := conv.Open(cl.ctx, p.op)
		if err != nil || st == nil {
			return cause(cl.ctx, err)
		}
		c := o.consumer(a, conv, st, print, cl, p.op)
		c.cat = p.cat
		if err := a.expectResult(c, e, p, o.params); err != nil {
			return err
		}
		return noCancelHint(session.SpecOf(e), c.waited(c.run()), "what was called")
	})
	if f := wire.AsFault(err); f != nil && f.Kind == wire.RPCError {
		suggest(a, f, p.cat)
		return errors.Join(err, print.Flush())
	}
	return errors.Join(err, print.Finish())
}

func (o *callOptions) consumer(a *app, conv session.Conversation, st dialect.Stream, print *format.Pipeline, cl *deadline, op dialect.Op) *consumer {
	many := op.Kind == dialect.Raw && scan.Type(op.Params) == 'a'
	c := &consumer{app: a, conv: conv, stream: st, print: print, deadline: cl, method: op.Method, many: many, answers: o.answers}
	c.grace.wait = time.Duration(o.grace)
	return c
}
