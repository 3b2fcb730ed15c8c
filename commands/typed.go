package commands

import (
	"bytes"
	"context"
	"slices"

	"rpcx/commands/params"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/session"
)

// A typedOp is what is to be sent, and the catalog that is known of it.
type typedOp struct {
	op  dialect.Op
	cat *catalog.Catalog // nil: none
}

// A prepareFunc makes it when the connection is there.
type prepareFunc func(context.Context, session.Conversation) (typedOp, error)

// needsConnection says that arguments (METHOD first) can be read only when the
// connection is there: the far side tells what they should be, or which dialect
// is spoken.
func needsConnection(e session.Endpoint, cat *catalog.Catalog, args []string, p paramFlags) bool {
	switch {
	case e.Dialect == "":
		return true
	case cat != nil || !session.SpecOf(e).TypedParams || len(args) == 0:
		return false
	}
	return !p.noCheck || slices.ContainsFunc(args[1:], params.IsTyped)
}

// checkName refuses what cannot be a method of the dialect.
func (a *app) checkName(e session.Endpoint, method string, subscribe bool, p paramFlags) error {
	check := session.SpecOf(e).CheckName
	if check == nil || p.noCheck {
		return nil
	}
	return suggestSpelling(a, check(method, subscribe))
}

// prepare makes the request that args (METHOD first) ask for, typed by what the
// far side tells. Where they do not fit, it is asked once more: what it told may
// be what it said to an earlier process.
func prepare(ctx context.Context, conv session.Conversation, e *session.Endpoint, args []string, given *catalog.Catalog, read func(*catalog.Catalog) (dialect.Op, error)) (typedOp, error) {
	cat, err := typing(ctx, conv, e, args[0], given)
	if err != nil {
		return typedOp{}, err
	}
	op, err := read(cat)
	if err == nil || cat == nil || cat == given || params.WantStdin(args) {
		return typedOp{op: op, cat: cat}, err
	}
	now, nerr := conv.Typing(ctx, args[0])
	if nerr != nil || now == nil || sameCatalog(now, cat) {
		return typedOp{op: op, cat: cat}, err
	}
	op, err = read(now)
	return typedOp{op: op, cat: now}, err
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
	return cat, cause(ctx, err)
}

// expectResult demands that results fit what the catalog says method gives. Only
// dialects whose far side describes itself promise that.
func (a *app) expectResult(c *consumer, e session.Endpoint, p typedOp, flags paramFlags) error {
	if flags.noCheck || p.cat == nil || !session.SpecOf(e).TypedParams {
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
