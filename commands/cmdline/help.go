package cmdline

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"rpcx/format"
)

// Help prints the help of the command that the line names. It is made from the
// same description as the manual.
func Help(w *os.File, l *CommandLine) error {
	var b strings.Builder
	d := DocOf(l.Cmd)
	name := strings.TrimSpace("rpcx " + strings.Join(l.Path, " "))
	b.WriteString(name + ": " + d.Usage + "\n\n")
	if len(d.Commands) > 0 {
		b.WriteString("usage: " + name + " COMMAND ENDPOINT [ARGS...]\n")
	} else {
		args, command := d.Args, ""
		if i := strings.Index(args, " [-- "); i >= 0 { // flags behind it would be the command's
			args, command = args[:i], args[i:]
		}
		b.WriteString("usage: " + name + " " + args + " [flags]" + command + "\n")
	}
	if d.Description != "" {
		b.WriteString("\n" + d.Description + "\n")
	}
	helpCommands(&b, d)
	helpFlags(&b, d.Flags)
	if hasGroup(d.Flags, GroupHooks) {
		b.WriteString("\nHOOKS\n" + hooksHelp)
	}
	helpExamples(&b, d.Examples)
	helpStatuses(&b)
	return Print(w, b.String())
}

// hooksHelp says in a few lines how --on and --hooks answer.
const hooksHelp = `  --on NAME=ANSWER answers the peer's NAME (get*, * are patterns), ANSWER being
    ./cmd --flag   a command: params on stdin as a JSON line, the result on stdout
    text:./cmd     the same, its output being text that becomes a string
    lines:./cmd    the same, each line of output an event
    co:./cmd       one process for all calls: {"id","method","params"} lines in,
                   {"id","result"} or {"id","error"} lines out
    jq:EXPR        a jq program over the params; sleep(S), rpc(METHOD; PARAMS),
                   notify(METHOD; PARAMS), fail(CODE; TEXT; DATA) beside jq's own
    json:VALUE     a constant
    deny:TEXT      a refusal
    inbox          parked, in a session, for session next and session reply
  A command finds RPCX_METHOD, RPCX_ID, RPCX_DIALECT and RPCX_ENDPOINT in its
  environment: rpcx call @ METHOD calls back on the same connection. Status 64 or
  65 is "invalid params", 69 or 75 "retry", 77 "refused", 100 "not mine".
`

func helpCommands(b *strings.Builder, d Doc) {
	if len(d.Commands) == 0 {
		return
	}
	b.WriteString("\nCOMMANDS\n")
	for _, c := range d.Commands {
		row(b, "  "+c.Name, c.Usage, 14)
	}
	b.WriteString("\nrpcx COMMAND --help says more; rpcx --version says which rpcx it is.\n")
}

// helpFlags lists the flags below their headings, in the order in which these
// first appear.
func helpFlags(b *strings.Builder, flags []FlagDoc) {
	var groups []string
	for _, f := range flags {
		if !slices.Contains(groups, f.Group) {
			groups = append(groups, f.Group)
		}
	}
	for _, g := range groups {
		title := strings.ToUpper(g)
		if g == "" {
			title = "FLAGS"
		}
		b.WriteString("\n" + title + "\n")
		for _, f := range flags {
			if f.Group == g {
				row(b, "  "+flagForm(f), f.Usage, 30)
			}
		}
	}
}

// flagForm is a flag as it is typed: "-q, --jq EXPR".
func flagForm(f FlagDoc) string {
	form := "    --" + f.Names[0]
	if len(f.Names) > 1 {
		form = "-" + f.Names[1] + ", --" + f.Names[0]
	}
	if f.Arg != "" {
		form += " " + f.Arg
	}
	return form
}

func helpExamples(b *strings.Builder, examples []Example) {
	if len(examples) > 0 {
		b.WriteString("\nEXAMPLES\n")
	}
	for _, e := range examples {
		b.WriteString("  # " + e.Says + "\n  " + e.Command + "\n")
	}
}

func helpStatuses(b *strings.Builder) {
	b.WriteString("\nEXIT STATUS\n")
	for _, s := range ExitStatuses() {
		row(b, "  "+strconv.Itoa(s.Code), s.Meaning, 7)
	}
}

// row writes two columns; a left one that is too wide has a line of its own.
func row(b *strings.Builder, left, right string, width int) {
	const total = 88
	if len(left)+1 > width {
		b.WriteString(left + "\n")
		left = ""
	}
	b.WriteString(left + strings.Repeat(" ", width-len(left)))
	at := width
	for i, word := range strings.Fields(right) {
		if at+len(word)+1 > total && i > 0 {
			b.WriteString("\n" + strings.Repeat(" ", width))
			at = width
		} else if i > 0 {
			b.WriteString(" ")
			at++
		}
		b.WriteString(word)
		at += len(word)
	}
	b.WriteString("\n")
}

func hasGroup(flags []FlagDoc, group string) bool {
	return slices.ContainsFunc(flags, func(f FlagDoc) bool { return f.Group == group })
}

// Print writes text to w, which is stdout; a failure is a Fault of kind IO or
// PipeClosed.
func Print(w *os.File, text string) error {
	if _, err := w.WriteString(text); err != nil {
		return format.StdoutFault(err)
	}
	return nil
}
