package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v3"

	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/session"
)

// pluginRunOptions are what `plugin run` was given.
type pluginRunOptions struct {
	pluginOptions
	file string
}

func pluginRunCommand(a *app) *cli.Command {
	o := &pluginRunOptions{}
	flags := []cli.Flag{text("", "file", "f", "read the steps from `FILE` (- is stdin)", &o.file)}
	return &cli.Command{
		Name: "run", Usage: "perform several steps over one connection", ArgsUsage: "ENDPOINT -f STEPS",
		Description: `STEPS holds a JSON object for each step, with one of call, new, method, get, set and
destroy, whose value is the name of the function, class, method or property; on, the name
of the step that made the object (or its reference); and args and kwargs. as names the
step: {"$step":NAME} stands for its result in later args, and on takes the name as it is.
{"$on":NAME} in args is a callback, answered by --on NAME=ANSWER.
Each step's result is one line; the first that fails ends the run.`,
		Metadata: map[string]any{examplesKey: []Example{
			{"An object, and a method of it", `printf '%s\n' '{"as":"c","new":"Config"}' '{"method":"get","on":"c","args":["color"]}' | rpcx plugin run demo:scriptling -f -`},
		}},
		Flags:  append(flags, o.pluginOptions.flags(a)...),
		Action: func(ctx context.Context, _ *cli.Command) error { return runPluginRun(ctx, a, o) },
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
	cl := o.time.clock(ctx, defaultIdle)
	a.heard = cl.touch // a callback counts as a message of its call
	return a.converse(ctx, cl, e, &o.clientFlags, nil, func(conv session.Conversation) error {
		return performSteps(cl, a, conv, steps, print)
	})
}

// performSteps makes the steps on a connection.
func performSteps(cl *clock, a *app, conv session.Conversation, steps []*step, print *format.Pipeline) error {
	results := map[string]json.RawMessage{}
	for _, s := range steps {
		pc, err := s.call(results)
		if err != nil {
			return err
		}
		cl.touch()
		keep := &keeper{Conversation: conv}
		if err := a.pluginCall(cl, keep, pc, print); err != nil {
			if f := wire.AsFault(err); f != nil && f.Kind == wire.RPCError {
				return errors.Join(s.fault(err), print.Flush())
			}
			return errors.Join(s.fault(err), print.Finish())
		}
		if s.as != "" {
			results[s.as] = keep.result
		}
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

// keeper is a Conversation that keeps the data of the event that it showed last.
type keeper struct {
	session.Conversation
	result json.RawMessage
}

// Event is what a user sees of m.
func (k *keeper) Event(m wire.Message) (wire.Event, error) {
	ev, err := k.Conversation.Event(m)
	if err == nil && ev.Kind == wire.Data {
		k.result = bytes.Clone(ev.Data)
	}
	return ev, err
}

// A step is one line of a run.
type step struct {
	number int
	as     string
	verb   string // call, new, method, get, set, destroy
	name   string // what is called
	on     json.RawMessage
	args   json.RawMessage
	kwargs json.RawMessage
	funcs  map[string]string
}

var stepVerbs = []string{"call", "new", "method", "get", "set", "destroy"}

func readSteps(ctx context.Context, file string) ([]*step, error) {
	var b []byte
	var err error
	if file == "-" {
		b, err = readStdin(ctx)
	} else if b, err = os.ReadFile(file); err != nil {
		err = wire.NewFault(wire.Usage, "-f: "+err.Error(), err)
	}
	if err != nil {
		return nil, err
	}
	var steps []*step
	named := map[string]bool{}
	dec := json.NewDecoder(bytes.NewReader(b))
	for n := 1; ; n++ {
		var raw json.RawMessage
		if err := dec.Decode(&raw); errors.Is(err, io.EOF) {
			return steps, nil
		} else if err != nil {
			return nil, wire.NewFault(wire.Usage, fmt.Sprintf("step %d is no JSON: %v", n, err), err)
		}
		s := &step{number: n}
		if err := s.read(raw, named); err != nil {
			return nil, wire.NewFault(wire.Usage, fmt.Sprintf("step %d: %v", n, err), err)
		}
		if s.as != "" {
			named[s.as] = true
		}
		steps = append(steps, s)
	}
}

// read takes a step apart; named are the steps before it.
func (s *step) read(raw []byte, named map[string]bool) error {
	if err := scan.Valid(raw, wire.DefaultMaxDepth); err != nil || scan.Type(raw) != 'o' {
		return errors.New("a step is an object")
	}
	m := scan.Object(raw, wire.DefaultMaxDepth)
	for key, v, ok := m.Next(); ok; key, v, ok = m.Next() {
		if err := s.member(scan.Key(key), v); err != nil {
			return err
		}
	}
	if s.verb == "" {
		return fmt.Errorf("it has none of %v", stepVerbs)
	}
	object := s.verb != "call" && s.verb != "new"
	if object && s.on == nil && s.verb == "destroy" { // "destroy": NAME says it all
		s.on = scan.AppendQuoted(nil, s.name)
	}
	switch {
	case object && s.on == nil:
		return fmt.Errorf("%s needs on, the step that made the object", s.verb)
	case !object && s.on != nil:
		return fmt.Errorf("%s takes no on", s.verb)
	}
	if name, ok := scan.Text(s.on); ok && !named[name] {
		return fmt.Errorf("on: no step before it is named %q", format.CleanLine(name))
	}
	s.funcs = map[string]string{}
	for _, part := range []struct {
		at  string
		val json.RawMessage
	}{{"/args", s.args}, {"/kwargs", s.kwargs}} {
		if part.val == nil {
			continue
		}
		if _, err := s.replace(nil, part.val, part.at, func(name string) (json.RawMessage, error) {
			if !named[name] {
				return nil, fmt.Errorf("no step before it is named %q", format.CleanLine(name))
			}
			return json.RawMessage("null"), nil
		}); err != nil {
			return err
		}
	}
	return nil
}

func (s *step) member(key string, v []byte) error {
	name, isText := scan.Text(v)
	switch key {
	case "as":
		if s.as = name; !isText || name == "" {
			return errors.New("as is the step's name, a string")
		}
		return nil
	case "on":
		s.on = v
		return nil
	case "args":
		if s.args = v; scan.Type(v) != 'a' {
			return errors.New("args must be an array")
		}
		return nil
	case "kwargs":
		if s.kwargs = v; scan.Type(v) != 'o' {
			return errors.New("kwargs must be an object")
		}
		return nil
	}
	for _, verb := range stepVerbs {
		switch {
		case key != verb:
			continue
		case s.verb != "":
			return fmt.Errorf("it has both %s and %s", s.verb, verb)
		case !isText && verb != "destroy":
			return fmt.Errorf("%s must be a name, a string", verb)
		}
		s.verb, s.name = verb, name
		return nil
	}
	return fmt.Errorf("it has a member %q, which no step has", format.CleanLine(key))
}
