package request

import (
	"bytes"
	"context"
	"slices"

	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/commands/params"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/session"
)

// A TypedOp is what is to be sent, and the catalog that is known of it.
type TypedOp struct {
	Op  dialect.Op
	Cat *catalog.Catalog // nil: none
}

// A PrepareFunc makes it when the connection is there.
type PrepareFunc func(context.Context, session.Conversation) (TypedOp, error)

// NeedsConnection says that arguments (METHOD first) can be read only when the
// connection is there: the far side tells what they should be, or which dialect
// is spoken.
func NeedsConnection(e session.Endpoint, cat *catalog.Catalog, args []string, p options.Params) bool {
	switch {
	case e.Dialect == "":
		return true
	case cat != nil || !session.SpecOf(e).TypedParams || len(args) == 0:
		return false
	}
	return !p.NoCheck || slices.ContainsFunc(args[1:], params.IsTyped)
}

// CheckName refuses what cannot be a method of the dialect.
func CheckName(a *env.Env, e session.Endpoint, method string, subscribe bool, p options.Params) error {
	check := session.SpecOf(e).CheckName
	if check == nil || p.NoCheck {
		return nil
	}
	return suggestSpelling(a, check(method, subscribe))
}

// Prepare makes the request that args (METHOD first) ask for, typed by what the
// far side tells. Where they do not fit, it is asked once more: what it told may
// be what it said to an earlier process.
func Prepare(ctx context.Context, conv session.Conversation, e *session.Endpoint, args []string, given *catalog.Catalog, read func(*catalog.Catalog) (dialect.Op, error)) (TypedOp, error) {
	cat, err := typing(ctx, conv, e, args[0], given)
	if err != nil {
		return TypedOp{}, err
	}
	op, err := read(cat)
	if err == nil || cat == nil || cat == given || params.WantStdin(args) {
		return TypedOp{Op: op, Cat: cat}, err
	}
	now, nerr := conv.Typing(ctx, args[0])
	if nerr != nil || now == nil || sameCatalog(now, cat) {
		return TypedOp{Op: op, Cat: cat}, err
	}
	op, err = read(now)
	return TypedOp{Op: op, Cat: now}, err
}

func sameCatalog(a, b *catalog.Catalog) bool {
	x, xerr := a.Marshal()
	y, yerr := b.Marshal()
	return xerr == nil && yerr == nil && bytes.Equal(x, y)
}

// typing is the catalog by which method is typed: the one given, else what the
// far side tells. e becomes the endpoint with the dialect that is spoken.
func typing(ctx context.Context, conv session.Conversation, e *session.Endpoint, method string, cat *catalog.Catalog) (*catalog.Catalog, error) {
	e.Dialect = conv.Dialect()
	if cat != nil || !session.SpecOf(*e).TypedParams {
		return cat, nil
	}
	cat, err := conv.Typing(ctx, method)
	return cat, env.Cause(ctx, err)
}

// ExpectResult demands that results fit what the catalog says method gives. Only
// dialects whose far side describes itself promise that.
func ExpectResult(a *env.Env, c *Consumer, e session.Endpoint, p TypedOp, flags options.Params) error {
	if flags.NoCheck || p.Cat == nil || !session.SpecOf(e).TypedParams {
		return nil
	}
	var err error
	c.result, err = params.ForResult(p.Cat, p.Op.Method, a.Console.Warn)
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
