package help

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/format"
)

// Print prints the help of the command that the line names: one screen for -h,
// all of it for --help. It is made from the same description as the manual.
func Print(w *os.File, l *cmdline.CommandLine) error {
	return cmdline.Print(w, Text(strings.TrimSpace("rpcx "+strings.Join(l.Path, " ")), cmdline.DocOf(l.Cmd), l.Brief))
}

// Text returns the help of the command called name; brief leaves out what few
// people need.
func Text(name string, d cmdline.Doc, brief bool) string {
	if brief {
		return screen(name, d)
	}
	var b strings.Builder
	row(&b, "", name+": "+d.Usage, 0)
	b.WriteString("\n")
	usage(&b, name, d)
	if d.Description != "" {
		b.WriteString("\n" + Prose(d.Description))
	}
	subcommands(&b, d)
	allFlags(&b, d.Flags)
	examples(&b, examplesOf(d))
	b.WriteString("\n" + whatElse(name, d))
	return b.String()
}

// usage writes the synopsis of the command.
func usage(b *strings.Builder, name string, d cmdline.Doc) {
	args, command := d.Args, ""
	switch {
	case len(d.Commands) > 0 && d.Args == "":
		args = "COMMAND ENDPOINT [ARGS...]"
	case len(d.Flags) > 0:
		if i := strings.Index(args, " [-- "); i >= 0 { // flags after it would belong to the command that follows
			args, command = args[:i], args[i:]
		}
		args += " [flags]"
	}
	row(b, "usage:", name+" "+args+command, 7)
}

func subcommands(b *strings.Builder, d cmdline.Doc) {
	if len(d.Commands) == 0 {
		return
	}
	b.WriteString("\nCommands\n")
	for _, c := range d.Commands {
		row(b, "  "+c.Name, c.Usage, 14)
	}
}

// allFlags writes the flags below their headings, in the order in which these
// first appear; the flags of all commands come last.
func allFlags(b *strings.Builder, flags []cmdline.FlagDoc) {
	var groups []string
	for _, f := range flags {
		if !slices.Contains(groups, f.Group) {
			groups = append(groups, f.Group)
		}
	}
	for _, g := range groups {
		title := g
		if g == "" {
			title = "Flags"
		}
		flagGroup(b, title, slices.DeleteFunc(slices.Clone(flags), func(f cmdline.FlagDoc) bool { return f.Group != g }))
	}
}

func flagGroup(b *strings.Builder, title string, flags []cmdline.FlagDoc) {
	if len(flags) == 0 {
		return
	}
	b.WriteString("\n" + title + "\n")
	for _, f := range flags {
		row(b, "  "+flagForm(f), f.Usage, 28)
	}
}

// flagForm returns a flag as it is typed: "-q, --jq EXPR".
func flagForm(f cmdline.FlagDoc) string {
	form := "    --" + f.Names[0]
	if len(f.Names) > 1 {
		form = "-" + f.Names[1] + ", --" + f.Names[0]
	}
	if f.Arg != "" {
		form += " " + f.Arg
	}
	return form
}

// examplesOf returns the examples of a command, or where it is one of several words the first of each that it has.
func examplesOf(d cmdline.Doc) []cmdline.Example {
	if len(d.Examples) > 0 {
		return d.Examples
	}
	var all []cmdline.Example
	for _, sub := range d.Commands {
		all = append(all, sub.Examples[:min(1, len(sub.Examples))]...)
	}
	return all[:min(examplesShown, len(all))]
}

func examples(b *strings.Builder, examples []cmdline.Example) {
	if len(examples) > 0 {
		b.WriteString("\nExamples\n")
	}
	for _, e := range examples {
		b.WriteString("  # " + e.Says + "\n")
		for line := range strings.SplitSeq(e.Command, "\n") {
			for _, l := range format.Fold(line, Width-2) {
				b.WriteString("  " + l + "\n")
			}
		}
	}
}

// whatElse returns the references to further help.
func whatElse(name string, d cmdline.Doc) string {
	var b strings.Builder
	switch {
	case len(d.Commands) > 0 && name == "rpcx":
		row(&b, "", "rpcx COMMAND -h is one screen, --help all of it; rpcx help lists topics, rpcx help --json is all for programs; rpcx --version says which rpcx this is.", 0)
	case len(d.Commands) > 0:
		row(&b, "", name+" COMMAND --help says more.", 0)
	default:
		see := []string{"params", "endpoints", "output", "statuses"}
		if slices.ContainsFunc(d.Flags, func(f cmdline.FlagDoc) bool { return f.Group == cmdline.GroupHooks }) {
			see = append(see, "hooks")
		}
		row(&b, "", "See also rpcx help TOPIC: "+strings.Join(see, ", ")+".", 0)
	}
	return b.String()
}

// statuses returns the text of the topic statuses: the table of exit statuses.
func statuses() string {
	var b strings.Builder
	for _, s := range cmdline.ExitStatuses() {
		row(&b, "  "+strconv.Itoa(s.Code), s.Name+": "+s.Meaning, 7)
	}
	return b.String()
}

// limits returns the text of the topic limits: the bounds on what a peer can
// make the program use.
func limits() string {
	var b strings.Builder
	for _, l := range cmdline.Limits() {
		bound := l.Bound
		if l.Flag != "" {
			bound += " (--" + l.Flag + ")"
		}
		row(&b, "", l.What, 0)
		row(&b, "", bound+"; then: "+l.Then, 4)
	}
	return b.String()
}
