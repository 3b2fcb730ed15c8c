// Package commands is the command tree of rpcx: what a user types and what
// comes back as bytes and as a status.
package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/urfave/cli/v3"

	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/profile"
	"rpcx/wire/session"
)

// version is set by scripts/build.
var version = ""

// app is one run of the program.
type app struct {
	common  commonFlags
	line    *commandLine
	parent  launcher                          // of the process of a session; nil elsewhere
	respell func(typed, method string) string // a method of the wire as a user would type it in place of typed; nil: as it is
	profile *profile.Profile                  // what the endpoint was named by; nil: no profile
	console *format.Console
	started time.Time
	reached session.Endpoint // the endpoint that was named
	opened  session.Options  // with which the last connection was opened
	heard   func()           // is told of each message that comes; nil: nobody asks
	signal  context.Context  // ends with the first signal to end
	stdout  stdout
	out     format.Screen               // what stdout is
	err     format.Screen               // what stderr is
	reload  atomic.Pointer[func() bool] // takes a SIGHUP; nil: nothing does
}

// A launcher is the command that started this process, which is to hold a
// session.
type launcher interface {
	// Gone is closed when that command has ended.
	Gone() <-chan struct{}
	// Ready lets that command end: the session is live.
	Ready()
	// Log returns the last lines that this process had to say since.
	Log() []string
}

// Main runs rpcx with the arguments of a process and returns its exit status.
func Main(args []string) int {
	a := &app{started: time.Now()}
	if len(args) == 3 && args[1] == backgroundWord {
		return runChild(a, run)
	}
	a.detect(args)
	err := run(a, args[1:])
	if err == nil {
		return 0
	}
	var own exitStatus
	if errors.As(err, &own) {
		return own.code
	}
	f := worst(err)
	st := statusOf(f.Kind)
	if !quiet(f) {
		a.console.Error(f, st.code)
	}
	return st.code
}

// run parses and executes. A panic is a defect of ours and says so.
func run(a *app, words []string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = wire.NewFault(wire.Internal, fmt.Sprintf("a defect of rpcx: %v", r), nil)
			if a.common.verbose {
				fmt.Fprintf(os.Stderr, "%s", debug.Stack())
			}
		}
	}()
	root := tree(a, words...)
	a.line, err = parse(root, words, (&commonFlags{}).flags(), func() *Command { return tree(&app{}) })
	switch {
	case err != nil:
		return err
	case a.line.help && !a.asksAboutMethod():
		return help(os.Stdout, a.line)
	case a.line.version:
		return say(os.Stdout, "rpcx "+Version()+"\n")
	case a.line.cmd.Action == nil:
		return a.line.usage("no command given")
	}
	if err := checkEnvironment(); err != nil {
		return err
	}
	ctx, stop := signals(context.Background(), a.stdout.restore, a.hungUp)
	defer stop()
	a.signal = ctx
	err = execute(ctx, root, a.line)
	a.reached.Leave()
	if cause := wire.AsFault(context.Cause(ctx)); cause != nil {
		err = errors.Join(err, cause)
	}
	return err
}

// execute runs the command that l names.
func execute(ctx context.Context, root *Command, l *commandLine) error {
	cli.FlagStringer = shortest
	return root.Run(ctx, l.argv())
}

// shortest names a flag for the library's own help, which nobody sees: what it
// would say there costs more than a call.
func shortest(f Flag) string { return f.Names()[0] }

// A command is one of the program's.
type command struct {
	name string
	make func(*app) *Command
}

// all are the commands, in the order of the help.
var all = []command{
	{"call", callCommand},
	{"eval", evalCommand},
	{"subscribe", subscribeCommand},
	{"connect", connectCommand},
	{"serve", serveCommand},
	{"describe", describeCommand},
	{"job", jobCommand},
	{"plugin", pluginCommand},
}

