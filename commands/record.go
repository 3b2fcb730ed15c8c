package commands

import (
	"context"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/server"
	dialects "rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
	"rpcx/wire/session"
)

func recordCommand(run *env.Env) *cmdline.Command {
	o := &server.RecordOptions{}
	return &cmdline.Command{
		Name:        "record",
		Usage:       "record the messages between two peers on a tape",
		Args:        "LISTEN --to ENDPOINT -o FILE [-- COMMAND ARGS...]",
		Description: recordDescription,
		Examples: []cmdline.Example{
			{Says: "Record a browser and a plugin", Command: "rpcx record ws://127.0.0.1:8080/ --to exec:./plugin -o plugin.tape"},
			{Says: "Record a host that starts rpcx instead of its plugin", Command: "rpcx record stdio: --to 'exec:./plugin --flag' -o plugin.tape"},
			{Says: "Record a test, with one tape per connection", Command: "rpcx record tcp://127.0.0.1:0 --to unix:/run/app.sock -o app.tape --split -- ./test.sh"},
		},
		Flags:  o.Flags(run),
		Action: func(ctx context.Context) error { return runRecord(ctx, run, o) },
	}
}

const recordDescription = `Forwards messages between ENDPOINT and the clients that connect to LISTEN, and records them. The
two sides may use different transports and framings; the bytes of messages stay the same in
both directions. FILE gets a line for each message and for each connection that opens or
closes, in order, even for messages that are not JSON. rpcx masks secrets: members with
names such as password or token, and the values that --redact selects.

rpcx prints one line with the address on stdout: {"listening":"ws://127.0.0.1:41233/"}. With
COMMAND, rpcx prints no address, but runs COMMAND with RPCX_ENDPOINT set to that endpoint,
and ends when COMMAND ends. With stdio:, another program starts rpcx, and rpcx ends with the
status of ENDPOINT's child. rpcx-tape(5) describes the format; rpcx replay plays a tape.`

func runRecord(ctx context.Context, run *env.Env, o *server.RecordOptions) error {
	switch {
	case o.To == "":
		return run.Line.Usage("--to is missing").WithHint("name the peer that receives the messages: --to exec:./plugin")
	case o.Record.File == "":
		return run.Line.Usage("-o is missing").WithHint("name the tape: -o talk.tape")
	case len(run.Line.Args) == 0:
		return run.Line.Usage("LISTEN is missing").WithHint("give a listen address, such as ws://127.0.0.1:0/, unix:PATH or stdio:")
	}
	to, err := session.ParseEndpoint(o.To, o.Conn.Dialect)
	if err != nil {
		return err
	}
	listen, err := session.ParseEndpoint(run.Line.Args[0], o.Conn.Dialect)
	if err != nil {
		return err
	}
	if err := sameDialect(run, &listen, &to); err != nil {
		return err
	}
	command, err := serveCommandLine(run, run.Line.Args[1:])
	if err != nil {
		return err
	}
	return server.RunRecord(ctx, run, o, listen, to, command)
}

// sameDialect gives both endpoints the same dialect if only one of them names a dialect.
func sameDialect(run *env.Env, listen, to *endpoint.Endpoint) error {
	usual := dialects.Default()
	switch {
	case listen.Dialect == to.Dialect:
	case listen.Dialect == usual:
		listen.Dialect = to.Dialect
	case to.Dialect == usual:
		to.Dialect = listen.Dialect
	default:
		return run.Line.Usage("cannot record between dialects: %s uses %s, and %s uses %s", listen, listen.Dialect, to, to.Dialect)
	}
	return nil
}
