package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
	"rpcx/wire/session"
)

// pluginDialect is what `plugin` speaks.
const pluginDialect = "scriptling"

// pluginOptions are what every command of `plugin` that connects was given.
type pluginOptions struct {
	clientFlags
	logLevel string
	strict   bool
}

const groupPlugin = "Plugin"

func (o *pluginOptions) flags(a *app) []Flag {
	flags := []Flag{
		newEnum(groupPlugin, "log-level", "`trace|debug|info|warn|error|fatal`: show what the plugin logs from this level on (info)", &o.logLevel, format.LogLevels),
		boolean(groupPlugin, "no-environment", "", "leave environment.open and environment.close out", &o.handshake.noEnvironment),
		boolean(groupPlugin, "strict", "", "the first line that is no message is an error", &o.strict),
		positive(groupPlugin, "shutdown-timeout", "wait `DURATION` for the answer to plugin.shutdown (1s)", &o.handshake.shutdown),
	}
	return pluginsOnly(append(flags, o.clientFlags.flags(a, idleCall)...))
}

// pluginsOnly are the flags that mean something to a plugin: others are for
// other dialects.
func pluginsOnly(flags []Flag) []Flag {
	return slices.DeleteFunc(flags, func(f Flag) bool {
		return slices.Contains([]string{"dialect", "subprotocol", "runtime"}, f.Names()[0]) ||
			slices.Contains([]string{groupGreeting, groupKept}, groupOf(f))
	})
}

func pluginCommand(a *app) *Command {
	return &Command{
		Name:        "plugin",
		Usage:       "drive a Scriptling plugin, or be one",
		ArgsUsage:   "describe|call|new|method|get|set|destroy|run|serve ...",
		Description: pluginDescription,
		Commands: append(pluginVerbs(a),
			pluginDescribeCommand(a), pluginRunCommand(a), pluginServeCommand(a)),
	}
}

const pluginDescription = `A Scriptling plugin is a program, or an HTTP server, with functions, classes and
constants. ENDPOINT is exec:./plugin, http://host/, demo:scriptling or a session's @NAME;
its dialect is scriptling without being named. Objects live as long as the connection:
to use one again, open a session.

Values are plain JSON. A number with . or an exponent is a float, one without is an
integer; {"$remote":{...}} is an object of the plugin, {"$callback":"id"} a callback.`

// pluginEndpoint reads the first argument.
func (o *pluginOptions) endpoint(ctx context.Context, a *app) (session.Endpoint, []string, error) {
	speaks := pluginDialect
	if len(a.line.args) > 0 {
		if e, err := session.ParseEndpoint(a.line.args[0], ""); err == nil && e.Socket != "" {
			speaks = "" // it is for the other process to say
		}
	}
	e, rest, err := a.endpoint(ctx, speaks)
	if err == nil && !session.SpecOf(e).Plugin {
		return e, rest, wire.NewFault(wire.Usage, fmt.Sprintf("%s speaks %s, not %s", a.line.args[0], e.Dialect, pluginDialect), nil)
	}
	e.NoEnvironment = o.handshake.noEnvironment // --dry-run counts what is said before
	if o.strict {
		o.conn.noise = 0
	}
	a.console.LogLevel(o.logLevel)
	return e, rest, err
}

// A pluginCall is one operation on a plugin, with what it is for people.
type pluginCall struct {
	op   dialect.Op
	name string // of the function, the class, the method
	at   int    // which argument of the command it is
}

// converse makes a call on a connection of its own, or a session's.
func (o *pluginOptions) converse(ctx context.Context, a *app, e session.Endpoint, pc pluginCall, print *format.Pipeline) error {
	cl := o.time.deadline(ctx, defaultIdle)
	a.heard = cl.touch // a callback counts as a message of its call
	return a.converse(ctx, cl, e, &o.clientFlags, nil, func(conv session.Conversation) error {
		err := a.pluginCall(cl, conv, pc, print)
		if f := wire.AsFault(err); f != nil && f.Kind == wire.RPCError {
			a.suggestPlugin(cl.ctx, conv, f, pc)
			return errors.Join(err, print.Flush())
		}
		return errors.Join(err, print.Finish())
	})
}

// pluginCall makes one call and prints what comes of it.
func (a *app) pluginCall(cl *deadline, conv session.Conversation, pc pluginCall, print *format.Pipeline) error {
	st, err := conv.Open(cl.ctx, pc.op)
	if err != nil {
		return pluginFault(cause(cl.ctx, err), pc)
	}
	c := &consumer{app: a, conv: conv, stream: st, print: print, deadline: cl, method: pc.name}
	return pluginFault(c.run(), pc)
}

// pluginFault names a failure by what the user called, not by the method of the
// wire.
func pluginFault(err error, pc pluginCall) error {
	f := wire.AsFault(err)
	if f == nil || f.Method != pc.op.Method || pc.name == "" {
		return err
	}
	g := *f
	g.Method = pc.name
	g.Message = strings.ReplaceAll(g.Message, `"`+pc.op.Method+`"`, `"`+format.CleanLine(pc.name)+`"`)
	return &g
}

// suggestPlugin adds the nearest name that the plugin has.
func (a *app) suggestPlugin(ctx context.Context, conv session.Conversation, f *wire.Fault, pc pluginCall) {
	if f.RPC == nil || !strings.HasPrefix(f.RPC.Message, "unknown ") || pc.at == 0 {
		return
	}
	c, err := conv.Describe(ctx)
	if err != nil {
		return
	}
	name := catalog.Nearest(pc.name, pluginNames(c, pc.op.Method))
	if name == "" || name == pc.name || !peerName(name) {
		return
	}
	f.Hint = "did you mean " + name + "?"
	if args := slices.Clone(a.line.args); len(args) > pc.at {
		args[pc.at] = name
		f.Fix = a.line.withArgs(args)
	}
}

// pluginNames are what a call with a method of the wire can name.
func pluginNames(c *catalog.Catalog, method string) []string {
	var names []string
	for _, class := range c.Classes {
		switch method {
		case "object.new":
			names = append(names, nameIn(class))
		case "object.call_method": // a property, too
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

func nameIn(described []byte) string {
	name, _ := scan.Text(scan.Get(described, "name"))
	return name
}

// callbacks notes which hooks are functions of ours, and refuses them where the
// plugin could not call them.
func (o *pluginOptions) callbacks(e session.Endpoint, funcs map[string]string) error {
	if len(funcs) > 0 && strings.HasPrefix(e.Address.Scheme, "http") {
		return wire.NewFault(wire.Usage, "callbacks need both directions, which HTTP has not", nil)
	}
	o.hooks.functions = map[string]bool{}
	for _, name := range funcs {
		o.hooks.functions[name] = true
	}
	return nil
}
