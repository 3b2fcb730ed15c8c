package plugin

import (
	"context"
	"encoding/json"
	"fmt"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/request"
	"rpcx/wire"
)

// runOptions are the flags of rpcx plugin run.
type runOptions struct {
	flags
	file string
}

func runCommand(run *env.Env) *cmdline.Command {
	o := &runOptions{}
	flags := []*cmdline.Flag{cmdline.Text("", "file", "f", "read the steps from `FILE` (- for stdin)", &o.file)}
	return &cmdline.Command{
		Name: "run", Usage: "run several steps over one connection", Args: "ENDPOINT -f STEPS",
		Description: `STEPS is a file with one JSON object for each step. Each object has one of these members: call
with the name of a function, new with the name of a class, method with the name of a method,
get or set with the name of a property, or destroy with the name of the step that created the
object. For method, get and set, the member on is the name of the step that created the
object, or the object's reference. args and kwargs are the arguments; the only argument of set
is the value. as gives the step a name: in the arguments of later steps, {"$step":NAME} stands
for its result. In arguments, {"$on":NAME} is a callback that --on NAME=ANSWER answers. rpcx
prints the result of each step on one line, and stops at the first step that fails.`,
		Examples: []cmdline.Example{
			{Says: "Create an object and call one of its methods", Command: `printf '%s\n' '{"as":"c","new":"Config"}' '{"method":"get","on":"c","args":["color"]}' | rpcx plugin run demo:scriptling -f -`},
			{Says: "Run the steps in a file", Command: "rpcx plugin run exec:./plugin -f steps.ndjson"},
		},
		Flags:  append(flags, o.flags.all(run)...),
		Action: func(ctx context.Context) error { return runRun(ctx, run, o) },
	}
}

func runRun(ctx context.Context, run *env.Env, o *runOptions) error {
	e, rest, err := o.endpoint(ctx, run)
	switch {
	case err != nil:
		return err
	case len(rest) > 0:
		return run.Line.Usage("plugin run takes only an endpoint and -f FILE, not %q", rest[0])
	case o.file == "":
		return run.Line.Usage("plugin run needs its steps: -f FILE")
	}
	r, err := o.request(run, e)
	if err != nil {
		return err
	}
	steps, err := readSteps(ctx, o.file)
	if err != nil {
		return err
	}
	funcs := map[string]string{}
	for _, s := range steps {
		for at, name := range s.funcs {
			funcs[fmt.Sprint(s.number, at)] = name
		}
	}
	if err := o.callbacks(e, funcs); err != nil {
		return err
	}
	return r.Converse(ctx, func(p *request.ResponsePrinter) error { return perform(p, steps) })
}

// perform makes the steps one by one in the conversation of p.
func perform(p *request.ResponsePrinter, steps []*step) error {
	results := map[string]json.RawMessage{}
	for _, s := range steps {
		p = p.Reset()
		pc, err := s.call(results)
		if err == nil {
			p.KeepLast, p.Method = true, pc.name
			err = named(p.Do(pc.op), pc)
		}
		if f := wire.AsFault(err); f != nil {
			return f.About(fmt.Sprintf("step %d", s.number))
		}
		if err != nil {
			return err
		}
		results[s.as] = p.Last
	}
	return nil
}
