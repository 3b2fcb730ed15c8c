package request

import (
	"bytes"
	"context"
	"slices"
	"time"

	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/commands/params"
	"rpcx/commands/suggest"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
	"rpcx/wire/session"
)

// A typedOp is an operation, and the catalog by which its params were typed.
type typedOp struct {
	op  dialect.Op
	cat *catalog.Catalog // nil: none
}

// A prepareFunc makes the operation after the connection is open.
type prepareFunc func(context.Context, session.Conversation) (typedOp, error)

// needsConnection reports whether args (METHOD first) can only be read after connecting, because the peer has to describe
// the method's parameters.
func needsConnection(e endpoint.Endpoint, cat *catalog.Catalog, args []string, p options.Params) bool {
	switch {
	case len(args) == 0 || cat != nil || !e.Spec().Params.Typed:
		return false
	case p.DryRun && evicts(e):
		return false
	}
	return !p.NoCheck || slices.ContainsFunc(args[1:], params.IsTyped)
}

// evicts reports whether connecting to e would end another client's connection.
func evicts(e endpoint.Endpoint) bool {
	return e.Spec().Handshake.OneClient && e.Socket == "" && e.Demo == ""
}

// noteUntyped notes that a dry run has not asked the peer for the types of
// params, since connecting would have evicted the peer's client.
func noteUntyped(run *env.Env, e endpoint.Endpoint, cat *catalog.Catalog, p options.Params) {
	if p.DryRun && cat == nil && !p.NoCheck && evicts(e) {
		run.Console.Note("the host was not asked what it takes, which would evict its client: params go unchecked, and key=text as text (--catalog FILE types them)")
	}
}

// DryBatch reports whether the lines of a batch can be shown without a
// connection.
func DryBatch(run *env.Env, e endpoint.Endpoint, cat *catalog.Catalog, p options.Params) bool {
	if !p.DryRun || needsConnection(e, cat, []string{"any"}, p) {
		return false
	}
	noteUntyped(run, e, cat, p)
	return true
}

// CheckName returns a usage Fault for a method that the dialect cannot have,
// with the right spelling if it is known. With --no-check it returns nil.
func CheckName(run *env.Env, e endpoint.Endpoint, method string, subscribe bool, p options.Params) error {
	check := e.Spec().Names.Check
	if p.NoCheck {
		return nil
	}
	if err := suggest.CheckMethod(run, method); err != nil || check == nil {
		return err
	}
	return suggest.Spelling(run, check(method, subscribe))
}

// fromPeer makes the operation of x.Args, typed by the peer's catalog. If the
// params do not fit, or have unknown names, the peer is asked once more, since
// the catalog may come from an earlier process.
func (x *exchange) fromPeer(ctx context.Context, conv session.Conversation) (typedOp, error) {
	cat, err := x.typing(ctx, conv)
	if err != nil {
		return typedOp{}, err
	}
	var found typos
	x.Env.Typos = found.set
	defer func() {
		x.Env.Typos = nil
		noteTypos(x.Env, found.method, found.names)
	}()
	op, err := x.operation(cat)
	if err == nil && len(found.names) == 0 || cat == nil || cat == x.Catalog || params.WantStdin(x.Args) {
		return typedOp{op: op, cat: cat}, err
	}
	now, nerr := conv.Typing(ctx, x.Args[0])
	if nerr != nil || now == nil || sameCatalog(now, cat) {
		return typedOp{op: op, cat: cat}, err
	}
	found = typos{}
	op, err = x.operation(now)
	return typedOp{op: op, cat: now}, err
}

func sameCatalog(a, b *catalog.Catalog) bool {
	x, xerr := a.Marshal()
	y, yerr := b.Marshal()
	return xerr == nil && yerr == nil && bytes.Equal(x, y)
}

// typing returns the catalog that types the params: the given one, else the peer's. It sets the dialect of x.Endpoint to
// that of the conversation.
func (x *exchange) typing(ctx context.Context, conv session.Conversation) (*catalog.Catalog, error) {
	if x.Catalog != nil || !x.Endpoint.Spec().Params.Typed {
		return x.Catalog, nil
	}
	if x.Params.DryRun {
		return x.dryTyping(ctx, conv)
	}
	cat, err := conv.Typing(ctx, x.Args[0])
	return cat, env.Cause(ctx, err)
}

// descriptionTimeout bounds how long the peer's description of a method is waited for where it is not
// what the command is about.
const descriptionTimeout = 3 * time.Second

// dryTyping is typing for a dry run, which waits for at most patience.
func (x *exchange) dryTyping(ctx context.Context, conv session.Conversation) (*catalog.Catalog, error) {
	patient, done := context.WithTimeout(ctx, descriptionTimeout)
	defer done()
	cat, err := conv.Typing(patient, x.Args[0])
	if err != nil && patient.Err() != nil && ctx.Err() == nil {
		x.Env.Console.Warn("the peer has not said within " + descriptionTimeout.String() + " what " + format.CleanLine(x.Args[0]) + " takes: parameters are neither typed nor checked")
		return nil, nil
	}
	return cat, env.Cause(ctx, err)
}

// expectResult has results checked against the schema of method in the catalog,
// if the dialect's peers describe themselves.
func (c *ResponsePrinter) expectResult(method string) error {
	if !c.CheckResult || c.Catalog == nil || !all.Named(c.conv.Dialect()).Params.Typed {
		return nil
	}
	var err error
	c.result, err = params.ForResult(c.Catalog, method, c.env.Console.Warn)
	return err
}

// unfit returns the Fault for a result that does not fit its schema.
func unfit(method string, err error) error {
	return &wire.Fault{
		Kind: wire.Expectation, Method: method, Err: err,
		Message: "the result of " + format.CleanLine(method) + " is not what the peer promised: " + err.Error(),
		Hint:    "--no-check takes it all the same",
	}
}
