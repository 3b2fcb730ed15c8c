package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/commands/params"
	"rpcx/commands/request"
	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
	"rpcx/wire/session/rundir"
)

// A verb is a subcommand of rpcx plugin that makes one call.
type verb struct {
	name, usage string
	words       []string // the placeholders of fixed arguments
	free        bool     // further arguments may follow
	method      string   // the name on the wire
	object      bool     // the first argument is an object, which needs a connection that outlives the command
	about       string
	examples    []cmdline.Example
}

var verbs = []verb{
	{
		name: "call", usage: "call a function", words: []string{"FUNC"}, free: true, method: "function.call",
		about: "Prints the function's result.",
		examples: []cmdline.Example{
			{Says: "Call a function of the embedded plugin", Command: "rpcx plugin call demo:scriptling greet Ada"},
			{Says: "Pass a callback that a hook answers", Command: `rpcx plugin call demo:scriptling map '[1,2]' @on=half --on 'half=jq:.args[0] / 2'`},
		},
	},
	{
		name: "new", usage: "create an object of a class", words: []string{"CLASS"}, free: true, method: "object.new",
		about:    "Prints the object's reference. Without a session, the object lives only as long as the command.",
		examples: []cmdline.Example{{Says: "Print a reference to a new object", Command: "rpcx plugin new demo:scriptling Config"}, {Says: "Pass an argument to the constructor, in a session", Command: "rpcx plugin new @p Config name=main"}},
	},
	{
		name: "method", usage: "call a method of an object", words: []string{"REF", "METHOD"}, free: true, method: "object.call_method", object: true,
		about: "REF is the id of an object, or its reference as plugin new prints it.",
		examples: []cmdline.Example{
			{Says: "Use a session, in which objects last", Command: `rpcx connect scriptling+exec:./plugin --session plug
rpcx plugin method @plug "$(rpcx plugin new @plug Config)" get color
rpcx session close plug`},
			{Says: "Call a method of an object in the session p", Command: "rpcx plugin method @p 1 get size"},
		},
	},
	{
		name: "get", usage: "print a property of an object", words: []string{"REF", "PROP"}, method: "object.call_method", object: true,
		about:    "REF is the id of an object, or its reference as plugin new prints it.",
		examples: []cmdline.Example{{Says: "Print a property of an object, in a session", Command: "rpcx plugin get @p 1 name"}, {Says: "Print a property without quotes", Command: "rpcx plugin get @p 1 name -r"}},
	},
	{
		name: "set", usage: "set a property of an object", words: []string{"REF", "PROP", "VALUE"}, method: "object.call_method", object: true,
		about:    "REF is the id of an object, or its reference as plugin new prints it. rpcx reads VALUE as JSON if\nit is valid JSON, otherwise as text; =TEXT is always text, and :=JSON is always JSON.",
		examples: []cmdline.Example{{Says: "Set a property to a number", Command: "rpcx plugin set @p 1 volume 11"}, {Says: "Set a property to a string of digits", Command: "rpcx plugin set @p 1 volume =11"}},
	},
	{
		name: "destroy", usage: "release an object", words: []string{"REF"}, method: "object.destroy", object: true,
		about:    "REF is the id of an object, or its reference as plugin new prints it. It is not an error\nif the object has already been released.",
		examples: []cmdline.Example{{Says: "Release an object that is no longer needed", Command: "rpcx plugin destroy @p 1"}, {Says: "Use the reference that plugin new has printed", Command: `rpcx plugin destroy @p "$object"`}},
	},
}

const argumentsDescription = `ARGS are positional. rpcx reads an argument as JSON if it is valid JSON, otherwise as text;
=TEXT is always text, and :=JSON is always JSON. @on=NAME is a callback that --on NAME=ANSWER
answers. key=text, key:=json, key@=FILE, key:@=FILE and key@on=NAME are passed by name.`

type verbOptions struct {
	flags
	values bool
	dryRun bool
}

func (v verb) command(run *env.Env) *cmdline.Command {
	o := &verbOptions{}
	usage := "ENDPOINT " + strings.Join(v.words, " ")
	about := v.about
	if v.free {
		usage += " [ARGS...] [key=value...]"
		about += "\n\n" + argumentsDescription
	}
	flags := []*cmdline.Flag{
		cmdline.Bool(groupPlugin, "values", "", "read and print transport values unchanged, such as {\"type\":\"int\",\"value\":1}", &o.values),
		cmdline.Bool(cmdline.GroupParams, "dry-run", "", "print the message without sending it", &o.dryRun),
	}
	return &cmdline.Command{
		Name: v.name, Usage: v.usage, Args: usage, Description: about,
		Examples: v.examples,
		Flags:    append(flags, o.flags.all(run)...),
		Action:   func(ctx context.Context) error { return v.run(ctx, run, o) },
	}
}

