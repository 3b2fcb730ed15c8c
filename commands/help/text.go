package help

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/format"
	"rpcx/wire"
)

// Text returns the help of the command name: one screen if brief is set, otherwise all. The manual has the same text. more
// lists flags that do not apply to the endpoint.
func Text(name string, d *cmdline.Command, more []*cmdline.Flag, brief bool) string {
	switch {
	case brief:
		return screen(name, d)
	case name == "rpcx":
		return start(d)
	}
	var b strings.Builder
	row(&b, "", name+": "+d.Usage, 0)
	all := examplesOf(d)
	first := min(examplesFirst, len(all))
	examples(&b, all[:first])
	b.WriteString("\n")
	row(&b, "usage:", synopsis(name, d), 7)
	if d.Description != "" {
		b.WriteString("\n" + Prose(d.Description))
	}
	if len(d.Commands) > 0 {
		b.WriteString("\nCommands\n")
		subcommands(&b, d)
	}
	allFlags(&b, slices.DeleteFunc(slices.Clone(d.Flags), isCommon))
	if len(all) > first && len(d.Commands) == 0 {
		b.WriteString("\nMore examples\n")
		examples(&b, all[first:])
	}
	b.WriteString("\n")
	if slices.ContainsFunc(d.Flags, isCommon) { // rpcx(1) lists these flags
		row(&b, "", "In every command, -v traces messages (-vv: also bytes), --errors json prints JSON on stderr, and --color auto|always|never colors the output.", 0)
	}
	furtherFlags(&b, name, d.Flags, more)
	references(&b, name, d)
	return b.String()
}

// examplesFirst is the number of examples before the synopsis.
const examplesFirst = 2

// start returns the help of rpcx: what to try first, and the commands.
func start(d *cmdline.Command) string {
	var b strings.Builder
	row(&b, "", "rpcx: "+d.Usage, 0)
	b.WriteString("\nTry first\n")
	examples(&b, d.Examples[:examplesFirst])
	b.WriteString("\n")
	row(&b, "usage:", synopsis("rpcx", d), 7)
	b.WriteString("\n")
	subcommands(&b, d)
	b.WriteString("\n")
	row(&b, "", "An ENDPOINT is, for example, ws://host/, http://host/, tcp://host:port, exec:COMMAND or demo:NAME (rpcx help endpoints).", 0)
	row(&b, "", "rpcx COMMAND -h prints one screen of help, and --help prints all of it; rpcx help lists the topics.", 0)
	return b.String()
}

// isCommon reports whether all commands have the flag.
func isCommon(f *cmdline.Flag) bool { return f.Group == cmdline.GroupCommon }

// has reports whether flags contains one of the flags in with, which has the form "--a or --b".
func has(flags []*cmdline.Flag, with string) bool {
	return slices.ContainsFunc(flags, func(f *cmdline.Flag) bool {
		return slices.Contains(strings.FieldsFunc(with, func(r rune) bool { return r == ' ' || r == ',' }), "--"+f.Name)
	})
}

// furtherFlags names the flags that require another endpoint or another flag.
func furtherFlags(b *strings.Builder, name string, shown, more []*cmdline.Flag) {
	var with []string
	beside := map[string][]string{}
	others := false
	for _, f := range more {
		if !has(shown, f.With) {
			others = true
			continue
		}
		if beside[f.With] == nil {
			with = append(with, f.With)
		}
		beside[f.With] = append(beside[f.With], "--"+f.Name)
	}
	if parts := wire.Map(with, func(w string) string { return "with " + w + ": " + strings.Join(beside[w], ", ") }); parts != nil {
		row(b, "", "More flags "+strings.Join(parts, "; "), 0)
	}
	if others {
		row(b, "", name+" ENDPOINT --help also shows the flags of that transport and dialect; the manual, "+strings.ReplaceAll(name, " ", "-")+"(1), lists all flags.", 0)
	}
}

// synopsis returns the command with its placeholders.
func synopsis(name string, d *cmdline.Command) string {
	args, command := d.Args, ""
	switch {
	case len(d.Commands) > 0 && d.Args == "":
		args = "COMMAND ENDPOINT [ARGS...]"
	case len(d.Flags) > 0:
		args = " " + args
		if i := strings.Index(args, " [-- "); i >= 0 { // flags after it would belong to COMMAND
			args, command = args[:i], args[i:]
		}
		args = strings.TrimPrefix(args+" [flags]", " ")
	}
	return name + " " + args + command
}

func subcommands(b *strings.Builder, d *cmdline.Command) {
	for _, c := range d.Commands {
		row(b, "  "+c.Name, c.Usage, 14)
	}
}

// allFlags writes the flags below their headings, in the order of the headings' first flags.
func allFlags(b *strings.Builder, flags []*cmdline.Flag) {
	var groups []string
	for _, f := range flags {
		if !slices.Contains(groups, f.Group) {
			groups = append(groups, f.Group)
		}
	}
	for _, g := range groups {
		b.WriteString("\n" + cmp.Or(g, "Flags") + "\n")
		for _, f := range flags {
			if f.Group == g {
				row(b, "  "+flagForm(f), f.Usage, 28)
			}
		}
	}
}

// flagForm returns a flag in the form "-q, --jq EXPR".
func flagForm(f *cmdline.Flag) string {
	form := "    --" + f.Name
	if f.Short != "" {
		form = "-" + f.Short + ", --" + f.Name
	}
	if f.Arg != "" {
		form += " " + f.Arg
	}
	return form
}

// examplesOf returns the examples of a command, or the first ones of its subcommands.
func examplesOf(d *cmdline.Command) []cmdline.Example {
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
	for _, e := range examples {
		b.WriteString("  # " + e.Says + "\n")
		for line := range strings.SplitSeq(e.Command, "\n") {
			for _, l := range format.Fold(line, Width-2) {
				b.WriteString("  " + l + "\n")
			}
		}
	}
}

// references writes references to other help.
func references(b *strings.Builder, name string, d *cmdline.Command) {
	if len(d.Commands) > 0 {
		row(b, "", name+" COMMAND --help has more.", 0)
		return
	}
	see := []string{"params", "endpoints", "output", "statuses"}
	if slices.ContainsFunc(d.Flags, func(f *cmdline.Flag) bool { return f.Group == cmdline.GroupHooks }) {
		see = append(see, "hooks")
	}
	row(b, "", "See also rpcx help TOPIC: "+strings.Join(see, ", ")+".", 0)
}

// statuses returns the topic statuses, the table of exit statuses.
func statuses() string {
	var b strings.Builder
	for _, s := range cmdline.ExitStatuses() {
		row(&b, "  "+strconv.Itoa(s.Code), string(s.Kind)+": "+s.Meaning, 7)
	}
	return b.String()
}

// limits returns the topic limits, which bound a peer's use of resources.
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
