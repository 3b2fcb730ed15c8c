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
	"rpcx/wire/session"
)

// Verbose tells who asked for it.
func (a *Env) Verbose(text string) {
	if a.Common.Verbose {
		a.Console.Note(text)
	}
}

// Env is one run of the program.
type Env struct {
	Common  CommonFlags
	Line    *cmdline.CommandLine
	Parent  Launcher                          // of the process of a session; nil elsewhere
	Respell func(typed, method string) string // a method of the wire as a user would type it in place of typed; nil: as it is
	Profile *profile.Profile                  // what the endpoint was named by; nil: no profile
	Console *format.Console
	Started time.Time
	Reached session.Endpoint // the endpoint that was named
	Opened  session.Options  // with which the last connection was opened
	Heard   func()           // is told of each message that comes; nil: nobody asks
	Signal  context.Context  // ends with the first signal to end
	Out     terminalOut
	Stdout  format.Screen               // what stdout is
	Stderr  format.Screen               // what stderr is
	Reload  atomic.Pointer[func() bool] // takes a SIGHUP; nil: nothing does
}

// A Launcher is the command that started this process, which is to hold a
// session.
type Launcher interface {
	// Gone is closed when that command has ended.
	Gone() <-chan struct{}
	// Ready lets that command end: the session is live.
	Ready()
	// Log returns the last lines that this process had to say since.
	Log() []string
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

// CheckEnvironment refuses what the environment has wrong.
func CheckEnvironment() error {
	if form := os.Getenv(errorsVariable); form != "" && !slices.Contains(errorForms, form) {
		return wire.NewFault(wire.Usage, fmt.Sprintf("%s is %q, which is none of %s", errorsVariable, form, strings.Join(errorForms, ", ")), nil)
	}
	return nil
}

// Detect looks at the standard streams.
func (a *Env) Detect(args []string) {
	color := early(args, "--color", "auto")
	a.Stdout = format.Detect(os.Stdout, color, os.Getenv)
	a.Stderr = format.Detect(os.Stderr, color, os.Getenv)
	a.Console = format.NewConsole(os.Stderr, format.ConsoleOptions{Screen: a.Stderr, JSON: JSONErrors(args)})
}

// JSONErrors says that failures are to be JSON.
func JSONErrors(args []string) bool {
	return early(args, "--errors", os.Getenv(errorsVariable)) == "json"
}
