package commands

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/session"
)

// describeOptions are what `describe` was given.
type describeOptions struct {
	clientFlags
	json bool
	form string
}

func describeCommand(a *app) *Command {
	o := &describeOptions{}
	flags := []Flag{
		boolean("", "json", "", "print the catalog as JSON on a terminal too", &o.json),
		newEnum("", "format", "`catalog|openrpc|jsonschema`: the form of the JSON (catalog)", &o.form, describeForms),
	}
	return &Command{
		Name:        "describe",
		Usage:       "show what a peer offers",
		ArgsUsage:   "ENDPOINT [METHOD|MODULE]",
		Description: describeDescription,
		Metadata: map[string]any{examplesKey: []Example{
			{Says: "The methods of the demo", Command: "rpcx describe demo:orders"},
			{Says: "One method, with an example", Command: "rpcx describe demo:orders getOrder"},
			{Says: "The modules of a service that has some, and one of them", Command: "rpcx describe demo:introspect storage"},
			{Says: "A catalog that serve can read", Command: "rpcx describe demo:orders > catalog.json"},
		}},
		Flags:  append(flags, o.flags(a, idleCall)...),
		Action: func(ctx context.Context, _ *Command) error { return runDescribe(ctx, a, o) },
	}
}

const describeDescription = `A table on a terminal, the catalog as JSON elsewhere: the file that rpcx serve --catalog
reads. JSON-RPC servers are asked for their OpenRPC document (rpc.discover), those of
the dialect introspect for their modules; what these say is kept below $XDG_CACHE_HOME.
Those of the dialect ro are asked with rpc.describe; those of scomp have said it in
the handshake.`

func runDescribe(ctx context.Context, a *app, o *describeOptions) error {
	e, rest, err := a.endpoint(ctx, o.conn.dialect)
	if err != nil {
		return err
	}
	if len(rest) > 1 {
		return a.line.usage("describe takes one method, not %q too", rest[1])
	}
	print, err := a.printer(e, &o.out, format.Options{})
	if err != nil {
		return err
	}
	name := ""
	if len(rest) == 1 {
		name = rest[0]
	}
	c, err := fetchCatalog(ctx, a, e, &o.clientFlags, name)
	if err != nil {
		return err
	}
	part := moduleOf(c, name)
	switch {
	case name != "" && part == nil:
		return o.showMethod(ctx, a, print, c, name)
	case part != nil:
		c = part
	}
	if o.forPeople(a) {
		var b bytes.Buffer
		table := func() error { return a.listing(c).Methods(&b) }
		if modules := modulesOf(c); modules != nil && part == nil {
			table = func() error { return format.Modules(&b, modules, a.out.Width, a.out.Color) }
		}
		if err := table(); err != nil {
			return err
		}
		return say(os.Stdout, b.String())
	}
	b, err := describeAs(o.form, c, nil)
	if err != nil {
		return err
	}
	return printJSON(ctx, print, b)
}

// forPeople says that a table is wanted.
func (o *describeOptions) forPeople(a *app) bool {
	return o.form == "" && !o.json && o.out.forPeople(a)
}

// fetchCatalog asks what the peer offers; where name is given, of that alone if
// it can be asked so.
func fetchCatalog(ctx context.Context, a *app, e session.Endpoint, o *clientFlags, name string) (_ *catalog.Catalog, err error) {
	cl := o.time.deadline(ctx, defaultIdle)
	defer cl.stop()
	a.heard = cl.touch // a service is asked module by module
	conv, err := a.open(cl.ctx, e, o, nil, false)
	if err != nil {
		return keptCatalog(a, e, &o.conn, err)
	}
	defer func() { err = errors.Join(err, closing(ctx, conv, &o.hooks, err)) }()
	c, err := discovered(cl.ctx, conv, name)
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
	return c, cause(cl.ctx, err)
}

// showMethod shows one method.
func (o *describeOptions) showMethod(ctx context.Context, a *app, print *format.Pipeline, c *catalog.Catalog, name string) error {
	name = session.SpecNamed(c.Dialect).OnWire(name)
	m := methodOf(c, name)
	if m == nil {
		f := wire.NewFault(wire.Usage, fmt.Sprintf("the peer has no method %q", format.CleanLine(name)), nil)
		f.Fix = a.line.withArgs(a.line.args[:1])
		suggestName(a, f, name, c.Names())
		return f
	}
	if o.forPeople(a) {
		var b bytes.Buffer
		if err := a.listing(c).Method(&b, m, a.line.args[0]); err != nil {
			return err
		}
		return say(os.Stdout, b.String())
	}
	b, err := describeAs(o.form, c, m)
	if err != nil {
		return err
	}
	return printJSON(ctx, print, b)
}

func printJSON(ctx context.Context, print *format.Pipeline, b []byte) error {
	_, err := print.Print(ctx, wire.Message{Raw: b}, wire.Event{Kind: wire.Data, Data: b})
	return errors.Join(err, print.Finish())
}
