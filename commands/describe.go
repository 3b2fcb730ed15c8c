package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/urfave/cli/v3"

	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/session"
)

// describeOptions are what `describe` was given.
type describeOptions struct {
	clientFlags
	json bool
}

func describeCommand(a *app) *cli.Command {
	o := &describeOptions{}
	flags := []cli.Flag{boolean("", "json", "", "print the catalog as JSON on a terminal too", &o.json)}
	return &cli.Command{
		Name:        "describe",
		Usage:       "show what a peer offers",
		ArgsUsage:   "ENDPOINT [METHOD]",
		Description: describeDescription,
		Metadata: map[string]any{examplesKey: []Example{
			{"The methods of the demo", "rpcx describe demo:orders"},
			{"One method, with an example", "rpcx describe demo:orders getOrder"},
			{"A catalog that serve can read", "rpcx describe demo:orders > catalog.json"},
		}},
		Flags:  append(flags, o.flags(a, idleCall)...),
		Action: func(ctx context.Context, _ *cli.Command) error { return runDescribe(ctx, a, o) },
	}
}

const describeDescription = `A table on a terminal, the catalog as JSON elsewhere: the file that rpcx serve --catalog
reads. JSON-RPC servers are asked for their OpenRPC document (rpc.discover).`

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
	c, err := fetchCatalog(ctx, a, e, o)
	if err != nil {
		return err
	}
	if len(rest) == 1 {
		return o.showMethod(ctx, a, print, c, rest[0])
	}
	if o.forPeople(a) {
		var b bytes.Buffer
		err := format.Methods(&b, c, a.out.Width, a.out.Color)
		if err != nil {
			return err
		}
		return say(os.Stdout, b.String())
	}
	b, err := c.MarshalIndent()
	if err != nil {
		return err
	}
	return o.printJSON(ctx, print, b)
}

// forPeople says that a table is wanted.
func (o *describeOptions) forPeople(a *app) bool {
	return a.out.Terminal && o.out.output == "" && !o.json && o.out.jq == "" && !o.out.compact && o.out.template == ""
}

func fetchCatalog(ctx context.Context, a *app, e session.Endpoint, o *describeOptions) (_ *catalog.Catalog, err error) {
	idle := time.Duration(o.time.idle)
	if idle == 0 {
		idle = defaultIdle
	}
	cl := start(ctx, time.Duration(o.time.timeout), idle)
	defer cl.stop()
	conv, err := a.open(cl.ctx, e, &o.clientFlags, nil, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, closing(ctx, conv, &o.hooks, err)) }()
	c, err := conv.Describe(cl.ctx)
	if errors.Is(err, wire.ErrUnsupported) {
		return nil, &wire.Fault{
			Kind: wire.RPCError, Message: "the peer does not describe itself (it has no rpc.discover)",
			Hint: "write a catalog by hand and give it with --catalog",
		}
	}
	return c, why(cl.ctx, err)
}

// showMethod shows one method.
func (o *describeOptions) showMethod(ctx context.Context, a *app, print *format.Pipeline, c *catalog.Catalog, name string) error {
	m := c.Method(name)
	if m == nil {
		f := wire.NewFault(wire.Usage, fmt.Sprintf("the peer has no method %q", format.CleanLine(name)), nil)
		suggestName(a, f, name, c.Names())
		return f
	}
	if o.forPeople(a) {
		var b bytes.Buffer
		if err := format.Method(&b, c, m, a.line.args[0], a.out.Width, a.out.Color); err != nil {
			return err
		}
		return say(os.Stdout, b.String())
	}
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return o.printJSON(ctx, print, b)
}

func (o *describeOptions) printJSON(ctx context.Context, print *format.Pipeline, b []byte) error {
	_, err := print.Print(ctx, wire.Message{Raw: b}, wire.Event{Kind: wire.Data, Data: b})
	return errors.Join(err, print.Finish())
}
