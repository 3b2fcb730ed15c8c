package commands

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/cache"

	"rpcx/commands/cmdline"
	"rpcx/commands/dialects"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/commands/request"
	"rpcx/format"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
	"rpcx/wire/profile"
	"rpcx/wire/scan"
)

// describeOptions are the flags of describe.
type describeOptions struct {
	options.Client
	json bool
	form string

	probe  bool            // detect the peer's protocol even if the endpoint names it
	probed json.RawMessage // the report of --probe, an object, or nil
}

func describeCommand(run *env.Env) *cmdline.Command {
	o := &describeOptions{}
	flags := []*cmdline.Flag{
		cmdline.Bool("", "json", "", "print the catalog as JSON, even on a terminal", &o.json),
		cmdline.Bool("", "probe", "", "detect dialect, framing and transport with trial messages, report each attempt, and print the endpoint to use (at most 10s; --timeout)", &o.probe),
		cmdline.Enum("", "format", "`catalog|openrpc|jsonschema`: print the methods as JSON in this format (catalog)", &o.form, describeForms),
	}
	return &cmdline.Command{
		Name:        "describe",
		Usage:       "print the catalog: a peer's methods and their schemas",
		Args:        "ENDPOINT [METHOD|MODULE]",
		Description: describeDescription,
		Examples: append([]cmdline.Example{
			{Says: "List the methods of the demo", Command: "rpcx describe demo:"},
			{Says: "Describe one method, with an example", Command: "rpcx describe demo:orders getOrder"},
			{Says: "Print the dialect file of a dialect", Command: "rpcx describe --dialect qmp"},
			{Says: "Write a catalog for rpcx serve", Command: "rpcx describe demo:orders > catalog.json"},
		}, dialects.Examples("describe")...),
		Flags:  append(flags, options.WithoutErrors(o.Flags(run, options.IdleCall))...),
		Action: func(ctx context.Context) error { return runDescribe(ctx, run, o) },
	}
}

const describeDescription = `Prints the catalog as JSON (on a terminal, as a table). rpcx serve --catalog can read this
JSON. The catalog comes from the peer: in JSON-RPC from its OpenRPC document (rpc.discover), in
introspect from its modules, in ro from rpc.describe, in scomp from the handshake. rpcx
caches introspect catalogs under $XDG_CACHE_HOME. If the endpoint names no dialect and
the server does not answer rpc.discover, rpcx examines the first messages from the server,
requests the method lists that well-known servers offer, and tries the framing header. It then
prints the endpoint to use on stderr. Without an endpoint, --dialect NAME prints the dialect
file of that dialect.

--probe ignores the dialect and framing in the endpoint. It first listens, then tries each
framing that the transport can have, and in each framing the first messages of all dialects
(including your dialect files), the least intrusive first. If the endpoint is a command, it
starts the command at most six times. It prints each attempt and its outcome on stderr; in JSON
output, the member probe contains the attempts and the endpoint to use.`

func runDescribe(ctx context.Context, run *env.Env, o *describeOptions) error {
	if len(run.Line.Args) == 0 && o.Conn.Dialect != "" {
		return showPage(o.Conn.Dialect)
	}
	if len(run.Line.Args) == 1 {
		if file, ok := endpoint.ConfigFile(run.Line.Args[0]); ok {
			return listServers(file)
		}
	}
	e, rest, err := request.Endpoint(ctx, run, o.Conn.Dialect)
	if err != nil {
		return err
	}
	if len(rest) > 1 {
		return run.Line.Usage("describe takes one method: unexpected argument %q", rest[1])
	}
	print, err := options.NewPrinter(run, e, &o.Out)
	if err != nil {
		return err
	}
	name := ""
	if len(rest) == 1 {
		name = rest[0]
	}
	c, err := o.fetch(ctx, run, e, name)
	if err != nil {
		return err
	}
	if name == "" {
		cache.KeepOutlines(run.Line.Args[0], o.Conn.Dialect, cache.Outlines(c, cmdline.IsSafeName), c.Keep())
	}
	return errors.Join(o.show(ctx, run, print, c, name), undescribed(c, name), request.Incomplete(run, c, name))
}

// listServers prints the servers of another program's configuration file, one per line.
func listServers(file string) error {
	names, err := profile.ServerNames(file)
	if err != nil {
		return err
	}
	var lines []byte
	for _, name := range names {
		var o scan.Object
		o.Text("name", name)
		o.Text("endpoint", endpoint.Config+file+"#"+name)
		lines = append(append(lines, o.End()...), '\n')
	}
	return cmdline.Print(os.Stdout, string(lines))
}

func showPage(dialect string) error {
	if _, err := all.Lookup(dialect); err != nil {
		return err
	}
	text := all.Pages().Source(dialect)
	if text == nil {
		return wire.Usagef("the %s dialect has no dialect file: it is built in", dialect)
	}
	return cmdline.Print(os.Stdout, string(text))
}

// undescribed returns an error if the description of the method called name is incomplete. If name is "", it checks all
// methods.
func undescribed(c *catalog.Catalog, name string) error {
	var lacks []string
	for key, val := range scan.Members(scan.Get(c.Extra, catalog.Incomplete)) {
		if why, _ := scan.Text(val); name == "" || scan.Key(key) == name {
			lacks = append(lacks, format.CleanLine(scan.Key(key)+": "+why))
		}
	}
	if lacks == nil {
		return nil
	}
	return wire.NewFault(wire.RPCError, "the peer did not describe "+strings.Join(lacks, "; "), nil)
}

// show prints a catalog, or its part called name.
func (o *describeOptions) show(ctx context.Context, run *env.Env, print *format.Pipeline, c *catalog.Catalog, name string) error {
	part := dialects.ModuleOf(c, name)
	switch {
	case name != "" && part == nil:
		return o.showMethod(ctx, run, print, c, name)
	case part != nil:
		c = part
	}
	if o.forPeople(run) {
		head := ""
		if at := scan.String(scan.Get(o.probed, "endpoint")); at != "" {
			head = "endpoint: " + format.CleanLine(at) + "\n\n"
		}
		if modules := dialects.Modules(c); modules != nil && part == nil {
			return cmdline.Print(os.Stdout, head+format.Modules(modules, run.Stdout.Width, run.Stdout.Color))
		}
		return cmdline.Print(os.Stdout, head+request.Listing(run, c).Methods())
	}
	b, err := describeAs(o.form, c)
	if err != nil {
		return err
	}
	if o.probed != nil && slices.Contains([]string{"", describeForms[0]}, o.form) {
		b = scan.Splice(b, "probe", o.probed)
	}
	return request.PrintJSON(ctx, print, b)
}

// forPeople reports whether rpcx prints tables in place of JSON.
func (o *describeOptions) forPeople(run *env.Env) bool {
	return o.form == "" && !o.json && o.Out.ForPeople(run)
}

func (o *describeOptions) showMethod(ctx context.Context, run *env.Env, print *format.Pipeline, c *catalog.Catalog, name string) error {
	m := dialects.MethodOf(c, name)
	if m == nil {
		f := request.NoMethod(run, c, name)
		if f.Fix == nil && f.Kind == wire.Usage {
			f.Fix = run.Line.WithArgs(run.Line.Args[:1])
		}
		return f
	}
	if o.forPeople(run) {
		return cmdline.Print(os.Stdout, request.Listing(run, c).Method(m, run.Line.Args[0]))
	}
	return request.PrintJSON(ctx, print, methodAs(o.form, c, m))
}
