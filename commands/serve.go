package commands

import (
	"context"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/request"
	"rpcx/commands/server"
	"rpcx/wire/endpoint"
	"rpcx/wire/session"
)

func serveCommand(run *env.Env) *cmdline.Command {
	o := &server.Options{}
	return &cmdline.Command{
		Name:        "serve",
		Usage:       "serve hooks as methods, in any dialect",
		Args:        "LISTEN [-- COMMAND ARGS...]",
		Description: serveDescription,
		Examples: []cmdline.Example{
			{Says: "Serve one method, on a free port", Command: `rpcx serve ws://127.0.0.1:0/ --on 'add=jq:.[0] + .[1]'`},
			{Says: "Serve while a test runs", Command: `rpcx serve tcp://127.0.0.1:0 --on 'add=jq:.[0] + .[1]' -- rpcx call @ add 1 2`},
			{Says: "Serve a directory of scripts, each named after its method", Command: "rpcx serve unix:/tmp/tools.sock --hooks ./methods"},
		},
		Flags:  o.Flags(run),
		Action: func(ctx context.Context) error { return runServe(ctx, run, o) },
	}
}

const serveDescription = `When the listener is ready, rpcx prints one line with the address on stdout:
{"listening":"ws://127.0.0.1:41233/"}. With COMMAND, rpcx prints no address, but runs COMMAND
with RPCX_ENDPOINT set to that endpoint; when it ends, the server ends with its status
(128+N if signal N killed COMMAND). With --strict-hooks, a failed hook changes only status 0,
to 8.

LISTEN is an endpoint, such as ws://127.0.0.1:0/ (port 0 is any free port),
http://127.0.0.1:8080/rpc, tcp://127.0.0.1:0 or unix:PATH; wss, https and tls need --cert
and --key; with stdio:, another program starts rpcx. With dial+ before the transport, rpcx
connects, and serves until that connection ends.

With --to ENDPOINT, serve is a bridge: it offers that peer in the dialect of LISTEN, accepts
all client flags that apply to ENDPOINT, and reconnects after a lost connection (see BRIDGES
in rpcx-endpoints(7)). Write flags before --.`

func runServe(ctx context.Context, run *env.Env, o *server.Options) error {
	e, rest, err := request.Endpoint(ctx, run, o.Conn.Dialect)
	if err != nil {
		return err
	}
	command, err := serveCommandLine(run, rest)
	if err != nil {
		return err
	}
	if err := checkServe(run.Line, e, command); err != nil {
		return err
	}
	so, err := o.Session(ctx, run, e.Spec())
	if err != nil {
		return err
	}
	if o.Prints() {
		return o.PrintConfig(run, e)
	}
	to, err := o.Peer(run, e)
	if err != nil {
		return err
	}
	if so.Record, err = o.Record.Open(run, e.String(), e.Dialect, true); err != nil {
		return err
	}
	if o.Passes(ctx, run, e, to, so) {
		return o.Pass(ctx, run, e, to, so, command)
	}
	b, err := o.Bridge(ctx, run, e, to, &so)
	if err != nil {
		return err
	}
	if b != nil {
		defer func() { _ = b.Close() }()
	}
	return listen(ctx, run, o, e, so, command)
}

// checkServe returns an error if there is a command after --, but no endpoint that it could call.
func checkServe(l *cmdline.CommandLine, e endpoint.Endpoint, command []string) error {
	if scheme := e.Address.Scheme; command != nil && (scheme == "stdio" || scheme == "ipc" || e.Reversed == endpoint.Dial) {
		return l.Usage("%s: has no endpoint that COMMAND could call", scheme)
	}
	return nil
}

// listen serves clients at e until the server ends.
func listen(ctx context.Context, run *env.Env, o *server.Options, e endpoint.Endpoint, so session.Options, command []string) error {
	var s *session.Server
	if err := request.WaitReached(ctx, run, func() (err error) {
		s, err = session.Listen(ctx, e, so)
		return err
	}); err != nil {
		return err
	}
	if o.Silent() && !e.Spec().Evaluation.IsLive() { // the evaluator answers without hooks
		run.Console.Warn("no hooks: every call gets -32601 (--on NAME=ANSWER adds a hook)")
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	go o.Watch(watching, run, e.Spec(), s)
	return server.Run(ctx, run, s, command, o.Conn.Listen.File, o.Hooks.Strict)
}

// serveCommandLine returns the command after "--", or nil.
func serveCommandLine(run *env.Env, rest []string) ([]string, error) {
	if run.Line.Dash < 0 {
		if len(rest) > 0 {
			return nil, run.Line.Usage("%s takes one LISTEN: unexpected argument %q", run.Line.Cmd.Name, rest[0]).WithHint("write a command after --")
		}
		return nil, nil
	}
	if run.Line.Dash != 1 || len(rest) == 0 {
		return nil, run.Line.Usage("%s LISTEN -- COMMAND needs one LISTEN before -- and a command after it", run.Line.Cmd.Name)
	}
	return rest, nil
}
