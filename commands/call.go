package commands

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"rpcx/commands/artifacts"
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
	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
)

// callOptions are the flags of call, and what they come to.
type callOptions struct {
	options.Client
	params     options.Params
	fields     dialects.RequestFields
	cache      request.CacheFlags
	answers    *request.AnswerCache // nil: answers are not cached
	notify     bool
	batch      bool
	jobs       int64
	unordered  bool
	rawRequest string
	grace      cmdline.Duration
	retry      request.Retries
	method     []string
	files      artifacts.Flags
}

func callCommand(run *env.Env) *cmdline.Command {
	o := &callOptions{fields: dialects.NewRequestFields()}
	flags := append([]cmdline.Flag{
		cmdline.List("", "method", "", "also print the notifications of the method `NAME` that come before the answer (tick* is a pattern; repeatable)", &o.method),
		options.GraceFlag(&o.grace),
		cmdline.Bool("", "notify", "n", "send a notification: no answer is expected", &o.notify),
		cmdline.Bool("", "batch", "", `read lines {"method","params","id"} from stdin (with "notify":true a notification), and print one line for each`, &o.batch),
		cmdline.Number("", "jobs", "with --batch, keep `N` calls in flight (16)", 1, &o.jobs),
		cmdline.Bool("", "unordered", "", "with --batch, print answers as they come", &o.unordered),
		cmdline.Text("", "raw-request", "", "send the message `JSON` (- for stdin) as it stands, with its own id", &o.rawRequest),
	}, slices.Concat(o.params.Flags(), o.fields.Flags(), o.cache.Flags(), o.retry.Flags(), o.files.EmbeddedFlags())...)
	return &cmdline.Command{
		Name:        "call",
		Usage:       "make one call and print its result",
		ArgsUsage:   "ENDPOINT METHOD [PARAMS...]",
		Description: callDescription + "\n\n" + paramsDescription,
		Metadata: map[string]any{cmdline.ExamplesKey: append([]cmdline.Example{
			{Says: "A call of the embedded demo", Command: "rpcx call demo:orders getOrder id=o_002"},
			{Says: "One member of a result, without quotes", Command: "rpcx call demo:orders getOrder id=o_003 -r -q .status"},
			{Says: "Answer the peer when it calls back", Command: `rpcx call demo:orders approveOrder id=o_003 --on 'approve=jq:.total < 1000'`},
			{Says: "What would be sent", Command: "rpcx call ws://localhost:8080/ add a:=1 b:=2 --dry-run"},
			{Says: "Assert in CI", Command: "rpcx call demo:orders getOrder id=o_001 --expect '.status == \"shipped\"'"},
		}, dialects.Examples("call")...)},
		Flags:  append(flags, o.Flags(run, options.IdleCall)...),
		Action: func(ctx context.Context, _ *cmdline.Command) error { return runCall(ctx, run, o) },
	}
}

const callDescription = `Makes one call: its data goes to stdout, one JSON value a line, and the command ends with
the call, whatever else arrives meanwhile. --on and --hooks answer what the peer asks of
us; what nothing answers gets -32601. Use subscribe for a method that streams: call prints
the first answer, often only the subscription's id. In introspect every method streams:
call prints the whole stream, and METHOD --help what the method takes. A HotRepl host has
one client at a time: call without a session evicts the client that was connected.

In scomp, values can hold functions. One that the peer hands out comes as {"$fn":"ID"},
and METHOD ref:ID calls it, on the same connection: use a session. key@on=NAME hands out
one of ours, which --on NAME=ANSWER answers as long as the command runs. Functions end
with their connection; those of the peer are released before rpcx leaves.`

const paramsDescription = `PARAMS are key=text, key:=json, key@=FILE (its text), key:@=FILE (its JSON), where a.b
nests and a[] appends; or JSON: one object or array is the whole params, several values
are positional; - reads the whole params from stdin. Quote words with spaces, quotes, $ or
[] for the shell.`

