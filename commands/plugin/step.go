package plugin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"rpcx/commands/env"
	"rpcx/commands/params"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// A step is one step of rpcx plugin run.
type step struct {
	number int
	as     string
	verb   verb
	name   string
	on     json.RawMessage
	args   json.RawMessage
	kwargs json.RawMessage
	funcs  map[string]string
}

func readSteps(ctx context.Context, file string) ([]*step, error) {
	var b []byte
	var err error
	if file == "-" {
		b, err = env.ReadStdin(ctx)
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
			return nil, wire.NewFault(wire.Usage, fmt.Sprintf("step %d is not valid JSON: %v", n, err), err)
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

// read parses a step. named are the names of earlier steps.
func (s *step) read(raw []byte, named map[string]bool) error {
	if err := scan.Valid(raw, wire.DefaultMaxDepth); err != nil || scan.Type(raw) != 'o' {
		return errors.New("a step must be an object")
	}
	for key, v := range scan.Members(raw) {
		if err := s.member(scan.Key(key), v); err != nil {
			return err
		}
	}
	if s.verb.name == "" {
		return errors.New("it has none of " + strings.Join(wire.Map(verbs, func(v verb) string { return v.name }), ", "))
	}
	return cmp.Or(s.checkOn(named), s.checkArgs(), s.checkReferences(named))
}

// checkArgs returns an error for arguments that the verb does not accept.
func (s *step) checkArgs() error {
	switch args, kwargs := scan.Count(s.args), scan.Count(s.kwargs); {
	case (s.verb.name == "get" || s.verb.name == "destroy") && args+kwargs > 0:
		return fmt.Errorf("%s takes no args or kwargs", s.verb.name)
	case s.verb.name == "set" && (args != 1 || kwargs > 0):
		return errors.New("set takes one value, in args")
	}
	return nil
}

// checkReferences records the callbacks in the arguments. It returns an error for a reference to anything but an
// earlier step.
func (s *step) checkReferences(named map[string]bool) error {
	s.funcs = map[string]string{}
	_, err := s.arguments(func(name string) (json.RawMessage, error) {
		if !named[name] {
			return nil, fmt.Errorf("no earlier step is named %q", format.CleanLine(name))
		}
		return json.RawMessage("null"), nil
	})
	return err
}

// arguments returns the arguments, with the results of earlier steps.
func (s *step) arguments(result func(name string) (json.RawMessage, error)) (args params.Arguments, err error) {
	if s.args != nil {
		args.Args, err = s.replace(nil, s.args, "/args", result)
	}
	if s.kwargs != nil && err == nil {
		args.Kwargs, err = s.replace(nil, s.kwargs, "/kwargs", result)
	}
	return args, err
}

// checkOn checks the object of a step, as far as that is possible before the first step runs.
func (s *step) checkOn(named map[string]bool) error {
	if s.verb.name == "destroy" && s.name != "" { // "destroy": NAME needs no "on"
		if name, ok := s.maker(); s.on != nil && (!ok || name != s.name) {
			return fmt.Errorf("it destroys %q, but \"on\" names another object", format.CleanLine(s.name))
		}
		s.on = scan.AppendQuoted(nil, s.name)
	}
	switch name, isStep := s.maker(); {
	case s.verb.object && s.on == nil:
		return fmt.Errorf("%s needs \"on\", the step that created the object", s.verb.name)
	case !s.verb.object && s.on != nil:
		return fmt.Errorf("%s takes no \"on\"", s.verb.name)
	case isStep && !named[name]:
		return fmt.Errorf("on: no earlier step is named %q", format.CleanLine(name))
	case s.verb.object && !isStep && !isReference(s.on):
		return errors.New(`"on" must be the name of a step or a reference to an object`)
	}
	return nil
}

// maker returns the name of the step that creates the object. ok is false for a reference.
func (s *step) maker() (name string, ok bool) {
	if name, ok = scan.Text(s.on); ok {
		return name, true
	}
	return soleText(s.on, "$step")
}

// isReference reports whether val is a reference in the form that plugin new prints.
func isReference(val []byte) bool {
	_, ok := scan.Text(scan.Get(scan.Get(val, "$remote"), "id"))
	return ok
}

func (s *step) member(key string, v []byte) error {
	name, isText := scan.Text(v)
	switch key {
	case "as":
		if s.as = name; !isText || name == "" {
			return errors.New(`"as" must be a string, the name of the step`)
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
	for _, v := range verbs {
		switch {
		case key != v.name:
			continue
		case s.verb.name != "":
			return fmt.Errorf("it has both %s and %s", s.verb.name, key)
		case !isText && key != "destroy":
			return fmt.Errorf("%s must be a string", key)
		}
		s.verb, s.name = v, name
		return nil
	}
	return fmt.Errorf("a step cannot have the member %q", format.CleanLine(key))
}

// call returns the operation of a step. results maps the names of earlier steps to their results.
func (s *step) call(results map[string]json.RawMessage) (operation, error) {
	fixed := []string{s.name}
	if s.verb.object {
		ref, err := s.object(results)
		if err != nil {
			return operation{}, err
		}
		fixed = []string{ref, s.name}[:min(len(s.verb.words), 2)]
	}
	args, err := s.arguments(func(name string) (json.RawMessage, error) { return results[name], nil })
	return operation{
		op:   dialect.Op{Kind: dialect.Call, Method: s.verb.method, Params: s.verb.params(fixed, args), Funcs: s.funcs},
		name: cmp.Or(s.name, s.verb.name),
	}, err
}

// object returns the reference to a step's object.
func (s *step) object(results map[string]json.RawMessage) (string, error) {
	ref := s.on
	name, isStep := s.maker()
	if isStep {
		ref = results[name]
	}
	if !isReference(ref) {
		return "", wire.NewFault(wire.Usage, fmt.Sprintf("on: the result of %q is not an object", format.CleanLine(name)), nil)
	}
	return string(ref), nil
}

// replace appends val with the result of the step in place of {"$step":NAME}, and null in place of {"$on":NAME}, which
// it records as a callback.
func (s *step) replace(b, val []byte, pointer string, result func(name string) (json.RawMessage, error)) ([]byte, error) {
	switch scan.Type(val) {
	case 'o':
		if name, ok := soleText(val, "$step"); ok {
			v, err := result(name)
			return append(b, v...), err
		}
		if name, ok := soleText(val, "$on"); ok {
			s.funcs[pointer] = name
			return append(b, "null"...), nil
		}
	case 'a':
	default:
		return append(b, val...), nil
	}
	return scan.Rebuild(b, val, wire.DefaultMaxDepth, func(b []byte, i int, key, v []byte) ([]byte, error) {
		return s.replace(b, v, scan.Descend(pointer, i, key), result)
	})
}

// soleText returns the string in the member key if obj has no other member.
func soleText(obj []byte, key string) (string, bool) {
	if scan.Count(obj) != 1 {
		return "", false
	}
	return scan.Text(scan.Get(obj, key))
}
