package cmdline

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"rpcx/format"
)

// Command and Flag are types of the library, for packages that do not import it.
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

// lone is a flag whose value the user may omit. The flag's value is then LoneValue.
type lone interface{ LoneValue() string }

// loneValue returns the lone value of f. It returns false if f needs a value.
func loneValue(f Flag) (string, bool) {
	g, ok := f.(*cli.GenericFlag)
	if !ok {
		return "", false
	}
	v, ok := g.Value.(lone)
	if !ok {
		return "", false
	}
	return v.LoneValue(), true
}

// Execute runs the command of l. It calls started after setting the values of the flags. The library's own Run would also
// prepare help and completions, which takes as long as connecting to a peer.
func Execute(ctx context.Context, l *CommandLine, started func()) error {
	l.Cmd.DisableSliceFlagSeparator = true // values contain commas
	for _, f := range l.Cmd.Flags {
		if err := f.PreParse(); err != nil {
			return err
		}
	}
	for _, word := range l.Flags {
		name, value, given := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		if !given {
			value = "true"
		}
		if err := l.Cmd.Set(name, value); err != nil {
			return l.Usage("--%s: %v", name, err)
		}
	}
	started()
	return l.Cmd.Action(ctx, l.Cmd)
}

// Value returns the value of the command's flag of this name, or nil.
func (l *CommandLine) Value(name string) any {
	for _, f := range l.Cmd.Flags {
		if !called(f, name) {
			continue
		}
		v := f.Get()
		if own, ok := v.(interface{ Get() any }); ok { // for flags made by Generic
			return own.Get()
		}
		return v
	}
	return nil
}

// called reports whether f has the name. The library's Names allocates a list for each call.
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

// Print writes text to w, which is stdout. Its error is a Fault of kind IO or PipeClosed.
func Print(w *os.File, text string) error {
	return PrintTo(w, text)
}

// PrintTo is like Print, but for another writer to stdout.
func PrintTo(w io.Writer, text string) error {
	if _, err := io.WriteString(w, text); err != nil {
		return format.StdoutFault(err)
	}
	return nil
}
