package env

import (
	"rpcx/commands/cmdline"
)

// CommonFlags are the flags that every command has.
type CommonFlags struct {
	Verbose bool
	verbose int    // how often that was said
	Meter   *Meter // what is measured, for --write-out; nil: nothing
	errors  string // this and color are read before the line is parsed, see detect; here they are checked
	color   string
}

// errorForms are the values of --errors and RPCX_ERRORS.
var errorForms = []string{"text", "json"}

// Flags makes the flags, which store into c.
func (c *CommonFlags) Flags() []cmdline.Flag {
	return []cmdline.Flag{
		cmdline.Counted(cmdline.GroupCommon, "verbose", "v", "trace connections and messages on stderr, redacted; -vv also bytes and frames", &c.Verbose, &c.verbose),
		cmdline.Enum(cmdline.GroupCommon, "errors", "`text|json`: write stderr as text or as JSON objects (text)", &c.errors, errorForms),
		cmdline.Enum(cmdline.GroupCommon, "color", "`auto|always|never`: color the output (auto: on terminals)", &c.color, []string{"auto", "always", "never"}),
	}
}

// Bytes reports whether bytes are shown, too: -vv.
func (c *CommonFlags) Bytes() bool { return c.verbose > 1 }
