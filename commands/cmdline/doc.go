package cmdline

import (
	"slices"
	"strings"

	"rpcx/wire"

	"github.com/urfave/cli/v3"
)

// A Doc describes one command and its subcommands as data for help and completion, and for scripts/gen, which generates
// the manual, the completion scripts and parts of README.
type Doc struct {
	Name        string
	Aliases     []string
	Usage       string
	Args        string // the placeholders of the arguments: "ENDPOINT METHOD [PARAMS...]"
	Description string // paragraphs between blank lines; indented lines are verbatim
	Flags       []FlagDoc
	Commands    []Doc
	Examples    []Example
}

// A FlagDoc describes one flag.
type FlagDoc struct {
	Names    []string // without dashes, long name first
	Arg      string   // the placeholder of its value: "FILE", "N", "auto|always|never", or "" without a value
	Usage    string   // the help text without backquotes around Arg, and without a leading Arg and colon
	Group    string   // its heading in help, or ""
	Env      []string // environment variables that set the flag
	Default  string
	Repeated bool

	Needs    string   // the requirement on the endpoint, or ""
	With     string   // the flags, one of which is required, as "--a or --b"; or ""
	Dialects []string // the dialects that have the flag, or nil for all
}

// Choices returns the valid values, or nil if any value is valid.
func (f FlagDoc) Choices() []string {
	if !strings.Contains(f.Arg, "|") || f.Arg != strings.ToLower(f.Arg) {
		return nil
	}
	return strings.Split(f.Arg, "|")
}

// An Example is a correct command line with a description.
type Example struct {
	Says    string
	Command string
}

// A StatusDoc is one row of the table of exit statuses.
type StatusDoc struct {
	Code    int
	Name    string
	Meaning string
}

// ExamplesKey is the key of a Command's Metadata for its []Example.
const ExamplesKey = "examples"

// DocOf describes cmd with its subcommands and flags. A flag's Arg is the backquoted word in its usage. Completion
// offers lower-case words between "|" as choices, and file names for FILE and DIR.
func DocOf(cmd *cli.Command) Doc {
	d := Doc{
		Name:        cmd.Name,
		Aliases:     cmd.Aliases,
		Usage:       cmd.Usage,
		Args:        cmd.ArgsUsage,
		Description: strings.TrimSpace(cmd.Description),
	}
	d.Examples, _ = cmd.Metadata[ExamplesKey].([]Example)
	d.Flags = wire.Map(cmd.Flags, flagDoc)
	d.Commands = wire.Map(cmd.Commands, DocOf)
	return d
}

func flagDoc(f cli.Flag) FlagDoc {
	d := FlagDoc{Names: LongFirst(f.Names())}
	if c, ok := f.(cli.CategorizableFlag); ok {
		d.Group = c.GetCategory()
	}
	if m, ok := f.(cli.DocGenerationMultiValueFlag); ok {
		d.Repeated = m.IsMultiValueFlag()
	}
	g := f.(cli.DocGenerationFlag)
	arg, usage := unquote(g.GetUsage())
	d.Usage, d.Env = usage, g.GetEnvVars()
	if _, alone := loneValue(f); alone || !g.TakesValue() {
		return d
	}
	d.Arg, d.Default = arg, g.GetDefaultText()
	return d
}

// unquote removes the backquotes in a usage text, and returns the word between the first two. It also removes a leading
// word with a colon.
func unquote(usage string) (arg, text string) {
	before, rest, ok := strings.Cut(usage, "`")
	if !ok {
		return "", usage
	}
	arg, after, ok := strings.Cut(rest, "`")
	if !ok {
		return "", usage
	}
	if own, ok := strings.CutPrefix(after, ": "); ok && before == "" {
		return arg, own
	}
	return arg, before + arg + after
}

// LongFirst returns names with one-letter names last.
func LongFirst(names []string) []string {
	out := slices.Clone(names)
	slices.SortStableFunc(out, func(a, b string) int { return min(len(b), 2) - min(len(a), 2) })
	return out
}
