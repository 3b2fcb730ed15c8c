package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/session"
)

// pluginRunOptions are what `plugin run` was given.
type pluginRunOptions struct {
	pluginOptions
	file string
}

func pluginRunCommand(a *app) *Command {
	o := &pluginRunOptions{}
	flags := []Flag{text("", "file", "f", "read the steps from `FILE` (- is stdin)", &o.file)}
	return &Command{
		Name: "run", Usage: "perform several steps over one connection", ArgsUsage: "ENDPOINT -f STEPS",
		Description: `STEPS holds a JSON object for each step. Its call, new, method, get or set is the name of
the function, class, method or property; its destroy the name of the step that made the
object. For method, get and set, on is that step (or the object's reference). args and
kwargs are the arguments, of set one, the value. as names a step: {"$step":NAME} stands
for its result in the arguments of later ones. {"$on":NAME} there is a callback, answered
by --on NAME=ANSWER. Each step's result is one line; the first that fails ends the run.`,
		Metadata: map[string]any{examplesKey: []Example{
			{Says: "An object, and a method of it", Command: `printf '%s\n' '{"as":"c","new":"Config"}' '{"method":"get","on":"c","args":["color"]}' | rpcx plugin run demo:scriptling -f -`},
		}},
		Flags:  append(flags, o.pluginOptions.flags(a)...),
		Action: func(ctx context.Context, _ *Command) error { return runPluginRun(ctx, a, o) },
	}
}

func runPluginRun(ctx context.Context, a *app, o *pluginRunOptions) error {
	e, rest, err := o.endpoint(ctx, a)
	switch {
	case err != nil:
		return err
	case len(rest) > 0:
		return a.line.usage("plugin run takes an endpoint and -f FILE, not %q", rest[0])
	case o.file == "":
		return a.line.usage("plugin run needs its steps: -f FILE")
	}
	print, err := a.printer(e, &o.out, format.Options{})
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
	return o.perform(ctx, a, e, steps, print)
}

// perform makes the steps, one after another, over one connection.
func (o *pluginRunOptions) perform(ctx context.Context, a *app, e session.Endpoint, steps []*step, print *format.Pipeline) error {
	cl := o.time.deadline(ctx, defaultIdle)
	a.heard = cl.touch // a callback counts as a message of its call
	return a.converse(ctx, cl, e, &o.clientFlags, nil, func(conv session.Conversation) error {
		return performSteps(cl, a, conv, steps, print)
	})
}

// performSteps makes the steps on a connection.
func performSteps(cl *deadline, a *app, conv session.Conversation, steps []*step, print *format.Pipeline) error {
	results := map[string]json.RawMessage{}
	for _, s := range steps {
		cl.touch()
		keep := &resultKeeper{Conversation: conv}
		pc, err := s.call(results)
		if err == nil {
			err = a.pluginCall(cl, keep, pc, print)
		}
		if f := wire.AsFault(err); f != nil && f.Kind == wire.RPCError {
			return errors.Join(s.fault(err), print.Flush())
		}
		if err != nil {
			return errors.Join(s.fault(err), print.Finish())
		}
		results[s.as] = keep.result
	}
	return print.Finish()
}

// fault says in which step it was.
func (s *step) fault(err error) error {
	f := wire.AsFault(err)
	if f == nil {
		return err
	}
	g := *f
	g.Message = fmt.Sprintf("step %d: %s", s.number, f.Message)
	return &g
}

// resultKeeper is a Conversation that keeps the data of the event that it showed last.
type resultKeeper struct {
	session.Conversation
	result json.RawMessage
}

// Event is what a user sees of m.
func (k *resultKeeper) Event(m wire.Message) (wire.Event, error) {
	ev, err := k.Conversation.Event(m)
	if err == nil && ev.Kind == wire.Data {
		k.result = bytes.Clone(ev.Data)
	}
	return ev, err
}
