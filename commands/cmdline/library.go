package cmdline

import (
	"context"

	"github.com/urfave/cli/v3"

	"rpcx/wire"
)

// Execute runs the command of l. The library sets the flags and runs the action. Execute calls started between the two.
func Execute(ctx context.Context, l *CommandLine, started func()) error {
	c := &cli.Command{
		Name:     l.Cmd.Name,
		HideHelp: true,
		Action: func(ctx context.Context, _ *cli.Command) error {
			started()
			return l.Cmd.Action(ctx)
		},
		OnUsageError:   func(_ context.Context, _ *cli.Command, err error, _ bool) error { return l.wrong(err) },
		ExitErrHandler: func(context.Context, *cli.Command, error) {}, // without it, the library ends the process
	}
	c.Flags = wire.Map(l.Cmd.Flags, func(f *Flag) cli.Flag { return f })
	return c.Run(ctx, append([]string{"rpcx"}, l.Flags...))
}

// wrong returns the Fault for a flag with a wrong value. err is the library's error, whose text shows the value twice.
func (l *CommandLine) wrong(err error) error {
	for _, f := range l.Cmd.Flags {
		if f.wrong != nil {
			return l.Usage("--%s: %v", f.Name, f.wrong)
		}
	}
	return err
}

// *Flag is a flag of the library.
var _ cli.Flag = (*Flag)(nil)

func (f *Flag) String() string { return "--" + f.Name }

// Get returns the value.
func (f *Flag) Get() any { return f.get() }

// Set parses text and stores the value.
func (f *Flag) Set(_, text string) error {
	f.given, f.wrong = true, f.set(text)
	return f.wrong
}

// IsSet reports whether the flag has been set.
func (f *Flag) IsSet() bool { return f.given }

// IsBoolFlag reports whether f takes no value.
func (f *Flag) IsBoolFlag() bool { return f.lone == "true" }

func (f *Flag) PreParse() error { return nil }

func (f *Flag) PostParse() error { return nil }

// Names returns the names without dashes, the long name first.
func (f *Flag) Names() []string {
	if f.Short == "" {
		return []string{f.Name}
	}
	return []string{f.Name, f.Short}
}

// called reports whether f has the name. Names would allocate a list for each call.
func (f *Flag) called(name string) bool { return f.Name == name || f.Short == name && name != "" }
