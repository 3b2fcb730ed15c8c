// Package program runs the jq programs of a page, with the page's variables and
// within limits of time and output. A program is compiled when it is first
// needed.
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

// ListLimit bounds the time of a program that makes a list of a whole answer, as All
// does: that is not done for each message.
const ListLimit = 10 * time.Second

// outputMost bounds the bytes of one output: no message may be longer.
const outputMost = wire.DefaultMaxMessage

// Limit bounds the time that a program may take for one message.
const Limit = 100 * time.Millisecond

// outputsMost bounds the outputs that All reads.
const outputsMost = 100_000

// Variables lists the variables that programs may use, each with its
// description. One that has no value in a program's place is null.
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

// A Variable is a variable of a page's programs: its name, and what it holds,
// for the manual.
type Variable struct{ Name, Says string }

var names = sync.OnceValue(func() (names []string) {
	for _, v := range Variables() {
		names = append(names, v.Name)
	}
	return names
})

// A Program is one jq program of a page. A nil Program has no output.
type Program struct {
	text     string
	constant json.RawMessage // its output, if its text is a JSON value; else nil
	compile  func() (*jq.Program, error)
}

// New returns the program with that text. It is compiled when it is first used;
// see Check.
func New(text string) *Program {
	p := &Program{text: text, compile: sync.OnceValues(func() (*jq.Program, error) {
		return jq.Compile(text, jq.Options{Declared: names()})
	})}
	if !strings.Contains(text, `\`) && scan.Valid([]byte(text), wire.DefaultMaxDepth) == nil {
		p.constant = scan.Compact(nil, []byte(text))
	}
	return p
}

// UnmarshalText replaces p by the program with that text.
func (p *Program) UnmarshalText(text []byte) error {
	*p = *New(string(text))
	return nil
}

// Text returns the program's text as it stands in the page.
func (p *Program) Text() string { return p.text }

// Check returns a usage Fault if the program does not compile, else nil.
func (p *Program) Check() error {
	_, err := p.compile()
	return err
}

// First returns the first output for the input in; nil if there is none. The
// caller must not change it, as it may be a part of in or of a variable's
// value. The error is a Fault of kind Helper: the program failed, or took
// longer than Limit.
func (p *Program) First(in json.RawMessage, vals jq.Values) (out json.RawMessage, err error) {
	err = p.run(in, vals, func(v json.RawMessage) (bool, error) {
		out = v
		return false, tooLong(v)
	})
	return out, err
}

// All returns the outputs for the input in, as First does the first.
func (p *Program) All(in json.RawMessage, vals jq.Values) (outs []json.RawMessage, err error) {
	switch {
	case p == nil:
		return nil, nil
	case p.constant != nil:
		return []json.RawMessage{p.constant}, nil
	}
	prog, err := p.compile()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), ListLimit)
	defer cancel()
	err = prog.RunWith(ctx, scan.OrNull(in), vals, func(v json.RawMessage) (bool, error) {
		if len(outs) == outputsMost {
			return false, fmt.Errorf("more than %d outputs", outputsMost)
		}
		outs = append(outs, v)
		return true, tooLong(v)
	})
	return outs, p.failed(err, ListLimit)
}

// Holds reports whether an output for the input in is neither null nor false. A
// nil Program always holds.
func (p *Program) Holds(in json.RawMessage, vals jq.Values) (holds bool, err error) {
	if p == nil {
		return true, nil
	}
	err = p.within(func(ctx context.Context, prog *jq.Program) (err error) {
		holds, err = prog.TruthWith(ctx, scan.OrNull(in), vals)
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
		return prog.RunWith(ctx, scan.OrNull(in), vals, yield)
	})
}

// within calls apply to run the program, for at most Limit. If that was not
// enough it tries once more, in case this process had to wait for a processor.
// A program that is only a path runs without a limit: it takes no longer than
// its input is long.
func (p *Program) within(apply func(ctx context.Context, prog *jq.Program) error) error {
	prog, err := p.compile()
	if err != nil {
		return err
	}
	if prog.IsPath() {
		return p.failed(apply(context.Background(), prog), Limit)
	}
	for range 2 {
		d := takeDeadline()
		err = apply(d, prog)
		d.giveBack()
		if !errors.Is(err, context.DeadlineExceeded) {
			break
		}
	}
	return p.failed(err, Limit)
}

// tooLong returns an error if an output is longer than any message.
func tooLong(v json.RawMessage) error {
	if len(v) > outputMost {
		return fmt.Errorf("an output of more than %d bytes", outputMost)
	}
	return nil
}

// failed returns err as a Fault that names the program, which may take so long.
func (p *Program) failed(err error, limit time.Duration) error {
	if err == nil {
		return nil
	}
	what := err.Error()
	if errors.Is(err, context.DeadlineExceeded) {
		what = "it took longer than " + limit.String()
	}
	const most = 120
	text := p.text
	if len(text) > most {
		text = text[:most] + "…"
	}
	return wire.NewFault(wire.Helper, fmt.Sprintf("the dialect's program %s: %s", text, what), err)
}
