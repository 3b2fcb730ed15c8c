package cmdline

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"rpcx/format"
	"rpcx/wire"
)

// Command and Flag are the library's types, for packages that do not import it.
type (
	Command = cli.Command
	Flag    = cli.Flag
)

// GroupOf returns f's heading in help.
func GroupOf(f Flag) string {
	if c, ok := f.(cli.CategorizableFlag); ok {
		return c.GetCategory()
	}
	return ""
}

// loneValue returns the value of a flag that is given without one; false if f
// needs a value.
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

// shortest replaces the form of a flag in the library's own help, which is
// never shown: making the usual form takes longer than a call.
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

// flagError rewords the library's error about a flag's value, `invalid value
// "x" for flag -name: …`.
func flagError(err error) string {
	if _, said, ok := strings.Cut(err.Error(), " for flag -"); ok {
		return "--" + said
	}
	return err.Error()
}

// Value is that of the command's flag of this name; nil where it has none.
func (l *CommandLine) Value(name string) any {
	for _, f := range l.Cmd.Flags {
		if called(f, name) {
			return f.Get()
		}
	}
	return nil
}

// called reports whether name is one of f's names, which the library puts together anew for each question.
func called(f Flag, name string) bool {
	switch f := f.(type) {
	case *cli.BoolFlag:
		return f.Name == name || slices.Contains(f.Aliases, name)
	case *cli.StringFlag:
		return f.Name == name || slices.Contains(f.Aliases, name)
	case *cli.GenericFlag:
		return f.Name == name || slices.Contains(f.Aliases, name)
	}
	return slices.Contains(f.Names(), name)
}

// Print writes text to w, which is stdout. A failure is a Fault of kind IO or
// PipeClosed.
func Print(w *os.File, text string) error {
	if _, err := w.WriteString(text); err != nil {
		return format.StdoutFault(err)
	}
	return nil
}