func runCall(ctx context.Context, run *env.Env, o *callOptions) error {
	if run.Line.WantsHelp {
		return methodHelp(ctx, run, &o.Client, o.params.Catalog)
	}
	e, rest, err := request.Endpoint(ctx, run, o.Conn.Dialect)
	if err != nil {
		return err
	}
	o.cache.Fresh = (o.Conn.NoCache || o.Conn.Refresh) && !e.Spec().Discovery.IsCached()
	if err := o.exclude(run.Line, rest); err != nil {
		return err
	}
	if err := o.files.CheckEmbedded(run, e); err != nil {
		return err
	}
	r, err := request.New(run, &o.Client, e, o.params, format.Options{})
	if err != nil {
		return err
	}
	if o.batch {
		return batch.Run(ctx, run, batch.Options{Client: &o.Client, Params: o.params, Jobs: o.jobs, Unordered: o.unordered}, e, r.Catalog, r.Print)
	}
	o.Hooks.Functions = params.FuncNames(rest)
	if !o.notify {
		o.Calls(rest)
	}
	r.Args, r.Idle, r.Retries = rest, o.Time.Idle.Or(options.DefaultIdle), o.retry
	r.Operation = func(e endpoint.Endpoint, cat *catalog.Catalog) (dialect.Op, error) {
		return o.operation(ctx, run, e, rest, cat)
	}
	r.Before = func(op dialect.Op) (found bool, err error) {
		if o.answers, err = o.cache.For(ctx, run, e, op, &o.Conn); err != nil {
			return false, err
		}
		if found, err = o.answers.Find(ctx, r.Print); found {
			err = errors.Join(err, r.Print.Finish())
		}
		return found, err
	}
	var last *request.ResponsePrinter
	r.Consume = func(c *request.ResponsePrinter, op dialect.Op) error {
		if last = c; e.Spec().Files.AreEmbedded() {
			c.KeepRaw = true
		}
		return o.consume(c, op)
	}
	r.Then = func(ctx context.Context) error {
		if last == nil {
			return nil
		}
		return o.files.SaveEmbedded(ctx, run, e, last.Raw)
	}
	return r.Do(ctx)
}

// consume reads the answer; if it is a job, it waits for the job's result.
func (o *callOptions) consume(c *request.ResponsePrinter, op dialect.Op) error {
	c.Many = op.Kind == dialect.Raw && scan.Type(op.Params) == 'a'
	if len(o.method) > 0 {
		c.Notifications = &dialect.Op{Kind: dialect.Watch, Method: strings.Join(o.method, "\n")}
	}
	c.Answers, c.Grace, c.CheckResult, c.What = o.answers, time.Duration(o.grace), true, "what was called"
	return c.AwaitJob(c.Do(op))
}

// exclude returns an error for flags that contradict each other.
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
	case o.batch && (o.cache != (request.CacheFlags{}) || o.fields.Given()):
		return l.Usage("--cache, --no-cache, --target and the like go with one call, not with --batch")
	case o.files.Dir != "" && (o.batch || o.notify || o.rawRequest != ""):
		return l.Usage("--save goes with one call that has a method and an answer")
	case len(o.method) > 0 && (o.batch || o.notify || o.rawRequest != ""):
		return l.Usage("--method goes with one call that has a method and an answer")
	case o.batch && o.retry != (request.Retries{}):
		return l.Usage("--retry goes with one call, not with --batch")
	case o.retry.Unsafe && o.retry.N == 0:
		return l.Usage("--retry-unsafe goes with --retry")
	case o.jobs > batch.MaxJobs:
		return l.Usage("--jobs: at most %d calls are kept in flight", batch.MaxJobs)
	}
	return nil
}

// operation returns the operation to send: the message of --raw-request, or
// METHOD with its params.
func (o *callOptions) operation(ctx context.Context, run *env.Env, e endpoint.Endpoint, rest []string, cat *catalog.Catalog) (op dialect.Op, err error) {
	if o.rawRequest != "" {
		msg, err := rawRequest(ctx, o.rawRequest)
		return dialect.Op{Kind: dialect.Raw, Params: msg}, err
	}
	op = dialect.Op{Kind: dialect.Call, Method: rest[0]}
	if o.notify {
		op.Kind = dialect.Notify
	}
	if op.Extra, err = o.fields.Extra(run.Line, e, o.Conn.NoCache || o.Conn.Refresh); err != nil {
		return op, err
	}
	if err := request.FillParams(ctx, run, e, &op, rest[1:], o.params, cat); err != nil || len(op.Funcs) == 0 {
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
