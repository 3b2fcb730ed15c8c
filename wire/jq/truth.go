package jq

import (
	"context"
	"encoding/json"
	"sync"
)

// Truth reports whether any output is neither null nor false. It returns false if there are no outputs.
func (p *Program) Truth(ctx context.Context, in json.RawMessage) (bool, error) {
	return p.TruthWith(ctx, in, nil)
}

// TruthWith is like Truth, but sets the declared variables to vals. If vals is nil, all of them are null.
func (p *Program) TruthWith(ctx context.Context, in json.RawMessage, vals Values) (bool, error) {
	return p.last(ctx, in, vals, true)
}

// Holds reports whether there are outputs, and none is null or false.
func (p *Program) Holds(ctx context.Context, in json.RawMessage) (bool, error) {
	return p.last(ctx, in, nil, false)
}

// last reports whether the last output is neither null nor false. It stops at the first output for which the answer is until. It
// returns false if there are no outputs.
func (p *Program) last(ctx context.Context, in json.RawMessage, vals Values, until bool) (is bool, err error) {
	if is, ok := p.judge(ctx, in); ok {
		return is, nil
	}
	r := runState{vals: vals}
	code, part, err := p.start(in, &r)
	switch {
	case err != nil:
		return false, err
	case code == nil:
		return truth(part), nil
	}
	err = p.each(ctx, code, part, &r, func(v any) (bool, error) {
		is = v != nil && v != false
		return is != until, nil
	})
	return is && err == nil, err
}

// First returns the first output, or nil.
func (p *Program) First(ctx context.Context, in json.RawMessage) (first json.RawMessage, err error) {
	err = p.Run(ctx, in, func(out json.RawMessage) (bool, error) {
		first = out
		return false, nil
	})
	return first, err
}

// scratches are reused by runs whose outputs are not retained.
var scratches = sync.Pool{New: func() any { return new(Scratch) }}

// judge reports whether the output is neither null nor false. ok is false if gojq must compute it.
func (p *Program) judge(ctx context.Context, in json.RawMessage) (is, ok bool) {
	if p.code == nil || p.plan == nil {
		return false, false
	}
	s := scratches.Get().(*Scratch)
	defer scratches.Put(s)
	if !p.plan.run(ctx, in, s) {
		return false, false
	}
	return len(s.outs) > 0 && truth(s.outs[0]), true
}
