package cmdline

import (
	"context"
	"slices"
)

// A Command describes one command and its subcommands, for the command line, help, completion, and scripts/gen, which
// generates the manual, the completion scripts and parts of README.
type Command struct {
	Name        string                          `json:"name"`
	Usage       string                          `json:"usage"`
	Args        string                          `json:"args,omitempty"`        // the placeholders of the arguments: "ENDPOINT METHOD [PARAMS...]"
	Description string                          `json:"description,omitempty"` // paragraphs between blank lines; indented lines are verbatim
	Flags       []*Flag                         `json:"flags,omitempty"`
	Shared      []string                        `json:"shared,omitempty"` // the flags that `rpcx help --json` lists once for all commands
	Commands    []*Command                      `json:"commands,omitempty"`
	Examples    []Example                       `json:"examples,omitempty"`
	Action      func(ctx context.Context) error `json:"-"` // nil for a command that only has subcommands
}

// Sub returns the subcommand of that name, or nil.
func (c *Command) Sub(name string) *Command {
	for _, sub := range c.Commands {
		if sub.Name == name {
			return sub
		}
	}
	return nil
}

// Walk calls do for c and all commands below it. path names c: it is the first path of the calls of do.
func (c *Command) Walk(path []string, do func(path []string, c *Command)) {
	do(path, c)
	for _, sub := range c.Commands {
		sub.Walk(append(slices.Clone(path), sub.Name), do)
	}
}

// An Example is a correct command line with a description.
type Example struct {
	Says    string `json:"says"`
	Command string `json:"command"`
}

// Value returns the value of the command's flag of this name, or nil.
func (l *CommandLine) Value(name string) any {
	if f := l.Lookup(name); f != nil {
		return f.Get()
	}
	return nil
}
