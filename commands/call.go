package commands

import (
	"context"
	"encoding/json"
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
	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// callOptions are the flags of call, and values that rpcx computes from them.
type callOptions struct {
	options.Client
	params    options.Params
	cache     request.CacheFlags
	notify    bool
	batch     bool
	jobs      int64
	unordered bool
	send      string
	grace     cmdline.Duration
	retry     request.Retries
	method    []string
	files     artifacts.Flags
}

func callCommand(run *env.Env) *cmdline.Command {
	o := &callOptions{}
	o.Handshake.Set.Requests = true
	flags := append([]*cmdline.Flag{
		cmdline.List("", "method", "", "also print the notifications of the method `NAME` that arrive before the result (NAME can be a pattern, such as tick*)", &o.method).Filled("the name of a method"),
		options.GraceFlag(&o.grace),
		cmdline.Bool("", "notify", "n", "send a notification, which has no response", &o.notify),
		cmdline.Bool("", "batch", "", `read calls from stdin, one per line, and print one line for each; a call is {"method","params","id"} (with "notify":true, a notification)`, &o.batch),
		cmdline.Number("", "jobs", "keep up to `N` calls in flight (16)", 1, &o.jobs),
		cmdline.Bool("", "unordered", "", "print results in the order of arrival", &o.unordered),
		cmdline.Text("", "send", "", "send the message `JSON` unchanged, with its own id (- for stdin)", &o.send),
	}, slices.Concat(o.params.Flags(), o.cache.Flags(), o.retry.Flags(), o.files.EmbeddedFlags())...)
	return &cmdline.Command{
		Name:        "call",
		Usage:       "make one call and print its result",
		Args:        "ENDPOINT METHOD [PARAMS...]",
		Description: callDescription + "\n\n" + paramsDescription,
		Examples: append([]cmdline.Example{
			{Says: "Call a method of the embedded demo", Command: "rpcx call demo:orders getOrder id=o_002"},
			{Says: "Print one member of a result, without quotes", Command: "rpcx call demo:orders getOrder id=o_003 -r -q .status"},
			{Says: "Answer the peer when it calls back", Command: `rpcx call demo:orders approveOrder id=o_003 --on 'approve=jq:.total < 1000'`},
			{Says: "Print the message without sending it", Command: "rpcx call ws://localhost:8080/ add a:=1 b:=2 --dry-run"},
			{Says: "Check a result in CI", Command: "rpcx call demo:orders getOrder id=o_001 --expect '.status == \"shipped\"'"},
		}, dialects.Examples("call")...),
		Flags:  append(flags, o.Flags(run, options.IdleCall)...),
		Action: func(ctx context.Context) error { return runCall(ctx, run, o) },
	}
}

const callDescription = `Makes one call and prints its result on stdout, one JSON value per line. Hooks (--on,
--hooks) answer requests from the peer; rpcx answers -32601 to requests without a hook. For a
method that streams, use subscribe: call prints only the first response, often the id of the
subscription. In the introspect dialect every method streams: call prints the whole stream,
and METHOD --help prints the method's parameters. A HotRepl host accepts one client at a
time: without a session, call evicts the client that was connected.

In the scomp dialect, values can contain functions. {"$fn":"ID"} is a function of the peer.
To call it, use ref:ID as METHOD on the same connection, that is, in a session. key@on=NAME
passes a function to the peer; the hook --on NAME=ANSWER answers calls to it until the command
ends. rpcx releases the peer's functions before it closes the connection.`

const paramsDescription = `PARAMS are key=text, key:=json, key@=FILE (the text of a file) or key:@=FILE (the JSON in a
file). In a key, a.b sets a nested member, and a[] appends to an array. PARAMS can also be JSON:
one object or array becomes the params; several values become positional params. A lone - reads
all params from stdin. Quote spaces, quotes, $ and [] for the shell.`

func runCall(ctx context.Context, run *env.Env, o *callOptions) error {
	if run.Line.WantsHelp {
		return methodHelp(ctx, run, &o.Client, o.params.Catalog)
	}
	e, rest, err := request.Endpoint(ctx, run, o.Conn.Dialect)
	if err != nil {
		return err
	}
	o.cache.Fresh = (o.Conn.NoCache || o.Conn.Refresh) && !e.Spec().Discovery.IsCached()
	members, err := o.Handshake.Set.Members(run.Line, e)
	if err != nil {
		return err
	}
	if err := o.exclude(run.Line, rest, members != nil); err != nil {
		return err
	}
	if err := o.files.CheckEmbedded(run, e); err != nil {
		return err
	}
	r, err := request.New(run, &o.Client, e, o.params)
	if err != nil {
		return err
	}
	if o.batch {
		return batch.Run(ctx, r, o.jobs, o.unordered)
	}
	return o.do(ctx, r, rest)
}

// do makes a single call: METHOD with its params, or --send.
func (o *callOptions) do(ctx context.Context, r *request.Request, rest []string) error {
	r.Args, r.Cache, r.Retries, r.Idle = rest, o.cache, o.retry, o.Time.Idle.Or(options.DefaultIdle)
	r.Read = request.ReadOptions{Grace: time.Duration(o.grace), CheckResult: !o.params.NoCheck, Jobs: true, What: "the call"}
	if r.Endpoint.Spec().Files.AreEmbedded() {
		r.Files, r.Read.KeepRaw = &o.files, true
	}
	if len(o.method) > 0 {
		r.Read.Notifications = &dialect.Op{Kind: dialect.Watch, Method: strings.Join(o.method, "\n")}
	}
	o.Hooks.Functions = params.FuncNames(rest)
	switch {
	case o.send != "":
		msg, err := messageToSend(ctx, o.send)
		if err != nil {
			return err
		}
		r.Op = dialect.Op{Kind: dialect.Raw, Params: msg}
		r.Read.Many = scan.Type(msg) == 'a'
	case o.notify:
		r.Op.Kind = dialect.Notify
	default:
		r.Op.Kind = dialect.Call
		o.Calls(rest)
	}
	return r.Do(ctx)
}

// callConflicts lists mutually exclusive flags by the keys that exclude defines. exclude reports the first row that matches.
var callConflicts = []struct {
	given  string
	with   []string
	reason string
}{
	{"batch", []string{"notify", "send", "arguments"}, "--batch reads all calls from stdin; it takes no METHOD, --notify or --send"},
	{"batch", []string{"messages", "expect-error"}, "--messages and --expect-error need a single call, not --batch"},
	{"notify", []string{"result"}, "--notify expects no response, so it takes no --jq, --expect or --template"},
	{"send", []string{"notify", "arguments"}, "--send is the whole message; it takes no METHOD, params or --notify"},
	{"one call", []string{"no method"}, "the method is missing"},
	{"batch", []string{"cache"}, "--cache and --no-cache need a single call, not --batch"},
	{"members", []string{"batch", "send"}, "--set needs a single call with a METHOD, not --batch or --send"},
	{"save", []string{"batch", "notify", "send"}, "--save needs a single call with a response"},
	{"method", []string{"batch", "notify", "send"}, "--method needs a single call with a response"},
	{"batch", []string{"retry", "retry-unsafe"}, "--retry needs a single call, not --batch"},
}

// ofResults are the flags for a call's result.
var ofResults = []string{"jq", "template", "decode", "expect", "expect-any", "expect-none", "expect-error", "expect-count"}

// exclude returns an error for mutually exclusive flags. members is true if --set sets members of requests.
func (o *callOptions) exclude(l *cmdline.CommandLine, rest []string, members bool) error {
	given := map[string]bool{
		"arguments": len(rest) > 0, "no method": o.send == "" && (len(rest) == 0 || rest[0] == ""), "one call": !o.batch,
		"batch": o.batch, "notify": o.notify, "send": o.send != "", "messages": o.Out.Raw, "expect-error": o.Out.ExpectError != "",
		"cache": o.cache != (request.CacheFlags{}), "members": members, "save": o.files.Dir != "",
		"method": len(o.method) > 0, "result": slices.ContainsFunc(ofResults, l.Has), "retry": o.retry.N != 0, "retry-unsafe": o.retry.Unsafe,
	}
	for _, c := range callConflicts {
		if given[c.given] && slices.ContainsFunc(c.with, func(other string) bool { return given[other] }) {
			return l.Usage("%s", c.reason)
		}
	}
	if o.jobs > batch.MaxJobs {
		return l.Usage("--jobs is at most %d", batch.MaxJobs)
	}
	return nil
}

func messageToSend(ctx context.Context, given string) (json.RawMessage, error) {
	msg := []byte(given)
	if given == "-" {
		var err error
		if msg, err = env.ReadStdin(ctx); err != nil {
			return nil, err
		}
	}
	msg = scan.Trim(msg)
	if err := scan.Valid(msg, wire.DefaultMaxDepth); err != nil {
		return nil, wire.NewFault(wire.Usage, "--send is not valid JSON: "+err.Error(), err)
	}
	if t := scan.Type(msg); t != 'o' && t != 'a' {
		return nil, wire.NewFault(wire.Usage, "--send is not a message: send an object, or an array of objects", nil)
	}
	return msg, nil
}
