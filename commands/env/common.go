package env

import (
	"rpcx/commands/cmdline"
)

// CommonFlags are the flags that every command has.
type CommonFlags struct {
	Verbose bool
	verbose int    // the number of repetitions
	Meter   *Meter // for --write-out; nil for no measurement
	errors  string // Detect reads errors and color before the line is parsed; parsing checks them
	color   string
}

// errorForms lists the values of --errors and RPCX_ERRORS.
var errorForms = []string{"text", "json"}

// Flags returns the flags, which store their values in c.
func (c *CommonFlags) Flags() []cmdline.Flag {
	return []cmdline.Flag{
		cmdline.Counted(cmdline.GroupCommon, "verbose", "v", "trace connections and messages on stderr, redacted; -vv also bytes and frames", &c.Verbose, &c.verbose),
		cmdline.Enum(cmdline.GroupCommon, "errors", "`text|json`: write stderr as text or as JSON objects (text)", &c.errors, errorForms),
		cmdline.Enum(cmdline.GroupCommon, "color", "`auto|always|never`: color the output (auto: on terminals)", &c.color, []string{"auto", "always", "never"}),
	}
}

// Bytes reports whether to trace bytes, too (-vv).
func (c *CommonFlags) Bytes() bool { return c.verbose > 1 }
