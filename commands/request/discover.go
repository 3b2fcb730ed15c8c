package request

import (
	"cmp"
	"context"
	"errors"

	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/session"
)

// FetchCatalog asks what the peer offers; where name is given, of that alone if
// it can be asked so.
func FetchCatalog(ctx context.Context, a *env.Env, e session.Endpoint, o *options.Client, name string) (_ *catalog.Catalog, err error) {
	cl := o.Time.Deadline(ctx, options.DefaultIdle)
	defer cl.Stop()
	a.Heard = cl.Touch // a service is asked module by module
	conv, err := Open(cl.Ctx, a, e, o, nil, false)
	if err != nil {
		return KeptCatalog(a, e, &o.Conn, err)
	}
	defer func() { err = errors.Join(err, Closing(ctx, conv, &o.Hooks, err)) }()
	c, err := Discovered(cl.Ctx, conv, name)
	if errors.Is(err, wire.ErrUnsupported) {
		return nil, &wire.Fault{
			Kind: wire.RPCError, Message: "the peer does not describe itself (" + cmp.Or(session.SpecNamed(conv.Dialect()).NoDescription, "it has no rpc.discover") + ")",
			Hint: "write a catalog by hand and give it with --catalog",
		}
	}
	var rpc *wire.Error
	if errors.As(err, &rpc) {
		err = rpcFault("describe", rpc)
	}
	return c, env.Cause(cl.Ctx, err)
}

func PrintJSON(ctx context.Context, print *format.Pipeline, b []byte) error {
	_, err := print.Print(ctx, wire.Message{Raw: b}, wire.Event{Kind: wire.Data, Data: b})
	return errors.Join(err, print.Finish())
}

// Discovered is what the far side says of name: of a module or a method where
// the dialect tells module by module, else all; with name "" all.
func Discovered(ctx context.Context, conv session.Conversation, name string) (*catalog.Catalog, error) {
	if name == "" || session.SpecNamed(conv.Dialect()).ModuleOf == nil {
		return conv.Describe(ctx)
	}
	c, err := conv.Typing(ctx, name)
	if c == nil && err == nil {
		err = wire.ErrUnsupported
	}
	return c, err
}

// KeptCatalog is what e said of itself earlier, where it cannot be reached now
// (err); a user is told that it may be out of date.
func KeptCatalog(a *env.Env, e session.Endpoint, c *options.Connection, err error) (*catalog.Catalog, error) {
	f := wire.AsFault(err)
	if f == nil || f.Kind != wire.Unreachable || c.Refresh || c.NoCache {
		return nil, err
	}
	kept := session.KeptCatalog(e, a.Opened)
	if kept == nil {
		return nil, err
	}
	a.Console.Warn(f.Error() + ": this is what the peer said earlier, which may be out of date")
	return kept, nil
}

// Conventions returns what c means beyond its members, as its dialect has it. c
// may be nil.
func Conventions(c *catalog.Catalog) catalog.Conventions {
	if c == nil {
		return catalog.Conventions{}
	}
	return session.SpecNamed(c.Dialect).Catalog
}

// Listing shows c to people.
func Listing(a *env.Env, c *catalog.Catalog) format.Listing {
	return format.Listing{Catalog: c, Conventions: Conventions(c), Width: a.Stdout.Width, Color: a.Stdout.Color}
}
