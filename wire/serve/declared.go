package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
	"rpcx/wire/schema"
)

// Checked returns a Caller that checks calls with the schemas that the peer declared: it does not send params that do
// not match, and a result that does not match is an error. If peers of this dialect declare nothing, it returns c.
func (b *backend) Checked(c dialect.Caller) dialect.Caller {
	codec := c.Connection().Codec
	if codec == nil {
		return c
	}
	declared := codec.Abilities().Declared
	if declared == nil {
		return c
	}
	return &checkedCaller{Caller: c, told: declared, warn: b.o.Warn}
}

// checkedCaller is a Caller with the peer's declarations.
type checkedCaller struct {
	dialect.Caller
	told func(method string) *catalog.Catalog
	warn func(text string)

	mu  sync.Mutex
	of  *catalog.Catalog // the catalog from which far is made
	far *backend         // its schemas, compiled as they are needed
}

// Call is CallOp of a call.
func (c *checkedCaller) Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	return c.CallOp(ctx, dialect.Op{Kind: dialect.Call, Method: method, Params: params})
}

// CallOp checks the params of a call and its result.
func (c *checkedCaller) CallOp(ctx context.Context, op dialect.Op) (json.RawMessage, error) {
	m := c.declared(op.Method)
	if m == nil {
		return c.Caller.CallOp(ctx, op)
	}
	params := op.Params
	params = scan.Or(params, json.RawMessage("{}"))
	if _, err := m.input(ctx, params); err != nil {
		return nil, err
	}
	result, err := c.Caller.CallOp(ctx, op)
	if err != nil || m.entry.Result == nil {
		return result, err
	}
	var mis *schema.Mismatch
	if s := m.schema("/result"); s != nil && errors.As(s.Check(ctx, scan.OrNull(result)), &mis) {
		return nil, wire.NewError(wire.CodeServer, fmt.Sprintf("the result of %s does not match the schema of the peer: %v", op.Method, mis))
	}
	return result, nil
}

// declared returns the peer's declaration of method, or nil if there is none.
func (c *checkedCaller) declared(name string) *method {
	cat := c.told(name)
	if cat == nil {
		return nil
	}
	c.mu.Lock()
	if c.of != cat {
		warn := func(text string) { c.warn("the peer's " + text) }
		c.of, c.far = cat, New(Options{Catalog: cat, Check: true, Warn: warn}).(*backend)
	}
	far := c.far
	c.mu.Unlock()
	return far.method(name)
}
