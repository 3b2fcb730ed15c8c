package commands

import (
	"context"

	"rpcx/commands/params"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/session"
)

// A prepared request is what is to be sent, and the catalog that is known of it.
type prepared struct {
	op  dialect.Op
	cat *catalog.Catalog // nil: none
}

// opensFirst says that arguments can be read only when the connection is there:
// the far side tells what they should be, or which dialect is spoken.
func opensFirst(e session.Endpoint, cat *catalog.Catalog) bool {
	return e.Dialect == "" || session.SpecOf(e).Typed && cat == nil
}

// typing is the catalog by which method is typed: the one given, else what the
// far side tells. e becomes the endpoint with the dialect that is spoken.
func typing(ctx context.Context, conv session.Conversation, e *session.Endpoint, method string, cat *catalog.Catalog) (*catalog.Catalog, error) {
	e.Dialect = conv.Dialect()
	if cat != nil || !session.SpecOf(*e).Typed {
		return cat, nil
	}
	cat, err := conv.Typing(ctx, method)
	return cat, why(ctx, err)
}

// expectResult demands that results fit what the catalog says method gives. Only
// dialects whose far side describes itself promise that.
func (a *app) expectResult(c *consumer, e session.Endpoint, p prepared, flags paramFlags) error {
	if flags.noCheck || p.cat == nil || !session.SpecOf(e).Typed {
		return nil
	}
	var err error
	c.result, err = params.ForResult(p.cat, p.op.Method, a.console.Warn)
	return err
}

// unfit is the outcome where a result does not fit.
func unfit(method string, err error) error {
	return &wire.Fault{
		Kind: wire.Expectation, Method: method, Err: err,
		Message: "the result of " + format.CleanLine(method) + " is not what the peer promised: " + err.Error(),
		Hint:    "--no-check takes it all the same",
	}
}
