package plugin

import (
	"cmp"
	"context"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/commands/server"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/hook"
	"rpcx/wire/session"
)

// serveOptions are the flags of rpcx plugin serve.
type serveOptions struct {
	server.Options
	listen      string
	name        string
	version     string
	description string
}

func serveCommand(run *env.Env) *cmdline.Command {
	o := &serveOptions{}
	flags := append([]*cmdline.Flag{
		cmdline.Text(groupPlugin, "listen", "", "serve on `ENDPOINT`, such as http://127.0.0.1:0/, instead of stdin and stdout", &o.listen),
		cmdline.Text(groupPlugin, "name", "", "set the library's name to `NAME` (by default, the catalog's name, or \"plugin\")", &o.name),
		cmdline.Text(groupPlugin, "lib-version", "", "set the library's version to `VERSION`", &o.version),
		cmdline.Text(groupPlugin, "description", "", "set the library's description to `TEXT`", &o.description),
	}, o.Options.Flags(run)...)
	return &cmdline.Command{
		Name: "serve", Usage: "serve hooks as a plugin", Args: "[-- COMMAND ARGS...]",
		Description: serveDescription,
		Examples: []cmdline.Example{
			{Says: "Serve a plugin with one function, and call it", Command: `rpcx plugin call "exec:rpcx plugin serve --on 'greet=jq:\"Hello, \" + .args[0]'" greet Ada`},
			{Says: "Serve the hooks in a file over HTTP", Command: "rpcx plugin serve --listen http://127.0.0.1:0/ --hooks plugin.json"},
		},
		Flags:  pluginsOnly(flags),
		Action: func(ctx context.Context) error { return runServe(ctx, run, o) },
	}
}

const serveDescription = `A Scriptling host loads the plugin over stdin and stdout or, with --listen, over HTTP. The
hook greet is the function greet: it gets {"args":[...],"kwargs":{...}} and prints a plain
JSON value. The hook Config.get is the method get of the class Config; Config.__init__ runs
when an object is created, and Config.__del__ when it is released. Each of these hooks gets the
object's id in RPCX_OBJECT and a directory for the object's state in RPCX_STATE. In a jq: hook,
the function object returns the id; a co: hook gets the members "object" and "state".

--hooks FILE is a catalog with run members, also inside classes: "constructor":{"run":...},
"destructor":{"run":...}, methods and properties. FILE may also declare properties,
{"name","settable"}: rpcx calls the hook Config.name without arguments to read the property,
and with the new value to set it. FILE may also declare constants, {"NAME":VALUE}, and functions
with source, {"name","extra":{"source":CODE}}, which the host runs itself.

In a hook, rpcx call @ callback.call id=ID args:='["x"]' calls the callback
{"$callback":ID}, and rpcx call @ host.log level=info message=TEXT writes to the host's log.

A host starts a plugin as a program. Give the host a two-line executable script:

  #!/bin/sh
  exec rpcx plugin serve --hooks /path/to/hooks.json

rpcx plugin describe exec:./script prints its functions, classes, properties and constants
as a host sees them.`

func runServe(ctx context.Context, run *env.Env, o *serveOptions) error {
	var command []string
	switch args := run.Line.Args; {
	case len(args) > 0 && run.Line.Dash == 0 && o.listen != "":
		command = args
	case len(args) > 0 && run.Line.Dash == 0:
		return run.Line.Usage("no command can call a server on stdin and stdout: give --listen")
	case len(args) > 0:
		return run.Line.Usage("plugin serve takes no arguments, not %q", args[0])
	}
	at := cmp.Or(o.listen, "stdio:")
	e, err := session.ParseEndpoint(at, options.PluginDialect)
	if err != nil {
		return err
	}
	if err := options.ForClients(run.Line, e).Check(run.Line); err != nil {
		return err
	}
	so, err := o.Session(ctx, run, e.Spec())
	if err != nil {
		return err
	}
	if err := o.complete(so.Catalog, so.Hooks); err != nil {
		return err
	}
	if so.Record, err = o.Record.Open(run, e.String(), e.Dialect, true); err != nil {
		return err
	}
	s, err := session.Listen(ctx, e, so)
	if err != nil {
		return err
	}
	return server.Run(ctx, run, s, command, "", o.Hooks.Strict)
}

// complete adds the values of flags to the catalog. It returns an error if the catalog offers nothing.
func (o *serveOptions) complete(c *catalog.Catalog, entries []hook.Entry) error {
	if o.Catalog == "" && c.Info.Name == "rpcx serve" {
		c.Info = catalog.Info{}
	}
	info := &c.Info
	info.Name, info.Version = cmp.Or(o.name, info.Name, "plugin"), cmp.Or(o.version, info.Version, "1.0.0")
	info.Description = cmp.Or(o.description, info.Description)
	if len(entries) == 0 && len(c.Methods) == 0 && len(c.Constants) == 0 {
		return wire.NewFault(wire.Usage, "the plugin has no functions: give --on NAME=ANSWER or --hooks FILE", nil)
	}
	for _, m := range c.Methods {
		if class, part, dotted := strings.Cut(m.Name, "."); dotted && (class == "" || part == "" || strings.Contains(part, ".")) {
			return wire.NewFault(wire.Usage, "the hook "+m.Name+" is not a name of the form FUNCTION or CLASS.METHOD", nil)
		}
	}
	return nil
}