func (v verb) run(ctx context.Context, run *env.Env, o *verbOptions) error {
	e, rest, err := o.endpoint(ctx, run)
	if err != nil {
		return err
	}
	switch n := len(v.words); {
	case v.missing(rest) != "":
		return run.Line.Usage("%s is missing", v.missing(rest))
	case len(rest) > n && !v.free:
		return run.Line.Usage("plugin %s takes %s: unexpected argument %q", v.name, strings.Join(v.words, " and "), rest[n])
	case v.object && e.Socket == "" && !strings.HasPrefix(e.Address.Scheme, "http") && !o.dryRun: // the object would not outlive this command
		return noSession(run, e)
	}
	r, err := o.request(run, e)
	if err != nil {
		return err
	}
	pc, err := v.call(ctx, rest, o.values)
	if err != nil {
		return err
	}
	if err := o.callbacks(e, pc.op.Funcs); err != nil {
		return err
	}
	if o.dryRun {
		e.Dialect = options.PluginDialect
		return request.DryRun(ctx, nil, e, pc.op)
	}
	r.Op, r.Read.Method = pc.op, pc.name
	r.Explain = func(p *request.ResponsePrinter, err error) error {
		err = named(err, pc)
		if f := wire.AsFault(err); f != nil && f.Kind == wire.RPCError {
			suggest(p, run, f, pc)
		}
		return err
	}
	return r.Do(ctx)
}

// missing returns the placeholder of the first missing fixed argument, or "". An empty value is not missing.
func (v verb) missing(rest []string) string {
	for i, word := range v.words {
		if i >= len(rest) || rest[i] == "" && word != "VALUE" {
			return word
		}
	}
	return ""
}

// noSession returns the usage Fault for a command that needs an object but has a new connection.
func noSession(run *env.Env, e endpoint.Endpoint) error {
	at := run.Line.Args[0]
	if e.Demo == "" && !strings.HasPrefix(at, options.PluginDialect+"+") && !strings.HasPrefix(at, "@") {
		at = options.PluginDialect + "+" + at
	}
	more := []string{"--session=" + rundir.FreeName()}
	if strings.HasPrefix(at, "@") {
		more = append(more, "--dialect="+options.PluginDialect)
	}
	return run.Line.Usage("an object lives as long as its connection, but this command would open a new one").
		WithFix("open a session and use its @NAME", run.Line.ForCommand("connect", []string{at}, more...))
}

// call returns the operation for the words after the endpoint.
func (v verb) call(ctx context.Context, words []string, values bool) (operation, error) {
	fixed := words[:len(v.words)]
	pc := operation{op: dialect.Op{Kind: dialect.Call, Method: v.method}, name: fixed[len(fixed)-1], at: len(fixed)}
	args := params.Arguments{}
	var err error
	if v.free {
		args, err = params.ParseArguments(words[len(v.words):], params.Options{Stdin: env.Stdin(ctx), ReadFile: os.ReadFile, Funcs: true})
	}
	switch v.name {
	case "set":
		pc.name, pc.at = fixed[1], 2
		var val json.RawMessage
		var hook string
		if val, hook, err = params.Argument(fixed[2]); hook != "" {
			args.Funcs = map[string]string{"/args/0": hook}
		}
		args.Args = scan.ArrayOf(val)
	case "destroy":
		pc.name, pc.at = "destroy", 0
	}
	if err != nil {
		return pc, err
	}
	if values {
		if err := onlyValues(args); err != nil {
			return pc, err
		}
		pc.op.Extra = json.RawMessage(`{"values":true}`)
	}
	pc.op.Params, pc.op.Funcs = v.params(fixed, args), args.Funcs
	return pc, nil
}

// params returns the params with plain arguments for the wire.
func (v verb) params(fixed []string, args params.Arguments) json.RawMessage {
	keys := map[string][]string{"function.call": {"name"}, "object.new": {"class"}}[v.method]
	if v.object {
		keys = []string{"object_id", "method"}
		fixed = slices.Concat([]string{objectID(fixed[0])}, fixed[1:])
	}
	var o scan.Object
	for i, key := range keys[:min(len(keys), len(fixed))] {
		o.Text(key, fixed[i])
	}
	o.Add("args", args.Args)
	o.Add("kwargs", args.Kwargs)
	return o.End()
}

// objectID returns the id in REF: a reference, a JSON string, or the id itself.
func objectID(ref string) string {
	val := []byte(strings.TrimSpace(ref))
	if scan.Valid(val, wire.DefaultMaxDepth) != nil {
		return ref
	}
	for _, v := range [][]byte{scan.Get(scan.Get(val, "$remote"), "id"), scan.Get(val, "id"), val} {
		if id, ok := scan.Text(v); ok {
			return id
		}
	}
	return ref
}

// onlyValues returns an error for arguments other than transport Values, for --values.
func onlyValues(args params.Arguments) error {
	check := func(at string, v []byte) error {
		if scan.Type(v) == 'o' || args.Funcs[at] != "" {
			return nil
		}
		return wire.NewFault(wire.Usage, fmt.Sprintf("--values: %s is not a transport value, such as {\"type\":\"int\",\"value\":1}", v), nil)
	}
	for i, v := range scan.List(args.Args) {
		if err := check(fmt.Sprintf("/args/%d", i), v); err != nil {
			return err
		}
	}
	for key, v := range scan.Members(args.Kwargs) {
		if err := check("/kwargs/"+scan.Key(key), v); err != nil {
			return err
		}
	}
	return nil
}
