// Package commands implements rpcx's command line: it parses the arguments, runs the command, and returns the exit status.
package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"rpcx/commands/auth"
	"rpcx/commands/cmdline"
	"rpcx/commands/complete"
	"rpcx/commands/daemon"
	"rpcx/commands/env"
	"rpcx/commands/help"
	"rpcx/commands/options"
	"rpcx/commands/plugin"
	"rpcx/commands/replay"
	"rpcx/commands/validate"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/dialect/all"
	"rpcx/wire/framing"
	"rpcx/wire/scan"
	"rpcx/wire/serve"
)

// An Outcome is the result of running rpcx.
type Outcome struct {
	Status int
	fault  *wire.Fault // the failure behind Status, or nil
}

// Exit ends the process with the status, or with the signal that ended the run.
func (o Outcome) Exit() {
	if o.fault != nil {
		env.ExitBySignal(o.fault)
	}
	os.Exit(o.Status)
}

// Main runs rpcx with the arguments of a process.
func Main(args []string) Outcome {
	run := &env.Env{Started: time.Now()}
	if len(args) == 3 && args[1] == daemon.BackgroundWord {
		return Outcome{Status: daemon.Main(run, execute)}
	}
	run.Detect(args)
	if len(args) > 1 && args[1] == complete.Word {
		if complete.Print(os.Stdout, Tree(), args[2:], appliesTo) != nil {
			return Outcome{Status: cmdline.StatusOf(wire.IO).Code}
		}
		return Outcome{}
	}
	err := execute(run, args[1:])
	run.Console.Clear()
	switch own, ok := errors.AsType[cmdline.CommandStatus](err); {
	case err == nil:
		run.Report(0)
		return Outcome{}
	case ok:
		run.Report(own.Code)
		return Outcome{Status: own.Code}
	}
	f := cmdline.Worst(err)
	st := cmdline.StatusOf(f.Kind)
	run.Report(st.Code)
	if !cmdline.Quiet(f) {
		run.Console.Error(f, st.Code)
	}
	return Outcome{Status: st.Code, fault: f}
}

// execute parses and executes the words. It reports a panic as a defect of rpcx.
func execute(run *env.Env, words []string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = run.OwnFault(r, debug.Stack())
		}
	}()
	wire.OnDefect(run.Defect)
	signals := env.NotifySignals()
	log.SetFlags(0)
	log.SetOutput(libraryLog{run})
	root := tree(run, words...)
	run.Line, err = cmdline.Parse(root, words, (&env.CommonFlags{}).Flags(), func() *cmdline.Command { return tree(&env.Env{}) })
	switch {
	case err != nil:
		return err
	case run.Line.WantsHelp && !asksAboutMethod(run.Line):
		return printHelp(run)
	case run.Line.WantsVersion:
		return printVersion(run.Line.VersionJSON)
	case run.Line.Cmd.Action == nil:
		return run.Line.Usage("no command was given")
	}
	if err := env.CheckEnvironment(); err != nil {
		return err
	}
	ctx, stop := signals.Context(context.Background(), run.Out.Restore, run.HungUp)
	defer stop()
	defer run.BoundOutput(ctx)()
	ctx, run.Fail = context.WithCancelCause(ctx)
	run.Signal = ctx
	within, done := run.EndInTime(ctx, run.Fail)
	defer done()
	err = cmdline.Execute(ctx, run.Line, func() { within(timeoutOf(run)) })
	for _, end := range run.AtEnd {
		err = errors.Join(err, end())
	}
	run.Reached.Leave()
	if cause := wire.AsFault(context.Cause(ctx)); cause != nil {
		if wire.AsFault(err) == nil && errors.Is(err, context.Canceled) { // the context's error has no more information
			err = nil
		}
		err = errors.Join(err, cause)
	}
	return err
}

// timeoutOf returns the value of --timeout, or 0. In a session's process it returns 0, because --timeout does not apply to sessions.
func timeoutOf(run *env.Env) time.Duration {
	if run.Parent != nil {
		return 0
	}
	d, _ := run.Line.Value("timeout").(time.Duration)
	return d
}

// libraryLog prints log output of libraries, but only with -v: the output reports no failures of rpcx, and may contain
// text from the peer.
type libraryLog struct{ run *env.Env }

func (l libraryLog) Write(b []byte) (int, error) {
	if l.run.Common.Verbose {
		l.run.Console.Warn(format.Cut(format.CleanLine(string(bytes.TrimSpace(b))), 300))
	}
	return len(b), nil
}

// A command is a row of commandTable.
type command struct {
	name string
	make func(*env.Env) *cmdline.Command
}

// commandTable lists the commands in the order of the help.
var commandTable = []command{
	{"call", callCommand},
	{"eval", evalCommand},
	{"subscribe", subscribeCommand},
	{"connect", connectCommand},
	{"session", daemon.Command},
	{"serve", serveCommand},
	{"record", recordCommand},
	{"replay", replay.Command},
	{"describe", describeCommand},
	{"validate", validate.Command},
	{"job", jobCommand},
	{"plugin", plugin.Command},
	{"auth", auth.Command},
	{"completion", complete.Command},
}

// tree returns the command tree. Its flags store their values in run. If words begin with a command, the tree omits all other
// commands to save the time for building their flags.
func tree(run *env.Env, words ...string) *cmdline.Command {
	root := &cmdline.Command{
		Name:        "rpcx",
		Usage:       "call methods, print streams and answer calls over JSON-RPC",
		Description: fmt.Sprintf(rootDescription, strings.Join(serve.DemoNames(), ", "), strings.Join(framing.Names(), ", ")),
		Examples: []cmdline.Example{
			{Says: "List the methods of the embedded server", Command: "rpcx describe demo:orders"},
			{Says: "Call one of them", Command: "rpcx call demo:orders listOrders limit:=1"},
		},
	}
	named := func(c command) bool { return len(words) > 0 && words[0] == c.name }
	alone := slices.ContainsFunc(commandTable, named)
	for _, c := range commandTable {
		if !alone || named(c) {
			root.Commands = append(root.Commands, c.make(run))
		}
	}
	if !alone {
		root.Commands = append(root.Commands, help.NewCommand(run, Tree))
	}
	return root
}

const rootDescription = `rpcx makes a shell script a full JSON-RPC peer: it calls methods, prints streams, and
answers calls from the other side through hooks.

An endpoint names a peer: ws://host/path, http://host/, tcp://host:port, unix:PATH,
exec:COMMAND, ipc:COMMAND, stdio:, or an embedded server, demo:NAME (%s). A dialect (see
--dialect) and a framing (%s) can precede it, as in header+exec:gopls or
jsonrpc1+ws://host/. @NAME is a session (see connect) or a profile of config.toml; @ alone
stands for $RPCX_ENDPOINT.`

// Tree returns the command tree for help, the manual and the completions.
func Tree() *cmdline.Command {
	root := tree(&env.Env{})
	options.Describe(root)
	return root
}

// printVersion prints the version of rpcx, and as JSON also its dialects and framings.
func printVersion(asJSON bool) error {
	if !asJSON {
		return cmdline.Print(os.Stdout, "rpcx "+env.Version()+"\n")
	}
	var o scan.Object
	o.Text("version", env.Version())
	o.Text("go", runtime.Version())
	o.Text("os", runtime.GOOS)
	o.Text("arch", runtime.GOARCH)
	o.Value("dialects", all.Names())
	o.Value("framings", framing.Names())
	return cmdline.Print(os.Stdout, string(o.End())+"\n")
}
