package help

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"rpcx/commands/cmdline"
	"rpcx/format"
)

// These limits keep the help of -h on one screen. A long synopsis leaves less room for flags.
const (
	screenLines   = 20
	flagsShown    = 12
	examplesShown = 3
)

// screen returns the help of a command on one screen: two examples, the synopsis, its arguments, and the most common
// flags, one per line.
func screen(name string, d *cmdline.Command) string {
	var b strings.Builder
	row(&b, "", name+": "+d.Usage, 0)
	all, last := examplesOf(d), name+" --help lists all flags; rpcx help lists topics."
	if len(d.Commands) > 0 {
		last = name + " COMMAND --help has more."
	}
	if name != "rpcx" {
		examples(&b, shortest(all)[:min(examplesFirst, len(all))])
	}
	b.WriteString("\n")
	if u := synopsis(name, d); len(u) <= 2*Width {
		row(&b, "usage:", synopsis(name, d), 7)
	} else {
		row(&b, "usage:", name+" ... [flags], see "+name+" --help", 7)
	}
	if len(d.Commands) == 0 {
		arguments(&b, d.Args)
	}
	subcommands(&b, d)
	const heading, end = 1, 2 // lines
	room := screenLines - heading - end - strings.Count(b.String(), "\n")
	if flags := popularFlags(d); len(flags) > 0 && room > 0 {
		b.WriteString("\n")
		for _, f := range flags[:min(room, len(flags))] {
			b.WriteString(flagLine(f) + "\n")
		}
	}
	if name != "rpcx" {
		b.WriteString("\n")
	}
	row(&b, "", last, 0)
	return b.String()
}

// popular lists flags in the order in which -h shows them. -h shows the first twelve that the command has.
var popular = []string{
	"notify", "batch", "file", "count", "until", "session", "to", "listen", "on", "hooks", "catalog", "schema", "against", "report",
	"update", "save", "runtime", "allow", "token", "diff", "show", "all", "jq", "raw-output", "expect", "header", "timeout", "verbose", "output", "dialect", "method", "events", "dry-run", "json", "follow", "jobs", "record",
}

// popularFlags returns the flags that -h shows if there is room.
func popularFlags(d *cmdline.Command) []*cmdline.Flag {
	var shown []*cmdline.Flag
	for _, name := range popular {
		for _, f := range d.Flags {
			listens := f.Group != cmdline.GroupListen || strings.Contains(d.Args, "LISTEN")
			if f.Name == name && len(shown) < flagsShown && listens {
				shown = append(shown, f)
			}
		}
	}
	return shown
}

// flagLine returns a flag and its usage, shortened to one line.
func flagLine(f *cmdline.Flag) string {
	form := fmt.Sprintf("  %-22s  ", flagForm(f))
	return form + clause(f.Usage, Width-utf8.RuneCountInString(form))
}

// clause returns the first clauses of text that fit into width columns, or the first words if no clause fits.
func clause(text string, width int) string {
	fits, words := "", ""
	depth, listed := 0, false // the depth of brackets; a list after a colon is complete or missing
	for i, r := range text + "\n" {
		if utf8.RuneCountInString(text[:i]) > width {
			break
		}
		change := brackets[r]
		switch {
		case r == '\n':
			return text
		case change > 0 && depth == 0 && i > 0 && text[i-1] == ' ':
			fits = strings.TrimSpace(text[:i])
		case depth == 0 && !listed && strings.ContainsRune(",;:", r) && strings.HasPrefix(text[i+1:], " "):
			fits, listed = text[:i], r == ':'
		case r == ' ':
			words = text[:i]
		}
		depth += change
	}
	if fits != "" {
		return fits
	}
	return words
}

// brackets contains 1 for each opening bracket, and -1 for each closing one.
var brackets = map[rune]int{'(': 1, '[': 1, '{': 1, ')': -1, ']': -1, '}': -1}

// argumentDocs explains the placeholders of a synopsis in one line each.
var argumentDocs = []struct{ name, says string }{
	{"ENDPOINT", "ws://host/, tcp://host:port, exec:COMMAND, @NAME (help endpoints)"},
	{"LISTEN", "ws://127.0.0.1:0/, tcp://..., unix:PATH, stdio: (help endpoints)"},
	{"METHOD", "the name of a method, as rpcx describe lists it"},
	{"PARAMS", "key=text, key:=json, key@=FILE, JSON, - for stdin (help params)"},
	{"ARGS", "JSON if valid, otherwise text; =TEXT is text, :=JSON is JSON"},
	{"CODE", "code in the peer's language; or -f FILE, or - for stdin"},
	{"TAPE", "a recorded conversation (help tape)"},
	{"JOB", "the id of a job, as job start prints it"},
}

// arguments writes the explanations of a synopsis's placeholders.
func arguments(b *strings.Builder, usage string) {
	usage = strings.Replace(usage, "[-- COMMAND ARGS...]", "", 1)
	for _, a := range argumentDocs {
		if slices.Contains(strings.FieldsFunc(usage, func(r rune) bool { return r < 'A' || r > 'Z' }), a.name) {
			row(b, "  "+a.name, a.says, 12)
		}
	}
}

// shortest returns the examples that -h shows. Examples of one line come first.
func shortest(all []cmdline.Example) []cmdline.Example {
	long := func(e cmdline.Example) int {
		return min(1, len(format.Fold(e.Command, Width-2))+strings.Count(e.Command, "\n")-1)
	}
	shown := slices.Clone(all)
	slices.SortStableFunc(shown, func(a, b cmdline.Example) int { return long(a) - long(b) })
	return shown[:min(examplesShown, len(shown))]
}
