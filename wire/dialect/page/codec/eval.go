package codec

import (
	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/scan"
)

// An unwrapping holds the programs that turn an answer into what the user gets.
// The zero value leaves answers as they are.
type unwrapping struct {
	result, fail load.Prog
}

// eval writes the call that evaluates code.
func (c *Codec) eval(op dialect.Op) (wire.Message, error) {
	rule := c.d.Page.Eval
	if rule == nil || op.Method != "" && op.Method != "eval" {
		return wire.Message{}, wire.ErrUnsupported
	}
	s := &call{method: rule.Call, unwrap: unwrapping{rule.Result, rule.Error}}
	sc := c.scope(s)
	sc.Code = scan.AppendQuoted(nil, op.Code)
	params, err := rule.Params.First(nil, sc.Value)
	if err != nil {
		return wire.Message{}, err
	}
	return c.send(dialect.Op{Kind: dialect.Call, Method: rule.Call, Params: params, Extra: op.Extra}, s)
}

// unwrapped replaces an answer by the result or the error of the call that was
// wrapped, or of the code.
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
		c.trace("the answer to %s is the error %s", s.method, fail)
		return nil
	}
	if s.unwrap.result == nil {
		return nil
	}
	body, err := s.unwrap.result.First(m.Body, sc.Value)
	if m.Body = body; m.Body == nil {
		m.Body = null
	}
	c.trace("the answer to %s is %s", s.method, m.Body)
	return err
}
