package commands

import (
	"context"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"rpcx/commands/cmdline"
	"rpcx/commands/dialects"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/commands/request"
	"rpcx/wire"
	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
)

// evalOptions are the flags of eval.
type evalOptions struct {
	options.Client
	evaluator dialects.Evaluator
	file      string
	dryRun    bool
	retry     request.Retries
}

func evalCommand(run *env.Env) *cmdline.Command {
	o := &evalOptions{}
	o.Handshake.Set.Requests = true
	flags := append(o.evaluator.Flags(), []*cmdline.Flag{
		cmdline.Text("", "file", "f", "evaluate the code in `FILE` (- for stdin)", &o.file),
		cmdline.Bool("", "dry-run", "", "print the message without sending it", &o.dryRun),
	}...)
	flags = append(flags, o.retry.Flags()...)
	return &cmdline.Command{
		Name:        "eval",
		Usage:       "evaluate code on the peer and print its value",
		Args:        "ENDPOINT CODE",
		Description: evalDescription,
		Examples: append([]cmdline.Example{
			{Says: "Compute a value with a binding of the demo", Command: `rpcx eval demo:scomp 'listOrders({}) | length'`},
			{Says: "Answer calls from the code with a hook", Command: `rpcx eval demo:scomp 'notify({message:"hello"})' --on 'notify=jq:.message'`},
			{Says: "Evaluate code from a file, or from stdin", Command: `rpcx eval scomp+ws://localhost:8080/rt -f report.js`},
		}, dialects.Examples("eval")...),
		Flags:  append(flags, o.Flags(run, options.IdleCall)...),
		Action: func(ctx context.Context) error { return runEval(ctx, run, o) },
	}
}

const evalDescription = `Evaluates CODE in the peer's runtime, and prints the value. CODE is an argument or comes
from -f FILE; if CODE is -, rpcx reads the code from stdin. While the code runs, the peer may
make calls: hooks (--on, --hooks) answer them, and the handshake declares the hooks with exact
names. If the code fails, the exit status is 1, and stderr shows the stack trace.

The peer keeps the state of the code in a session. In scomp, that session may outlive the
connection, and --resume ID resumes it. To get the ID while @NAME is connected, run rpcx
describe @NAME -q .info.extra.sessionId. A HotRepl host keeps the values that code has set. It
accepts one client at a time: without a session, eval evicts the client that was connected.`

func runEval(ctx context.Context, run *env.Env, o *evalOptions) error {
	e, rest, err := request.Endpoint(ctx, run, o.Conn.Dialect)
	if err != nil {
		return err
	}
	if err := checkEvals(e); err != nil {
		return err
	}
	if err := o.evaluator.Check(run.Line, e, rest, o.file); err != nil {
		return err
	}
	code, err := o.code(ctx, run.Line, rest)
	if err != nil {
		return err
	}
	r, err := request.New(run, &o.Client, e, options.Params{DryRun: o.dryRun})
	if err != nil {
		return err
	}
	r.Idle, r.Retries, r.Nested = o.Time.Idle.Or(options.DefaultIdle), o.retry, true
	r.Read.What = "the eval"
	r.Op = o.evaluator.Operation(e, code, time.Duration(o.Time.Timeout))
	if members, err := o.Handshake.Set.Members(run.Line, e); members != nil || err != nil {
		if r.Op.Extra = members; err != nil {
			return err
		}
	}
	r.Explain = func(_ *request.ResponsePrinter, err error) error {
		return withStack(o.evaluator.HostTimeout(r.Op, r.Timeout, err))
	}
	return r.Do(ctx)
}

// checkEvals returns an error if the endpoint's dialect cannot evaluate code.
func checkEvals(e endpoint.Endpoint) error {
	if e.Spec().Evaluation != nil {
		return nil
	}
	hint := "try rpcx eval demo:scomp"
	if e.Demo == "" {
		hint = "name a dialect that can, such as scomp, before the endpoint or with --dialect"
	}
	return wire.Usagef("%s cannot evaluate code", e.Dialect).WithHint(hint)
}

// code returns the code in the argument, a file or stdin.
func (o *evalOptions) code(ctx context.Context, l *cmdline.CommandLine, rest []string) (string, error) {
	var code []byte
	var err error
	switch {
	case o.evaluator.Reset:
		return "", nil
	case len(rest) > 1:
		return "", l.Usage("eval takes one CODE: unexpected argument %q", rest[1]).WithHint("quote it for the shell: '…'")
	case len(rest) == 1 && o.file != "":
		return "", l.Usage("the code is given twice, as an argument and with -f")
	case len(rest) == 1 && rest[0] != "-":
		code = []byte(rest[0])
	case len(rest) == 1 || o.file == "-":
		code, err = env.ReadStdin(ctx)
	case o.file != "":
		if code, err = os.ReadFile(o.file); err != nil {
			return "", wire.NewFault(wire.Usage, "cannot read the code: "+err.Error(), err)
		}
	default:
		return "", l.Usage("the code is missing").WithHint("give it as an argument, with -f FILE, or as - for stdin")
	}
	switch {
	case err != nil:
		return "", err
	case !utf8.Valid(code):
		return "", wire.NewFault(wire.Usage, "the code is not UTF-8", nil)
	}
	return string(code), nil
}

// maxTrace bounds the printed lines of a stack trace.
const maxTrace = 100

// withStack adds the error class and the stack trace to a runtime's error.
func withStack(err error) error {
	f := wire.AsFault(err)
	if f == nil || f.Kind != wire.RPCError {
		return err
	}
	if f.RPC == nil || scan.Type(f.RPC.Data) != 'o' {
		return f
	}
	kind, kinded := scan.Text(scan.Get(f.RPC.Data, "kind"))
	stack, placed := scan.Text(scan.Get(f.RPC.Data, "stack"))
	if !kinded && !placed {
		return f
	}
	g := *f
	if g.Message = f.RPC.Error(); kind != "" {
		g.Message = kind + ": " + g.Message
	}
	g.Trace = []string{}
	for line := range strings.Lines(stack) {
		if line = strings.TrimSpace(line); line != "" && len(g.Trace) < maxTrace {
			g.Trace = append(g.Trace, line)
		}
	}
	return &g
}
