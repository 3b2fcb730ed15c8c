// Package program runs the jq programs of a page: within bounds, with the variables
// that a page has, and compiled when first needed.
package program

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/jq"
	"rpcx/wire/scan"
)

// Limit is how long one program may take on one message.
const Limit = 100 * time.Millisecond

// outputsMost is how many outputs of a program are read, where many are wanted.
const outputsMost = 100_000

// Variables are the names that programs may use, each with what it is. Where there is
// no such thing, the variable is null.
func Variables() []Variable {
	return []Variable{
		{"method", "the method that is called, as the user or the hook names it"},
		{"params", "its params, as they were given; of a stream, those of its request"},
		{"id", "the id of the request"},
		{"name", "the method of the notification that may be an item, or of a call that runs"},
		{"token", "what stands for the call in what is notified while it runs"},
		{"code", "the code that is evaluated"},
		{"result", "the result that is written; of a stream, the answer to its request"},
		{"error", "the error that is written: code, message, data"},
		{"event", "what a hook tells while it runs: kind, message, fraction, level, data"},
		{"request", "the whole request that is answered"},
		{"hooks", "the exact names of the hooks that answer here, an array"},
		{"catalog", "the catalog that is offered here"},
		{"kept", "the values that the greeting kept, an object"},
		{"extra", "the members beside, an object"},
		{"version", "the version of rpcx"},
		{"cwd", "the current folder"},
		{"pid", "the id of this process"},
	}
}

// A Variable is one that programs may use.
type Variable struct{ Name, Says string }

var names = sync.OnceValue(func() (names []string) {
	for _, v := range Variables() {
		names = append(names, v.Name)
	}
	return names
})

// A Program is one program of a page. nil is none: it has no output.
type Program struct {
	text     string
	constant json.RawMessage // what it is, where it is a JSON value; else nil
	compile  func() (*jq.Program, error)
}

// New returns the program of that text, which is not looked at yet.
func New(text string) *Program {
	p := &Program{text: text, compile: sync.OnceValues(func() (*jq.Program, error) {
		return jq.Compile(text, jq.Options{Declared: names()})
	})}
	if !strings.Contains(text, `\`) && scan.Valid([]byte(text), wire.DefaultMaxDepth) == nil {
		p.constant = scan.Compact(nil, []byte(text))
	}
	return p
}

// UnmarshalText makes p the program of text, as a page has it.
func (p *Program) UnmarshalText(text []byte) error {
	*p = *New(string(text))
	return nil
}

// Text returns the program as it stands in the page.
func (p *Program) Text() string { return p.text }

// Check says what is wrong with the program, a usage Fault; nil where it can be run.
func (p *Program) Check() error {
	_, err := p.compile()
	return err
}

// First returns the first output on in, which the caller must not change; nil where there is none. It is a part of in, or
// of a variable's value, where the program is a path. The error is a Fault of kind
// Helper: the program failed, or took too long.
func (p *Program) First(in json.RawMessage, vals jq.Values) (out json.RawMessage, err error) {
	err = p.run(in, vals, func(v json.RawMessage) (bool, error) {
		out = v
		return false, nil
	})
	return out, err
}

// All returns the outputs on in.
func (p *Program) All(in json.RawMessage, vals jq.Values) (outs []json.RawMessage, err error) {
	switch {
	case p == nil:
		return nil, nil
	case p.constant != nil:
		return []json.RawMessage{p.constant}, nil
	}
	err = p.within(func(ctx context.Context, prog *jq.Program) error {
		outs = nil
		return prog.RunWith(ctx, orNull(in), vals, func(v json.RawMessage) (bool, error) {
			if len(outs) == outputsMost {
				return false, fmt.Errorf("more than %d outputs", outputsMost)
			}
			outs = append(outs, v)
			return true, nil
		})
	})
	return outs, err
}

// Holds reports whether an output on in is neither null nor false. nil always holds.
func (p *Program) Holds(in json.RawMessage, vals jq.Values) (holds bool, err error) {
	if p == nil {
		return true, nil
	}
	err = p.within(func(ctx context.Context, prog *jq.Program) (err error) {
		holds, err = prog.TruthWith(ctx, orNull(in), vals)
		return err
	})
	return holds, err
}

func (p *Program) run(in json.RawMessage, vals jq.Values, yield func(v json.RawMessage) (bool, error)) error {
	switch {
	case p == nil:
		return nil
	case p.constant != nil:
		_, err := yield(p.constant)
		return err
	}
	return p.within(func(ctx context.Context, prog *jq.Program) error {
		return prog.RunWith(ctx, orNull(in), vals, yield)
	})
}

// within has apply run the program, no longer than Limit. It is run once more where it
// was not done by then, in case this process had to wait for a processor. A path takes no
// longer than its bytes.
func (p *Program) within(apply func(ctx context.Context, prog *jq.Program) error) error {
	prog, err := p.compile()
	if err != nil {
		return err
	}
	if prog.IsPath() {
		return p.failed(apply(context.Background(), prog))
	}
	for range 2 {
		d := takeDeadline()
		err = apply(d, prog)
		d.giveBack()
		if !errors.Is(err, context.DeadlineExceeded) {
			break
		}
	}
	return p.failed(err)
}

// failed names the program in the failure of one.
func (p *Program) failed(err error) error {
	if err == nil {
		return nil
	}
	what := err.Error()
	if errors.Is(err, context.DeadlineExceeded) {
		what = "it took longer than " + Limit.String()
	}
	const most = 120
	text := p.text
	if len(text) > most {
		text = text[:most] + "…"
	}
	return wire.NewFault(wire.Helper, fmt.Sprintf("the dialect's program %s: %s", text, what), err)
}

func orNull(in json.RawMessage) json.RawMessage {
	if len(in) == 0 {
		return json.RawMessage("null")
	}
	return in
}
