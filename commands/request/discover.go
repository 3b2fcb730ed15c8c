package request

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"rpcx/commands/dialects"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/commands/suggest"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/cache"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
	"rpcx/wire/session"
)

// NoMethod returns the Fault for a method or module that is not in c. Its kind is Usage if c is complete.
func NoMethod(run *env.Env, c *catalog.Catalog, name string) *wire.Fault {
	f := wire.NewFault(wire.Usage, fmt.Sprintf("the peer has no method %q", format.CleanLine(name)), nil)
	why := c.WhyPartial()
	if d := all.Named(c.Dialect).Detection; why == "" && d != nil && d.Probe != nil && len(d.Probe.Hooks) > 0 {
		why = "the peer may offer more methods to clients with the hooks " + strings.Join(d.Probe.Hooks, ", ") + " (--on)"
	}
	if why != "" {
		f.Kind, f.Message = wire.RPCError, fmt.Sprintf("%q is not listed, but may exist: %s", format.CleanLine(name), format.CleanLine(why))
	}
	moduleNames := wire.Map(dialects.Modules(c), func(m format.Module) string { return m.Name })
	suggest.Name(run, f, all.Named(c.Dialect).Names.OnWire(name), append(moduleNames, c.Names()...))
	return f
}

// FetchCatalog requests the peer's catalog or, if the dialect allows that, only the module or method called name. If the
// peer is unreachable, it returns the stored catalog with a warning. brief omits the params of methods. If the peer has no
// catalog, the error is a Fault of kind RPCError.
func FetchCatalog(ctx context.Context, run *env.Env, e endpoint.Endpoint, o *options.Client, name string, brief bool) (c *catalog.Catalog, err error) {
	cl := o.Time.Deadline(ctx, options.DefaultIdle)
	run.OnMessage = cl.Touch // discovery may need a request for each module
	opened := false
	err = Converse(run, cl, e, o, nil, func(conv session.Conversation) error {
		opened = true
		spec := all.Named(conv.Dialect())
		if brief && name == "" && spec.Discovery.ByModule() {
			name = noName
		}
		return untilReached(run, cl, func() (err error) {
			if name == "" || !spec.Params.Typed {
				c, err = conv.Describe(cl.Ctx)
			} else if c, err = conv.Typing(cl.Ctx, name); c == nil && err == nil { // the peer does not describe the method separately
				c, err = conv.Describe(cl.Ctx)
			}
			return env.Cause(cl.Ctx, noCatalog(spec, err))
		})
	})
	f := wire.AsFault(err)
	if opened || f == nil || f.Kind != wire.Unreachable || o.Conn.Refresh || o.Conn.NoCache {
		return c, err
	}
	kept := cache.DiscoveredCatalog(e, run.Opened.Transport)
	if kept == nil {
		return nil, err
	}
	run.FromCache = true
	run.Console.Warn(f.Error() + "; using its cached catalog, which may be out of date")
	return kept, nil
}

// noCatalog returns the failure of a request for a catalog that failed with err.
func noCatalog(spec dialect.Spec, err error) error {
	if errors.Is(err, wire.ErrUnsupported) {
		missing := "it has no rpc.discover"
		if spec.Discovery != nil {
			missing = spec.Discovery.Missing
		}
		return &wire.Fault{
			Kind: wire.RPCError, Message: "the peer has no catalog (" + missing + ")",
			Hint: "detect its dialect with describe --probe, or write a catalog (--catalog FILE)",
		}
	}
	if rpc, ok := errors.AsType[*wire.Error](err); ok {
		return rpcFault("describe", rpc)
	}
	return err
}

// PrintJSON prints one value and checks the expectations of the whole output.
func PrintJSON(ctx context.Context, print *format.Pipeline, b []byte) error {
	_, err := print.Print(ctx, &wire.Message{Raw: b}, &wire.Event{Kind: wire.Data, Data: b})
	return errors.Join(err, print.Finish())
}

// noName is a module that does not exist, for which a peer returns only its list of modules.
const noName = "*"

// Incomplete returns the outcome of a command that has shown c, or its part called name, if the catalog lacks modules.
// It returns nil for a complete catalog.
func Incomplete(run *env.Env, c *catalog.Catalog, name string) error {
	names := dialects.UnknownModules(c, name)
	if len(names) == 0 {
		return nil
	}
	f := wire.NewFault(wire.RPCError, "no schemas for these modules: "+strings.Join(names, ", "), nil)
	if run.FromCache {
		f.Kind = wire.Unreachable
	}
	return f
}

// Conventions returns the conventions of catalogs in c's dialect. c may be nil.
func Conventions(c *catalog.Catalog) catalog.Conventions {
	if c == nil {
		return catalog.Conventions{}
	}
	return all.Named(c.Dialect).Catalog
}

// Listing returns c in human-readable form.
func Listing(run *env.Env, c *catalog.Catalog) format.Listing {
	return format.Listing{Catalog: c, Conventions: Conventions(c), Width: run.Stdout.Width, Color: run.Stdout.Color}
}
