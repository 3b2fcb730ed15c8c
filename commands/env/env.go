// Package env is what one run of the program has: its standard streams and console,
// its signals, the time that a call may take, and the endpoint that was named.
package env

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/profile"
	"rpcx/wire/schema"
	"rpcx/wire/session"
	"rpcx/wire/session/relay"
)

// Env is one run of the program: what was typed, the standard streams, and what is
// known of the endpoint so far. One goroutine sets its members before a connection
// is opened; Out and Console may be used by all.
type Env struct {
	Common  CommonFlags
	Line    *cmdline.CommandLine
	Parent  Launcher                          // of the process of a session; nil elsewhere
	Respell func(typed, method string) string // a method of the wire as a user would type it in place of typed; nil: as it is
	Profile *profile.Profile                  // what the endpoint was named by; nil: no profile
	Console *format.Console
	Started time.Time
	Reached *relay.Client                                   // the process that holds the conversation of the endpoint that was named; nil: none
	Opened  session.Options                                 // with which the last connection was opened
	Typos   func(method string, names []schema.Undescribed) // gets the parameters that a schema does not describe; nil: the user is warned of them
	Kept    bool                                            // what is shown of the peer is what it said earlier: it cannot be reached
	Heard   func()                                          // is told of each message that comes; nil: nobody asks
	Untaken atomic.Pointer[string]                          // the method of the first notification that nothing took; nil: there was none
	Signal  context.Context                                 // ends with the first signal to end
	Out     terminalOut
	Stdout  format.Screen               // what stdout is
	Stderr  format.Screen               // what stderr is
	Fail    context.CancelCauseFunc     // ends the run with an error of ours, as a signal does
	AtEnd   []func() error              // run after the command, in this order; what they return counts as its error
	Reload  atomic.Pointer[func() bool] // takes a SIGHUP; nil: nothing does
}

// Verbose prints text on stderr if -v was given.
func (run *Env) Verbose(text string) {
	if run.Common.Verbose {
		run.Console.Note(text)
	}
}

// A Launcher is the command that started this process in the background, to hold a
// session.
type Launcher interface {
	// Gone is closed when that command has ended.
	Gone() <-chan struct{}
	// Ready lets that command end: the session is live.
	Ready()
	// Log returns the last lines that this process had to say since.
	Log() []string
}

// early finds the value of a flag before the command line is parsed, because a
// usage error must be reported in the form that --errors asks for. The last one
// wins; without one it returns value.
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

// errorsVariable is the environment variable that stands for --errors.
const errorsVariable = "RPCX_ERRORS"

// CheckEnvironment returns a usage Fault if RPCX_ERRORS holds no known form.
func CheckEnvironment() error {
	if form := os.Getenv(errorsVariable); form != "" && !slices.Contains(errorForms, form) {
		return wire.NewFault(wire.Usage, fmt.Sprintf("%s is %q, which is none of %s", errorsVariable, form, strings.Join(errorForms, ", ")), nil)
	}
	return nil
}

// Detect finds out whether stdout and stderr are terminals, and makes the console
// for stderr.
func (run *Env) Detect(args []string) {
	color := early(args, "--color", "auto")
	run.Stdout = format.Detect(os.Stdout, color, os.Getenv)
	run.Stderr = format.Detect(os.Stderr, color, os.Getenv)
	run.Out.stdout.init(os.Stdout)
	run.Out.stderr.init(os.Stderr)
	run.Console = format.NewConsole(&run.Out.stderr, format.ConsoleOptions{Screen: run.Stderr, JSON: JSONErrors(args)})
}

// JSONErrors reports whether failures are printed as JSON, by --errors or
// RPCX_ERRORS.
func JSONErrors(args []string) bool {
	return early(args, "--errors", os.Getenv(errorsVariable)) == "json"
}
