// Package plugin implements rpcx plugin, commands for both sides of a Scriptling plugin.
package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/commands/request"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
	"rpcx/wire/session"
)

// flags are the flags of every subcommand of plugin that connects.
type flags struct {
	options.Client
	logLevel string
	strict   bool
}

const groupPlugin = "Plugin"

func (o *flags) all(run *env.Env) []*cmdline.Flag {
	flags := []*cmdline.Flag{
		cmdline.Enum(groupPlugin, "log-level", "`trace|debug|info|warn|error|fatal`: show the plugin's log messages at this level and above (info)", &o.logLevel, format.LogLevels),
		cmdline.Bool(groupPlugin, "no-environment", "", "do not send environment.open and environment.close", &o.Handshake.NoEnvironment),
		cmdline.Bool(groupPlugin, "strict", "", "fail if a line from the plugin is not a message", &o.strict),
		cmdline.PositiveDuration(groupPlugin, "shutdown-timeout", "wait up to `DURATION` for the response to plugin.shutdown (1s)", &o.Handshake.Shutdown),
	}
	return pluginsOnly(append(flags, o.Client.Flags(run, options.IdleCall)...))
}

// pluginsOnly removes the flags that do not apply to plugins.
func pluginsOnly(flags []*cmdline.Flag) []*cmdline.Flag {
	return slices.DeleteFunc(flags, func(f *cmdline.Flag) bool {
		return slices.Contains([]string{"dialect", "subprotocol", "runtime", "to"}, f.Name) ||
			slices.Contains([]string{cmdline.GroupScomp, cmdline.GroupScriptling, cmdline.GroupKept}, f.Group)
	})
}

// Command returns the command plugin with its subcommands.
func Command(run *env.Env) *cmdline.Command {
	return &cmdline.Command{
		Name:        "plugin",
		Usage:       "use or serve a Scriptling plugin",
		Args:        "describe|call|new|method|get|set|destroy|run|serve ...",
		Description: description,
		Commands: append(wire.Map(verbs, func(v verb) *cmdline.Command { return v.command(run) }),
			describeCommand(run), runCommand(run), serveCommand(run)),
	}
}

const description = `A Scriptling plugin is a program or an HTTP server that offers functions, classes and
constants. ENDPOINT is exec:./plugin, http://host/, demo:scriptling or a session's @NAME; the
prefix scriptling+ is not necessary. Objects live as long as the connection: to use an object
in several commands, open a session.

Values are plain JSON. A number with . or an exponent is a float; any other number is an
integer. {"$remote":{...}} is an object of the plugin, and {"$callback":"id"} is a callback.`

// endpoint parses the first argument. It refuses a peer that is not a plugin.
func (o *flags) endpoint(ctx context.Context, run *env.Env) (endpoint.Endpoint, []string, error) {
	speaks := options.PluginDialect
	if len(run.Line.Args) > 0 {
		if e, err := session.ParseEndpoint(run.Line.Args[0], ""); err == nil && e.Socket != "" {
			speaks = "" // only the session's process knows the dialect
		}
	}
	e, rest, err := request.Endpoint(ctx, run, speaks)
	if err == nil && !e.Spec().Handshake.Plugin {
		return e, rest, wire.NewFault(wire.Usage, fmt.Sprintf("%s uses the %s dialect, not %s", run.Line.Args[0], e.Dialect, options.PluginDialect), nil)
	}
	e.Plugin.NoEnvironment = o.Handshake.NoEnvironment // --dry-run includes the ids of the handshake
	if o.strict {
		o.Conn.Noise = 0
	}
	run.Console.LogLevel(o.logLevel)
	return e, rest, err
}

// An operation is one call of a plugin with the user's name of the function, class or method.
type operation struct {
	op   dialect.Op
	name string
	at   int // the index of the name among the arguments
}

// request returns the request of a command that makes calls on its own connection, or on a session's.
func (o *flags) request(run *env.Env, e endpoint.Endpoint) (*request.Request, error) {
	r, err := request.New(run, &o.Client, e, options.Params{})
	if err != nil {
		return nil, err
	}
	r.Idle, r.Nested = o.Time.Idle.Or(options.DefaultIdle), true
	return r, nil
}

// named puts the user's name in place of the wire method in a failure.
func named(err error, pc operation) error {
	f := wire.AsFault(err)
	if f == nil || f.Method != pc.op.Method || pc.name == "" {
		return err
	}
	g := *f
	g.Method = pc.name
	g.Message = strings.ReplaceAll(g.Message, `"`+pc.op.Method+`"`, `"`+format.CleanLine(pc.name)+`"`)
	return &g
}

// suggest adds the most similar name of the plugin to the failure of a call.
func suggest(c *request.ResponsePrinter, run *env.Env, f *wire.Fault, pc operation) {
	if f.RPC == nil || !strings.HasPrefix(f.RPC.Message, "unknown ") || pc.at == 0 {
		return
	}
	cat, err := c.Describe()
	if err != nil {
		return
	}
	if hasSource(cat, pc) {
		f.Hint = pc.name + " runs in the host: rpcx plugin describe prints its source"
		return
	}
	name := catalog.Nearest(pc.name, namesOf(cat, pc.op.Method))
	if name == "" || name == pc.name || !cmdline.IsSafeName(name) {
		return
	}
	f.Hint = "did you mean " + name + "?"
	if args := slices.Clone(run.Line.Args); len(args) > pc.at {
		args[pc.at] = name
		f.Fix = run.Line.WithArgs(args)
	}
}

// namesOf returns the names that a call with this wire method can use.
func namesOf(c *catalog.Catalog, method string) []string {
	var names []string
	for _, class := range c.Classes {
		switch method {
		case "object.new":
			names = append(names, nameIn(class))
		case "object.call_method": // properties can be called, too
			for p := range scan.Elements(scan.Get(class, "properties")) {
				names = append(names, nameIn(p))
			}
		}
	}
	for _, name := range c.Names() {
		_, part, dotted := strings.Cut(name, ".")
		switch {
		case dotted && method == "object.call_method":
			names = append(names, part)
		case !dotted && method == "function.call":
			names = append(names, name)
		}
	}
	return names
}

// hasSource reports whether a call names a function or class whose source the host gets and runs.
func hasSource(c *catalog.Catalog, pc operation) bool {
	var described json.RawMessage
	switch pc.op.Method {
	case "function.call":
		if m := c.Method(pc.name); m != nil {
			described = m.Extra
		}
	case "object.new":
		if i := slices.IndexFunc(c.Classes, func(class json.RawMessage) bool { return nameIn(class) == pc.name }); i >= 0 {
			described = c.Classes[i]
		}
	}
	return scan.String(scan.Get(described, "source")) != ""
}

func nameIn(described []byte) string {
	return scan.String(scan.Get(described, "name"))
}

// callbacks records the hooks that the plugin gets as values. Over HTTP it refuses them, because the plugin could not
// call them.
func (o *flags) callbacks(e endpoint.Endpoint, funcs map[string]string) error {
	if len(funcs) > 0 && strings.HasPrefix(e.Address.Scheme, "http") {
		return wire.NewFault(wire.Usage, "HTTP carries calls in one direction only: the plugin could not call the hook", nil)
	}
	o.Hooks.Functions = wire.SetOf(slices.Collect(maps.Values(funcs)))
	return nil
}
