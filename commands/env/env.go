// Package env contains the state of one run of rpcx: its standard streams and console, its signals, the deadline of a
// call, and its endpoint.
package env

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env/output"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/profile"
	"rpcx/wire/session"
	"rpcx/wire/session/relay"
)

// Env is the state of one run of rpcx.
type Env struct {
	Common    CommonFlags
	Line      *cmdline.CommandLine
	Parent    Launcher                          // the command that started this process as a session, or nil
	Respell   func(typed, method string) string // returns a wire method in the spelling of typed, the user's word; may be nil
	Profile   *profile.Profile                  // the endpoint's profile; may be nil
	Console   *format.Console
	Started   time.Time
	Reached   *relay.Client          // the connection to a session's process; nil without a session
	Opened    session.Options        // the options of the last connection
	FromCache bool                   // the catalog is from the cache, because the peer is unreachable
	OnMessage func()                 // called for each received message; may be nil
	Unhandled atomic.Pointer[string] // the method of the first notification without a hook, or nil
	Signal    context.Context        // ends with the first SIGINT or SIGTERM
	Out       output.Streams
	Stdout    format.Screen               // the terminal of stdout, if any
	Stderr    format.Screen               // the terminal of stderr, if any
	Fail      context.CancelCauseFunc     // ends the run with an error
	AtEnd     []func() error              // run after the command, in order; their errors are the command's
	Reload    atomic.Pointer[func() bool] // runs on SIGHUP; without Reload, SIGHUP ends the run
}

// Verbose prints text on stderr with -v.
func (run *Env) Verbose(text string) {
	if run.Common.Verbose {
		run.Console.Note(text)
	}
}

// A Launcher is the command that started this process as a session in the background.
type Launcher interface {
	// Ended returns a channel that is closed when that command has ended.
	Ended() <-chan struct{}
	// Ready reports to that command that the session is ready, which ends the command.
	Ready()
	// Log returns the last lines of stderr since Ready.
	Log() []string
}

// flagBeforeParsing returns the last value of a flag in unparsed arguments, because usage errors already have the form
// that --errors selects. Without the flag, it returns value.
func flagBeforeParsing(args []string, flag, value string) string {
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

// errorsVariable is the environment variable that sets the default of --errors.
const errorsVariable = "RPCX_ERRORS"

// CheckEnvironment returns a usage Fault if RPCX_ERRORS has an unknown value.
func CheckEnvironment() error {
	if form := os.Getenv(errorsVariable); form != "" && !slices.Contains(errorForms, form) {
		return wire.NewFault(wire.Usage, fmt.Sprintf("%s is %q, not one of %s", errorsVariable, form, strings.Join(errorForms, ", ")), nil)
	}
	return nil
}

// Detect detects whether stdout and stderr are terminals, and creates the console for stderr.
func (run *Env) Detect(args []string) {
	color := flagBeforeParsing(args, "--color", "auto")
	run.Stdout = format.Detect(os.Stdout, color, os.Getenv)
	run.Stderr = format.Detect(os.Stderr, color, os.Getenv)
	run.Out.Init()
	run.Console = format.NewConsole(run.Out.Stderr(), format.ConsoleOptions{Screen: run.Stderr, JSON: JSONErrors(args)})
}

// JSONErrors reports whether --errors or RPCX_ERRORS selects JSON.
func JSONErrors(args []string) bool {
	return flagBeforeParsing(args, "--errors", os.Getenv(errorsVariable)) == "json"
}

// CommonFlags are the flags of every command.
type CommonFlags struct {
	Verbose bool
	verbose int    // the number of repetitions
	Meter   *Meter // for --write-out, or nil
	errors  string // Detect reads errors and color before the parser checks the flags
	color   string
}

// errorForms are the values of --errors and RPCX_ERRORS.
var errorForms = []string{"text", "json"}

// Flags returns the flags of c.
func (c *CommonFlags) Flags() []*cmdline.Flag {
	return []*cmdline.Flag{
		cmdline.Counted(cmdline.GroupCommon, "verbose", "v", "trace connections and messages on stderr, with secrets redacted (-vv: also bytes and frames)", &c.Verbose, &c.verbose),
		cmdline.Enum(cmdline.GroupCommon, "errors", "`text|json`: print text or JSON objects on stderr (text)", &c.errors, errorForms),
		cmdline.Enum(cmdline.GroupCommon, "color", "`auto|always|never`: color the output (auto: only on a terminal)", &c.color, []string{"auto", "always", "never"}),
	}
}

// Bytes reports whether to trace bytes (-vv).
func (c *CommonFlags) Bytes() bool { return c.verbose > 1 }

// version is set by scripts/build.
var version = ""

// Version returns the version of the build, of the module, or "devel".
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "devel"
}