// tree is the command tree, made anew for each run since the library keeps
// state in it. Where words, the command line, begin with a command, the others
// are left out: most of a tree is flags that this run has no use for.
func tree(a *app, words ...string) *Command {
	root := &Command{
		Name:        "rpcx",
		Usage:       "call, stream and answer JSON-RPC that talks back",
		Description: rootDescription,
		Metadata: map[string]any{examplesKey: []Example{
			{Says: "What the embedded server offers", Command: "rpcx describe demo:orders"},
			{Says: "A call of it", Command: "rpcx call demo:orders getOrder id=o_001"},
		}},
	}
	named := func(c command) bool { return len(words) > 0 && words[0] == c.name }
	alone := slices.ContainsFunc(all, named)
	for _, c := range all {
		if !alone || named(c) {
			root.Commands = append(root.Commands, c.make(a))
		}
	}
	harden(root)
	return root
}

const rootDescription = `rpcx makes a shell script a full peer of any bidirectional JSON-RPC system. It
calls, it streams, and it answers the calls that come back, through hooks.

An endpoint names a peer: ws://host/path, http://host/, tcp://host:port,
unix:PATH, exec:COMMAND, ipc:COMMAND, stdio:, or an embedded server to try things on:
demo:orders (and scomp, introspect, ro, scriptling, hotrepl). A dialect of one of these
names and a framing (line, lsp, nul, seq, concat) may stand before it, as in
lsp+exec:gopls or jsonrpc1+ws://host/. @NAME is a session (see connect) or a profile of
config.toml, @ alone $RPCX_ENDPOINT.`

// harden makes the library behave: nothing on stdout but data, no exit inside
// it, no splitting at commas.
func harden(root *Command) {
	root.ExitErrHandler = func(context.Context, *Command, error) {}
	_ = root.Walk(func(c *Command) error {
		c.HideHelp, c.HideHelpCommand, c.HideVersion = true, true, true
		c.DisableSliceFlagSeparator = true
		c.OnUsageError = func(_ context.Context, cmd *Command, err error, _ bool) error {
			f := wire.NewFault(wire.Usage, flagError(err), err)
			f.Hint = "see " + strings.TrimSpace(cmd.FullName()) + " --help"
			return f
		}
		return nil
	})
}

// flagError is what the library says of a flag's value, in our words: it says
// `invalid value "x" for flag -name: …`.
func flagError(err error) string {
	if _, said, ok := strings.Cut(err.Error(), " for flag -"); ok {
		return "--" + said
	}
	return err.Error()
}

// Tree is the command tree as data, for the manual and the completions.
func Tree() Doc { return docOf(tree(&app{})) }

// Version is the version of this binary.
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "devel"
}

// early finds a flag's value before anything is parsed, so that a usage error
// has the form that was asked for.
func early(args []string, flag, value string) string {
	for i, word := range args {
		if word == "--" {
			break
		}
		if v, ok := strings.CutPrefix(word, flag+"="); ok {
			value = v
		}
		if word == flag && i+1 < len(args) {
			value = args[i+1]
		}
	}
	return value
}

// errorsVariable is --errors for those who would have to give it each time.
const errorsVariable = "RPCX_ERRORS"

// checkEnvironment refuses what the environment has wrong.
func checkEnvironment() error {
	if form := os.Getenv(errorsVariable); form != "" && !slices.Contains(errorForms, form) {
		return wire.NewFault(wire.Usage, fmt.Sprintf("%s is %q, which is none of %s", errorsVariable, form, strings.Join(errorForms, ", ")), nil)
	}
	return nil
}

// detect looks at the standard streams.
func (a *app) detect(args []string) {
	color := early(args, "--color", "auto")
	a.out = format.Detect(os.Stdout, color, os.Getenv)
	a.err = format.Detect(os.Stderr, color, os.Getenv)
	a.console = format.NewConsole(os.Stderr, format.ConsoleOptions{Screen: a.err, JSON: jsonErrors(args)})
}

// jsonErrors says that failures are to be JSON.
func jsonErrors(args []string) bool {
	return early(args, "--errors", os.Getenv(errorsVariable)) == "json"
}

// say writes text to stdout; a failure is one of the stream.
func say(w *os.File, text string) error {
	if _, err := w.WriteString(text); err != nil {
		return format.StdoutFault(err)
	}
	return nil
}
