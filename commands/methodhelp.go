package commands

import (
	"bytes"
	"context"
	"os"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/commands/dialects"
	"rpcx/commands/env"
	"rpcx/commands/help"
	"rpcx/commands/options"
	"rpcx/commands/request"
	"rpcx/format"
	"rpcx/wire/catalog"
	"rpcx/wire/session"
)

// asksAboutMethod reports whether --help stands behind a method whose peer may
// tell what it takes.
func asksAboutMethod(a *env.Env) bool {
	l := a.Line
	if l.Cmd.Name != "call" && l.Cmd.Name != "subscribe" || len(l.Path) != 1 || len(l.Args) < 2 {
		return false
	}
	if strings.HasPrefix(l.Args[0], "@") {
		return true
	}
	dialect := ""
	for _, f := range l.Flags {
		if value, ok := strings.CutPrefix(f, "--dialect="); ok {
			dialect = value
		}
	}
	e, err := session.ParseEndpoint(l.Args[0], dialect)
	return err == nil && e.Spec().ModuleOf != nil
}

// methodHelp prints what a method takes, as its peer tells; if that cannot be had,
// the help of the command.
func methodHelp(ctx context.Context, a *env.Env, o *options.Client) error {
	e, rest, err := request.Endpoint(ctx, a, o.Conn.Dialect)
	if err != nil {
		return err
	}
	var m *catalog.Method
	c, err := request.MethodCatalog(ctx, a, e, o, rest[0])
	switch {
	case err != nil:
		a.Console.Warn("the peer cannot be asked about " + format.CleanLine(rest[0]) + ": " + cmdline.ToFault(err).Error())
	case c != nil:
		if m = dialects.MethodOf(c, rest[0]); m == nil {
			return request.NoMethod(a, c, rest[0])
		}
	}
	if m == nil {
		return help.Print(os.Stdout, a.Line)
	}
	var b bytes.Buffer
	if err := request.Listing(a, c).Method(&b, m, a.Line.Args[0]); err != nil {
		return err
	}
	b.WriteString("\nrpcx " + a.Line.Cmd.Name + " --help tells of the flags.\n")
	return cmdline.Print(os.Stdout, b.String())
}
