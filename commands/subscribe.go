package commands

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/dialects"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/commands/request"
	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
)

// subscribeOptions are the flags of subscribe.
type subscribeOptions struct {
	options.Client
	params options.Params
	options.StopConditions
	choose      string
	method      []string
	unsubscribe string
	beside      string // links the watch of --method or --select to its request, or ""
	since       int64
	lossy       bool
	grace       cmdline.Duration
	watch       dialects.Watch
}

func subscribeCommand(run *env.Env) *cmdline.Command {
	o := &subscribeOptions{since: -1}
	o.Handshake.Set.Requests = true
	flags := append(append(o.StopConditions.Flags(),
		cmdline.Text("", "select", "", "print the messages from the peer for which the jq program `EXPR` is true", &o.choose).Filled("a jq program"),
		cmdline.List("", "method", "", "print the notifications of the method `NAME` (which can be a pattern, such as tick*)", &o.method).Filled("the name of a method"),
		cmdline.Number("", "since", "print the events that a session has stored after number `SEQ`, and then new ones (without METHOD)", 0, &o.since),
		cmdline.Bool("", "lossy", "", "succeed even if the session has lost events (otherwise status 7)", &o.lossy),
		cmdline.Text("", "unsubscribe", "", "call the method `NAME` to end the subscription (\"NAME JSON\": with params; by default, x_unsubscribe for x_subscribe)", &o.unsubscribe),
		options.GraceFlag(&o.grace),
	), slices.Concat(o.watch.Flags(), o.params.Flags())...)
	return &cmdline.Command{
		Name:        "subscribe",
		Usage:       "print the events of a stream until it ends",
		Args:        "ENDPOINT [METHOD [PARAMS...]]",
		Description: subscribeDescription + "\n\n" + paramsDescription,
		Examples: append([]cmdline.Example{
			{Says: "Print three events of the demo's stream", Command: "rpcx subscribe demo:orders watchOrders --count 3"},
			{Says: "Print the number of each new block of an Ethereum node", Command: `rpcx subscribe ws://localhost:8546/ eth_subscribe '["newHeads"]' -q .number`},
			{Says: "Run for days: detect dead peers and reconnect", Command: `rpcx subscribe ws://localhost:8546/ eth_subscribe '["newHeads"]' --reconnect --ping 30s`},
			{Says: "Print notifications of one method without sending a request", Command: "rpcx subscribe ws://localhost:6800/jsonrpc --method aria2.onDownloadComplete"},
		}, dialects.Examples("subscribe")...),
		Flags:  append(append(flags, o.Reconnect.Flags()...), o.Client.Flags(run, options.IdleStream)...),
		Action: func(ctx context.Context) error { return runSubscribe(ctx, run, o) },
	}
}

const subscribeDescription = `Prints events on stdout, one JSON value per line, until the stream ends, a limit is reached
or a signal arrives; rpcx then unsubscribes (--unsubscribe). METHOD is optional with
--method and --select, and not allowed with --since. Without METHOD, rpcx sends no request.
With --reconnect, rpcx
reconnects after a lost connection, with pauses of up to 30 s, and subscribes again; a gap
event shows that items may be missing. On a HotRepl host, METHOD is code that the host
evaluates every few frames (--every). The host accepts one client at a time: without a
session, subscribe evicts the client that was connected.`

func runSubscribe(ctx context.Context, run *env.Env, o *subscribeOptions) error {
	if run.Line.WantsHelp {
		return methodHelp(ctx, run, &o.Client, o.params.Catalog)
	}
	e, rest, err := request.Endpoint(ctx, run, o.Conn.Dialect)
	if err != nil {
		return err
	}
	if err := o.check(run.Line, e, rest); err != nil {
		return err
	}
	o.Lasts = true
	o.Out.Count, o.Out.Until, o.Out.Select = o.Count, o.Until, o.choose
	r, err := request.New(run, &o.Client, e, o.params)
	if err != nil {
		return err
	}
	o.Calls(rest)
	r.Args, r.Idle, r.Stop = rest, o.Time.Idle.Or(0), o.StopConditions
	r.Read = request.ReadOptions{Stream: true, Choose: o.choose != "", Watch: o.watchOp(), WatchEnds: e.OnlyResponds(), Grace: time.Duration(o.grace)}
	// If a flag limits the items, the response alone does not end the stream.
	lasting := o.Given() || len(o.method) > 0 || o.unsubscribe != "" || o.Time.Idle > 0
	r.Op = dialect.Op{Kind: dialect.Subscribe, Lasting: lasting, Beside: o.beside}
	if r.Op.Unsubscribe, r.Op.UnsubscribeParams, err = parseUnsubscribe(o.unsubscribe); err != nil {
		return err
	}
	if len(rest) > 0 {
		watches, err := o.watch.Operation(run.Line, e, &r.Op, rest, o.limit())
		if err != nil {
			return err
		}
		if watches {
			r.Args = nil // the arguments are code, not METHOD and PARAMS
		}
	}
	return r.Do(ctx)
}

// check returns an error for a subscription without a method, or without a way to receive events.
func (o *subscribeOptions) check(l *cmdline.CommandLine, e endpoint.Endpoint, rest []string) error {
	switch {
	case o.since >= 0 && (len(rest) > 0 || e.Session == ""):
		return l.Usage("--since reads the stored events of a session: it takes @NAME and no METHOD").
			WithHint(`store the events of METHOD with rpcx connect ENDPOINT --session NAME --subscribe METHOD`)
	case len(rest) > 0 && rest[0] == "", len(rest) == 0 && o.choose == "" && len(o.method) == 0 && o.since < 0:
		return l.Usage("the method is missing").WithHint("name one, or print notifications with --method NAME or --select EXPR")
	case len(rest) == 0 && e.OnlyResponds():
		return l.Usage("over HTTP, rpcx receives only responses to its requests, and METHOD is missing").
			WithHint("name the METHOD that opens the stream, or use a WebSocket, whose peer can send notifications: ws:// instead of http://")
	}
	return nil
}

// parseUnsubscribe parses --unsubscribe: a method and, after a blank, its params.
func parseUnsubscribe(given string) (method string, params json.RawMessage, err error) {
	method, rest, _ := strings.Cut(strings.TrimSpace(given), " ")
	if rest = strings.TrimSpace(rest); rest == "" {
		return method, nil, nil
	}
	params = json.RawMessage(rest)
	bad := scan.Valid(params, wire.DefaultMaxDepth)
	if t := scan.Type(params); bad != nil || t != 'o' && t != 'a' {
		return "", nil, wire.NewFault(wire.Usage, "--unsubscribe "+wire.Quote(given)+": the params after the method must be an object or an array", nil)
	}
	return method, params, nil
}

// limit returns the number of values that the peer must send, or 0 if unknown.
func (o *subscribeOptions) limit() int64 {
	if o.Out.JQ != "" || o.choose != "" || len(o.method) > 0 {
		return 0
	}
	return o.Count
}

// watchOp returns the operation for --method, --select and --since. It returns nil if rpcx prints only the responses to
// METHOD.
func (o *subscribeOptions) watchOp() *dialect.Op {
	if o.choose == "" && len(o.method) == 0 && o.since < 0 {
		return nil
	}
	op := &dialect.Op{Kind: dialect.Watch, Method: strings.Join(o.method, "\n")}
	if len(o.method) > 0 {
		o.beside = rand.Text() // unique in a session
		op.Beside = o.beside
	}
	if o.since >= 0 {
		op.Since = &o.since
	}
	return op
}
