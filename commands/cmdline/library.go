package cmdline

import (
	"context"
	"os"
	"strings"

	"github.com/urfave/cli/v3"

	"rpcx/format"
	"rpcx/wire"
)

// Command and Flag are the library's, which nothing else imports.
type (
	Command = cli.Command
	Flag    = cli.Flag
)

// GroupOf returns the heading under which help lists f.
func GroupOf(f Flag) string {
	if c, ok := f.(cli.CategorizableFlag); ok {
		return c.GetCategory()
	}
	return ""
}

// loneValue returns the value of a flag that may be given without one; false
// where f has no such value.
func loneValue(f Flag) (string, bool) {
	g, ok := f.(*cli.GenericFlag)
	if !ok {
		return "", false
	}
	v, ok := g.Value.(interface{ LoneValue() string })
	if !ok {
		return "", false
	}
	return v.LoneValue(), true
}

// Execute runs the command that l names.
func Execute(ctx context.Context, root *Command, l *CommandLine) error {
	cli.FlagStringer = shortest
	return root.Run(ctx, l.argv())
}

// shortest is the form of a flag for the library's own help, which is never shown:
// its usual form takes longer to make than a call.
func shortest(f Flag) string { return f.Names()[0] }

// Harden keeps the library from printing to stdout, from exiting, and from
// splitting values at commas.
func Harden(root *Command) {
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

// flagError rewords what the library says of a flag's value, `invalid value "x"
// for flag -name: …`.
func flagError(err error) string {
	if _, said, ok := strings.Cut(err.Error(), " for flag -"); ok {
		return "--" + said
	}
	return err.Error()
}

// Print writes text to w, which is stdout; a failure is a Fault of kind IO or
// PipeClosed.
func Print(w *os.File, text string) error {
	if _, err := w.WriteString(text); err != nil {
		return format.StdoutFault(err)
	}
	return nil
}
