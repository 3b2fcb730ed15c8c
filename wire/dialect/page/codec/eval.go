package codec

import (
	"context"
	"encoding/json"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/scan"
)

// An unwrapping contains the programs that convert the result of a call to the result, or the error, that the user
// receives. The zero value leaves results unchanged.
type unwrapping struct {
	result, fail load.Prog
}

// eval encodes the call that evaluates code.
func (c *Codec) eval(op dialect.Op) (wire.Message, error) {
	rule := c.d.Page.Eval
	if rule == nil || op.Method != "" && op.Method != "eval" {
		return wire.Message{}, wire.ErrUnsupported
	}
	s := &call{method: rule.Call, unwrap: unwrapping{rule.Result, rule.Error}}
	sc := c.scope(s)
	sc.Code, sc.Extra = scan.AppendQuoted(nil, op.Code), op.Extra
	params, err := rule.Params.First(nil, sc.Value)
	if err != nil {
		return wire.Message{}, err
	}
	extra := op.Extra
	if rule.Extra != nil {
		if extra, err = rule.Extra.First(op.Extra, sc.Value); err != nil {
			return wire.Message{}, err
		}
	}
	return c.send(dialect.Op{Kind: dialect.Call, Method: rule.Call, Params: params, Extra: extra}, s)
}

// Prepare sends the messages that precede an evaluation of code.
func (c *Codec) Prepare(ctx context.Context, caller dialect.Caller, op dialect.Op) error {
	if c.d.Page.Eval == nil {
		return nil
	}
	if err := c.firstOf(ctx, caller); err != nil {
		return err
	}
	for i := range c.d.Page.Eval.First {
		if err := c.prepare(ctx, caller, c.d.Page.Eval.First[i].Step(), op.Extra); err != nil {
			return err
		}
	}
	return nil
}

// firstOf runs the steps of the handshake that precede the first evaluation.
func (c *Codec) firstOf(ctx context.Context, caller dialect.Caller) error {
	c.steps.preparing.Lock()
	defer c.steps.preparing.Unlock()
	for i := range c.d.Page.Handshake {
		step := &c.d.Page.Handshake[i]
		if len(step.For) == 0 || c.isTaken(step) {
			continue
		}
		if err := c.prepare(ctx, caller, step, nil); err != nil {
			return err
		}
		c.noteTaken(step)
	}
	return nil
}

func (c *Codec) prepare(ctx context.Context, caller dialect.Caller, step *load.Step, extra json.RawMessage) error {
	sc := c.Scope()
	sc.Extra = extra
	if ok, err := step.When.Holds(c.kept(), sc.Value); err != nil || !ok {
		return err
	}
	st, err := c.say(ctx, caller, step)
	if c.o.HandshakeDone { // no message was sent
		return nil
	}
	if err != nil || st == nil {
		return err
	}
	m, err := st.Next(ctx)
	switch {
	case err != nil:
		dialect.CancelAnyway(ctx, st)
		return err
	case m.Err != nil && step.Optional:
		return nil
	case m.Err != nil:
		return &wire.Fault{Kind: wire.RPCError, Method: step.Call, RPC: m.Err.Clone(), Message: step.Call + ": " + m.Err.Error()}
	}
	return c.accept(step.Accept, step.Keep, step.Call, m.Body)
}

// unwrapped replaces the result in a response with the result, or the error, of the wrapped call or the evaluated code.
func (c *Codec) unwrapped(m *wire.Message, s *call) error {
	if m.Err != nil || s.unwrap == (unwrapping{}) {
		return nil
	}
	sc := c.scope(s)
	fail, err := s.unwrap.fail.First(m.Body, sc.Value)
	if err != nil {
		return err
	}
	if len(fail) > 0 && string(fail) != "null" {
		m.Err, m.Body = jsonrpc.ReadError(fail), nil
		c.trace("the response to %s is the error %s", s.method, fail)
		return nil
	}
	if s.unwrap.result == nil {
		return nil
	}
	body, err := s.unwrap.result.First(m.Body, sc.Value)
	m.Body = scan.OrNull(body)
	c.trace("the response to %s is %s", s.method, m.Body)
	return err
}
