package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"rpcx/commands/cmdline"
	"rpcx/commands/help"
)

// page is a manual page that is being written.
type page struct {
	bytes.Buffer
	fresh bool // the latest line is a heading
}

// line writes lines of roff unchanged.
func (p *page) line(format string, args ...any) {
	fmt.Fprintf(p, format+"\n", args...)
	p.fresh = strings.HasPrefix(format, ".S") && !strings.Contains(format, "\n")
}

// textWidth is the maximum length of a line of text in the sources of the manual, in bytes. Characters outside ASCII become roff
// escape sequences.
const textWidth = 100

func roffLen(s string) int {
	n := 0
	for _, r := range s {
		if n++; r > unicode.MaxASCII {
			n += len(`\[u0000]`) - 1
		}
	}
	return n
}

// text writes escaped text, which roff can wrap at every blank.
func (p *page) text(s string) {
	line := ""
	for _, word := range strings.Fields(s) {
		switch {
		case line == "":
			line = word
			continue
		case roffLen(line)+1+roffLen(word) <= textWidth:
			line += " " + word
			continue
		}
		p.line("%s", line)
		if line = word; strings.HasPrefix(word, ".") {
			line = `\&` + word
		}
	}
	if line != "" {
		p.line("%s", line)
	}
}

// paragraph starts a paragraph, except directly after a heading.
func (p *page) paragraph() {
	if !p.fresh {
		p.line(".PP")
	}
}

// literal escapes text so that roff prints it unchanged.
func literal(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(s)
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	return s
}

// inline escapes text, and sets the parts in backquotes in bold.
func inline(s string) string {
	var b strings.Builder
	for i, part := range strings.Split(s, "`") {
		if i%2 == 1 {
			b.WriteString(`\fB` + literal(part) + `\fR`)
		} else {
			b.WriteString(literal(part))
		}
	}
	return b.String()
}

// prose writes text in the form that help.Parts describes.
func (p *page) prose(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	for _, part := range help.Parts(text) {
		switch part.Kind {
		case help.Heading:
			p.line(".SH %s", literal(part.Text))
		case help.Paragraph:
			p.paragraph()
			p.text(inline(part.Text))
		case help.Verbatim:
			p.verbatim(part.Lines)
		case help.Entry:
			p.item(`\fB` + literal(part.Term) + `\fR`)
			if part.Text != "" {
				p.text(inline(part.Text))
			}
		}
	}
}

// item starts an entry in a list.
func (p *page) item(tag string) {
	p.line(`.IP "%s"`, strings.ReplaceAll(tag, `"`, `\(dq`))
}

func (p *page) verbatim(lines []string) {
	p.line(".IP\n.EX")
	for _, l := range lines {
		p.line("%s", literal(l))
	}
	p.line(".EE")
}

// manual returns man/rpcx.1: the overview, the common parts of all commands, and the examples that are not in README.
func manual(root *cmdline.Command, statuses []cmdline.Status, examples []example, inReadme map[string]bool) []byte {
	p := newPage("rpcx", "1", root.Usage)
	p.line(".SH SYNOPSIS\n.B rpcx\n.I COMMAND ENDPOINT\n.RI [ ARGS ...]")
	p.line(".SH DESCRIPTION")
	p.prose(root.Description)
	p.line(".SH COMMANDS")
	for _, d := range root.Commands {
		p.line(".TP\n.BR rpcx\\-%s (1)", literal(d.Name))
		p.text(inline(upper(d.Usage)) + ".")
	}
	p.line(".SH OPTIONS")
	p.prose(optionsIntro)
	for _, f := range root.Commands[0].Flags {
		if f.Group == cmdline.GroupCommon {
			p.flag(f)
		}
	}
	p.line(".SH TOPICS")
	p.text(inline("`rpcx help TOPIC` also prints them."))
	for _, t := range help.Topics() {
		p.line(".TP\n.BR %s (%s)", literal(t.Page()), t.Section)
		p.text(inline(upper(t.Says)) + ".")
	}
	p.line(".SH EXIT STATUS")
	for _, s := range statuses {
		p.item(fmt.Sprintf(`\fB%d\fR %s`, s.Code, literal(string(s.Kind))))
		p.text(literal(s.Meaning))
	}
	p.line(".SH LIMITS")
	p.text(inline("Bounds on the time and memory that a peer can make rpcx use, and what happens beyond them. `--timeout` and signals end everything within a second."))
	for _, l := range cmdline.Limits() {
		bound := literal(l.Bound)
		if l.Flag != "" {
			bound += " (\\fB" + literal("--"+l.Flag) + "\\fR)"
		}
		p.item(literal(l.What))
		p.text(bound + "; then: " + literal(l.Then))
	}
	p.shown(slices.DeleteFunc(slices.Clone(examples), func(e example) bool { return inReadme[e.title] }), "")
	p.line(".SH SEE ALSO\n.BR jq (1),\n.BR curl (1),\nhttps://www.jsonrpc.org/specification")
	return p.Bytes()
}

// optionsIntro describes how flags and their values are written.
const optionsIntro = "Each command's page has its flags. You can write them anywhere before `--`, as `--flag VALUE` or `--flag=VALUE`. EXPR is a jq program. " +
	"DURATION is `500ms`, `10s`, `2m` or a number of seconds; SIZE is `1000`, `64K`, `64M` or `1G`. PATTERN is a method's " +
	"name, which may contain `*`. A value in parentheses, such as (10s), is the default. A flag that does not apply to the command and " +
	"the endpoint is a usage error; `rpcx COMMAND ENDPOINT --help` lists those that apply. All commands have these:"

// flag writes one option.
func (p *page) flag(f *cmdline.Flag) {
	var names []string
	for _, n := range f.Names() {
		names = append(names, `\fB`+literal(dashed(n))+`\fR`)
	}
	slices.Reverse(names)
	form := strings.Join(names, ", ")
	if f.Arg != "" {
		form += ` \fI` + literal(f.Arg) + `\fR`
	}
	p.item(form)
	text := inline(upper(strings.TrimSuffix(f.Usage, "."))) + "."
	if f.Repeated {
		text += " Repeatable."
	}
	if f.Needs != "" {
		text += " Requires " + literal(f.Needs) + "."
	}
	if f.With != "" {
		text += " Requires " + literal(f.With) + "."
	}
	p.text(text)
}

// upper capitalises the first letter of a phrase, except in the names of rpcx and of files.
func upper(s string) string {
	if first, _, _ := strings.Cut(s, " "); first == "" || first == "rpcx" || strings.Contains(first, ".") {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// dashed returns the name of a flag with its dashes.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}
