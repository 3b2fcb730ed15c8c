package jq

import (
	"context"
	"encoding/json"
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
	part, err := p.follow(in, vals)
	if err != nil || part != nil {
		return err == nil && part[0] != 'n' && part[0] != 'f', err
	}
	err = p.each(ctx, in, &runState{vals: vals}, func(v any) (bool, error) {
		is = truth(v)
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
