package help

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"rpcx/commands/cmdline"
)

// Print prints the help of the command that the line names: one screen for -h,
// all of it for --help. It is made from the same description as the manual.
func Print(w *os.File, l *cmdline.CommandLine) error {
	return cmdline.Print(w, Text(strings.TrimSpace("rpcx "+strings.Join(l.Path, " ")), cmdline.DocOf(l.Cmd), l.Brief))
}

// Text returns the help of the command called name; brief leaves out what few
// people need.
func Text(name string, d cmdline.Doc, brief bool) string {
	var b strings.Builder
	row(&b, "", name+": "+d.Usage, 0)
	b.WriteString("\n")
	usage(&b, name, d)
	switch {
	case d.Description == "":
	case brief:
		first, _, _ := strings.Cut(d.Description, "\n\n")
		b.WriteString("\n" + Prose(firstSentences(first)))
	default:
		b.WriteString("\n" + Prose(d.Description))
	}
	subcommands(&b, d)
	if brief {
		arguments(&b, d.Args)
		flagGroup(&b, "Flags", popularFlags(d))
		examples(&b, first(examplesOf(d)))
	} else {
		allFlags(&b, d.Flags)
		examples(&b, examplesOf(d))
	}
	b.WriteString("\n" + whatElse(name, d, brief))
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

// firstSentences returns the first sentences of a paragraph: as many as fit on
// three lines, but at least one.
func firstSentences(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	end := 0
	for i := range len(text) {
		if text[i] == '.' && (i+1 == len(text) || text[i+1] == ' ') {
			if end > 0 && i > 3*Width {
				break
			}
			end = i + 1
		}
	}
	if end == 0 {
		return text
	}
	return text[:end]
}

// popular are flags in the order in which -h lists them; it shows the first
// twelve that the command has.
var popular = []string{
	"notify", "batch", "file", "count", "until", "session", "to", "output", "listen", "on", "hooks", "catalog", "schema", "against", "report",
	"update", "save", "runtime", "allow", "token", "diff", "show", "all", "jq", "raw-output", "expect", "header", "timeout", "verbose", "dialect", "method", "events", "dry-run", "json", "follow", "jobs", "record",
}

const popularCount = 12

// popularFlags returns the flags that -h shows.
func popularFlags(d cmdline.Doc) []cmdline.FlagDoc {
	var shown []cmdline.FlagDoc
	for _, name := range popular {
		for _, f := range d.Flags {
			listens := f.Group != cmdline.GroupListen || strings.Contains(d.Args, "LISTEN")
			if f.Names[0] == name && len(shown) < popularCount && listens {
				shown = append(shown, f)
			}
		}
	}
	return shown
}

// argumentDocs explain the words of a command's synopsis.
var argumentDocs = []struct{ name, says string }{
	{"ENDPOINT", "ws://host/path, http://host/, tcp://host:port, unix:PATH, exec:COMMAND, demo:orders, @SESSION ... (rpcx help endpoints)"},
	{"LISTEN", "where to listen: ws://127.0.0.1:0/, http://..., tcp://..., unix:PATH, stdio: ... (rpcx help endpoints)"},
	{"METHOD", "the peer's name of what is asked for; rpcx describe ENDPOINT lists those that it tells of"},
	{"PARAMS", "key=text, key:=json, key@=FILE, JSON values, or - for stdin (rpcx help params)"},
	{"ARGS", "each is JSON if it parses, else text; =TEXT and :=JSON force either"},
	{"CODE", "code in the peer's language; -f FILE or - in place of it"},
	{"TAPE", "a recorded conversation (rpcx help tape)"},
	{"JOB", "the id of a job, as job start prints it"},
}

// arguments writes what the words of a command's synopsis mean.
func arguments(b *strings.Builder, usage string) {
	title := "\nArguments\n"
	for _, a := range argumentDocs {
		if slices.Contains(strings.FieldsFunc(usage, func(r rune) bool { return r < 'A' || r > 'Z' }), a.name) {
			b.WriteString(title)
			row(b, "  "+a.name, a.says, 12)
			title = ""
		}
	}
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
	return first(all)
}

// first returns the examples that -h shows.
func first(all []cmdline.Example) []cmdline.Example { return all[:min(3, len(all))] }

func examples(b *strings.Builder, examples []cmdline.Example) {
	if len(examples) > 0 {
		b.WriteString("\nExamples\n")
	}
	for _, e := range examples {
		b.WriteString("  # " + e.Says + "\n")
		for line := range strings.SplitSeq(e.Command, "\n") {
			for _, l := range folded(line, Width-2) {
				b.WriteString("  " + l + "\n")
			}
		}
	}
}

// whatElse returns the references to further help.
func whatElse(name string, d cmdline.Doc, brief bool) string {
	var b strings.Builder
	switch {
	case len(d.Commands) > 0 && name == "rpcx":
		row(&b, "", "rpcx COMMAND -h is one screen about a command, --help all of it; rpcx help lists the topics, rpcx help --json is all of it for programs; rpcx --version says which rpcx this is.", 0)
	case len(d.Commands) > 0:
		row(&b, "", name+" COMMAND --help says more.", 0)
	case brief:
		row(&b, "", name+" --help has all flags; rpcx help lists topics.", 0)
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
