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

// printHelp prints the help of the command on the line. It shows only the flags that apply to the line's endpoint, or by default to a
// WebSocket with or without TLS. For commands with several situations, it shows all flags.
func printHelp(run *env.Env) error {
	l, d := run.Line, run.Line.Cmd
	options.Describe(d, l.Path...)
	given, ask := []string{"ws://host/", "wss://host/"}, len(l.Args) > 0
	if ask {
		given = l.Args[:1]
	}
	s := situationOf(l, ask, given...)
	var more []*cmdline.Flag
	if s != nil {
		var shown []*cmdline.Flag
		for _, f := range d.Flags {
			if s.Applies(f.Name) {
				if f.Name == "set" {
					f.Usage += ": " + s.Settable()
				}
				shown = append(shown, f)
			} else {
				more = append(more, f)
			}
		}
		d.Flags = shown
	}
	return cmdline.Print(os.Stdout, help.Text(strings.TrimSpace("rpcx "+strings.Join(l.Path, " ")), d, more, l.Brief))
}

// appliesTo returns a function that reports whether a flag applies to the endpoint on an incomplete line. It returns nil
// without an endpoint, and for commands with several endpoints.
func appliesTo(l *cmdline.CommandLine) func(flag string) bool {
	if len(l.Args) == 0 || l.Cmd.Name == "serve" && len(l.Path) == 1 {
		return nil
	}
	if s := situationOf(l, false, l.Args[0]); s != nil {
		return s.Begun().Applies
	}
	return nil
}

// situationOf returns the situation of the line with one of the endpoints given. ask allows a request to a session for its
// dialect. The result is nil for commands with several endpoints, and if an endpoint is not valid.
func situationOf(l *cmdline.CommandLine, ask bool, given ...string) *options.Situation {
	listens := strings.HasPrefix(l.Cmd.Args, "LISTEN")
	if !listens && !strings.HasPrefix(l.Cmd.Args, "ENDPOINT") || l.Cmd.Name == "record" || l.Cmd.Name == "validate" {
		return nil
	}
	dialect := l.Last("dialect")
	if len(l.Path) > 0 && l.Path[0] == "plugin" {
		dialect = options.PluginDialect
	}
	var all []endpoint.Endpoint
	for _, at := range given {
		e, err := session.ParseEndpoint(at, dialect)
		if err != nil {
			return nil
		}
		if e.Socket != "" && ask {
			e.Dialect = askDialect(e)
		}
		all = append(all, e)
	}
	s := options.ForPeer(l, all...)
	if listens {
		s = options.ForClients(l, all...)
	}
	return &s
}

// askDialect returns the dialect of a session, or "" after helpLimit.
func askDialect(e endpoint.Endpoint) string {
	ctx, cancel := context.WithTimeout(context.Background(), helpLimit)
	defer cancel()
	remote, err := relay.Dial(ctx, e)
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
		if c, err = request.FetchCatalog(ctx, run, e, o, rest[0], false); err != nil {
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
