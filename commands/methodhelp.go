package commands

import (
	"context"
	"os"

	"rpcx/commands/cmdline"
	"rpcx/commands/dialects"
	"rpcx/commands/env"
	"rpcx/commands/help"
	"rpcx/commands/options"
	"rpcx/commands/request"
	"rpcx/format"
)

// asksAboutMethod reports whether --help follows a method, so that the help is
// about the method.
func asksAboutMethod(l *cmdline.CommandLine) bool {
	return (l.Cmd.Name == "call" || l.Cmd.Name == "subscribe") && len(l.Path) == 1 && len(l.Args) > 1
}

// methodHelp prints the help of a method, by the file of --catalog or by asking
// the peer; without either, that of the command.
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
			run.Console.Warn("the peer cannot be asked about " + format.CleanLine(rest[0]) + ": " + cmdline.ToFault(err).Error())
		}
	}
	if c == nil {
		run.Line.Brief = true
		return help.Print(os.Stdout, run.Line)
	}
	m := dialects.MethodOf(c, rest[0])
	if m == nil {
		return request.NoMethod(run, c, rest[0])
	}
	listing := request.Listing(run, c)
	if listing.Width <= 0 || listing.Width > help.Width {
		listing.Width = help.Width
	}
	return cmdline.Print(os.Stdout, listing.Method(m, run.Line.Args[0])+"\nrpcx "+run.Line.Cmd.Name+" --help tells of the flags.\n")
}
