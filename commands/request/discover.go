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
func FetchCatalog(ctx context.Context, a *env.Env, e session.Endpoint, o *options.Client, name string) (*catalog.Catalog, error) {
	cl := o.Time.Deadline(ctx, options.DefaultIdle)
	a.Heard = cl.Touch // a service is asked module by module
	return askPeer(ctx, a, cl, e, o, func(conv session.Conversation) (*catalog.Catalog, error) {
		c, err := discovered(cl.Ctx, conv, name)
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
		return c, err
	})
}

// MethodCatalog asks what a method takes; nil where the dialect does not tell it of
// one method.
func MethodCatalog(ctx context.Context, a *env.Env, e session.Endpoint, o *options.Client, method string) (*catalog.Catalog, error) {
	if e.Dialect != "" && session.SpecOf(e).ModuleOf == nil {
		return nil, nil
	}
	cl := o.Time.Deadline(ctx, options.DefaultIdle)
	return askPeer(ctx, a, cl, e, o, func(conv session.Conversation) (*catalog.Catalog, error) {
		if session.SpecNamed(conv.Dialect()).ModuleOf == nil {
			return nil, nil
		}
		c, err := discovered(cl.Ctx, conv, method)
		if errors.Is(err, wire.ErrUnsupported) {
			return nil, wire.NewFault(wire.RPCError, "it does not describe itself", nil)
		}
		return c, err
	})
}

// askPeer opens a connection for ask. Where the peer cannot be reached, what it said
// earlier is its answer.
func askPeer(ctx context.Context, a *env.Env, cl *env.Deadline, e session.Endpoint, o *options.Client, ask func(session.Conversation) (*catalog.Catalog, error)) (c *catalog.Catalog, err error) {
	opened := false
	err = Converse(ctx, a, cl, e, o, nil, func(conv session.Conversation) (err error) {
		opened = true
		c, err = ask(conv)
		return env.Cause(cl.Ctx, err)
	})
	if err != nil && !opened {
		return keptCatalog(a, e, &o.Conn, err)
	}
	return c, err
}

func PrintJSON(ctx context.Context, print *format.Pipeline, b []byte) error {
	_, err := print.Print(ctx, wire.Message{Raw: b}, wire.Event{Kind: wire.Data, Data: b})
	return errors.Join(err, print.Finish())
}

// discovered is what the far side says of name: of a module or a method where
// the dialect tells module by module, else all; with name "" all.
func discovered(ctx context.Context, conv session.Conversation, name string) (*catalog.Catalog, error) {
	if name == "" || session.SpecNamed(conv.Dialect()).ModuleOf == nil {
		return conv.Describe(ctx)
	}
	c, err := conv.Typing(ctx, name)
	if c == nil && err == nil {
		err = wire.ErrUnsupported
	}
	return c, err
}

// keptCatalog is what e said of itself earlier, where it cannot be reached now
// (err); a user is told that it may be out of date.
func keptCatalog(a *env.Env, e session.Endpoint, c *options.Connection, err error) (*catalog.Catalog, error) {
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
