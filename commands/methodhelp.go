package commands

import (
	"context"
	"os"
	"strings"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/dialects"
	"rpcx/commands/env"
	"rpcx/commands/help"
	"rpcx/commands/options"
	"rpcx/commands/request"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/endpoint"
	"rpcx/wire/session"
	"rpcx/wire/session/relay"
)

// asksAboutMethod reports whether --help follows a method. rpcx then prints the method's help.
func asksAboutMethod(l *cmdline.CommandLine) bool {
	return (l.Cmd.Name == "call" || l.Cmd.Name == "subscribe") && len(l.Path) == 1 && len(l.Args) > 1
}

// helpLimit bounds the wait for the dialect of a session before rpcx prints help.
const helpLimit = time.Second

// printHelp prints the help of the command on the line. For an endpoint, it shows only the flags that apply.
func printHelp(run *env.Env) error {
	l := run.Line
	d := cmdline.DocOf(l.Cmd)
	options.Describe(&d, l.Path...)
	s := helpSituation(l)
	var more []cmdline.FlagDoc
	if s != nil {
		var shown []cmdline.FlagDoc
		for _, f := range d.Flags {
			if s.Applies(f.Names[0]) {
				if f.Names[0] == "set" {
					f.Usage += ": " + s.Settable()
				}
				shown = append(shown, f)
			} else {
				more = append(more, f)
			}
		}
		d.Flags = shown
	}
	return help.Print(os.Stdout, strings.TrimSpace("rpcx "+strings.Join(l.Path, " ")), d, more, l.Brief)
}

// helpSituation returns the situation for help: the line's endpoint, or by default a WebSocket with and without TLS. It
// returns nil for commands with several situations, whose help lists all flags.
func helpSituation(l *cmdline.CommandLine) *options.Situation {
	listens := strings.HasPrefix(l.Cmd.ArgsUsage, "LISTEN")
	if !listens && !strings.HasPrefix(l.Cmd.ArgsUsage, "ENDPOINT") || l.Cmd.Name == "record" || l.Cmd.Name == "validate" {
		return nil
	}
	dialect := ""
	for _, f := range l.Flags {
		if name, ok := strings.CutPrefix(f, "--dialect="); ok {
			dialect = name
		}
	}
	if len(l.Path) > 0 && l.Path[0] == "plugin" {
		dialect = options.PluginDialect
	}
	given := []string{"ws://host/", "wss://host/"}
	if len(l.Args) > 0 {
		given = l.Args[:1]
	}
	var all []endpoint.Endpoint
	for _, at := range given {
		e, err := session.ParseEndpoint(at, dialect)
		if err != nil {
			return nil
		}
		if e.Socket != "" {
			e.Dialect = askDialect(e)
		}
		all = append(all, e)
	}
	s := options.ForPeer(l, all[0])
	s.Dials = all
	if listens {
		s = options.ForClients(l, all[0])
		s.Listens = all
	}
	return &s
}

// appliesTo returns a function that reports whether a flag applies to the endpoint on an incomplete line. It returns nil
// without an endpoint, and for commands with several endpoints.
func appliesTo(command []string, usage string, args []string, dialect string) func(flag string) bool {
	listens := strings.HasPrefix(usage, "LISTEN")
	switch name := strings.Join(command, " "); {
	case len(args) == 0, name == "record", name == "validate", name == "serve", !listens && !strings.HasPrefix(usage, "ENDPOINT"):
		return nil
	case command[0] == "plugin":
		dialect = options.PluginDialect
	}
	e, err := session.ParseEndpoint(args[0], dialect)
	if err != nil {
		return nil
	}
	s := options.Typed(strings.Join(command, " "), e, listens)
	return s.Applies
}

// askDialect returns the dialect of a session, or "" after helpLimit.
func askDialect(e endpoint.Endpoint) string {
	ctx, cancel := context.WithTimeout(context.Background(), helpLimit)
	defer cancel()
	remote, err := relay.Reach(ctx, e)
	if remote == nil {
		return ""
	}
	defer remote.Leave()
	if err != nil {
		return ""
	}
	return remote.Dialect()
}

// methodHelp prints a method's help from the file of --catalog or the peer's catalog, or else the help of the command.
func methodHelp(ctx context.Context, run *env.Env, o *options.Client, file string) error {
	e, rest, err := request.Endpoint(ctx, run, o.Conn.Dialect)
	if err != nil {
		return err
	}
	c, err := options.LoadCatalog(file)
	if err != nil {
		return err
	}
	if c == nil {
		if c, err = request.MethodCatalog(ctx, run, e, o, rest[0]); err != nil {
			run.Console.Warn("no description of " + format.CleanLine(rest[0]) + ": " + cmdline.ToFault(err).Error())
		}
	}
	m := dialects.MethodOf(c, rest[0])
	if c != nil && m == nil {
		f := request.NoMethod(run, c, rest[0])
		if f.Kind == wire.Usage {
			return f
		}
		run.Console.Warn(f.Error())
	}
	if m == nil {
		run.Line.Brief = true
		return printHelp(run)
	}
	listing := request.Listing(run, c)
	if listing.Width <= 0 || listing.Width > help.Width {
		listing.Width = help.Width
	}
	return cmdline.Print(os.Stdout, listing.Method(m, run.Line.Args[0])+"\nrpcx "+run.Line.Cmd.Name+" --help lists the flags.\n")
}
