package main

import (
	"bytes"
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/wire/dialect/all"
	"rpcx/wire/framing"
	"rpcx/wire/serve"
)

// topics holds the parts of the manual that are not in the command tree, one
// file a section, in the order of their names: "1-endpoints.txt".
//
//go:embed topics/*.txt
var topics embed.FS

// page is a manual page in the making.
type page struct {
	bytes.Buffer
	fresh bool // a heading has just been written
}

// line writes lines of roff as they stand.
func (p *page) line(format string, args ...any) {
	fmt.Fprintf(p, format+"\n", args...)
	p.fresh = strings.HasPrefix(format, ".S") && !strings.Contains(format, "\n")
}

// paragraph begins one, which a heading has done already.
func (p *page) paragraph() {
	if !p.fresh {
		p.line(".PP")
	}
}

// literal escapes text so that roff prints it as it is.
func literal(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(s)
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	return s
}

// inline escapes a text in which what stands in backquotes is set in bold.
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

// prose writes paragraphs that are parted by blank lines. A paragraph whose
// lines are all indented stands as it is, and "* TERM -- text" is an entry of a
// list.
func (p *page) prose(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	for para := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		lines := strings.Split(strings.Trim(para, "\n"), "\n")
		switch {
		case !slices.ContainsFunc(lines, func(l string) bool { return !strings.HasPrefix(l, "  ") }):
			p.verbatim(lines)
		case strings.HasPrefix(lines[0], "* "):
			p.entries(lines)
		default:
			p.paragraph()
			for _, l := range lines {
				p.line("%s", inline(l))
			}
		}
	}
}

func (p *page) verbatim(lines []string) {
	p.paragraph()
	p.line(".RS 4\n.nf")
	for _, l := range lines {
		p.line("%s", literal(strings.TrimPrefix(l, "  ")))
	}
	p.line(".fi\n.RE")
}

func (p *page) entries(lines []string) {
	for _, l := range lines {
		item, ok := strings.CutPrefix(l, "* ")
		if !ok {
			p.line("%s", inline(strings.TrimSpace(l)))
			continue
		}
		term, rest, _ := strings.Cut(item, " -- ")
		p.line(".TP\n\\fB%s\\fR", literal(term))
		if rest != "" {
			p.line("%s", inline(rest))
		}
	}
}

// manual is man/rpcx.1.
func manual(root cmdline.Doc, statuses []cmdline.StatusDoc, examples []example) ([]byte, error) {
	p := &page{}
	p.line(".\\\" Made by scripts/gen; do not edit.")
	p.line(`.TH RPCX 1 "" "rpcx" "User Commands"`)
	p.line(".SH NAME\nrpcx \\- %s", literal(root.Usage))
	p.line(".SH SYNOPSIS\n.B rpcx\n.I COMMAND ENDPOINT\n.RI [ ARGS ...]")
	p.line(".SH DESCRIPTION")
	p.prose(root.Description)
	p.line(".SH COMMANDS")
	walk(root, nil, func(path []string, d cmdline.Doc) {
		if len(d.Commands) == 0 {
			p.command(path, d)
		}
	})
	p.options(root)
	if err := p.topics(); err != nil {
		return nil, err
	}
	p.line(".SH EXIT STATUS")
	for _, s := range statuses {
		p.line(".TP\n\\fB%d\\fR %s\n%s", s.Code, literal(s.Name), literal(s.Meaning))
	}
	p.line(".SH LIMITS\n%s", inline("What the peer could draw out, what bounds it, and what happens then. `--timeout` and signals end all of it."))
	for _, l := range cmdline.Limits() {
		bound := literal(l.Bound)
		if l.Flag != "" {
			bound += " (\\fB" + literal("--"+l.Flag) + "\\fR)"
		}
		p.line(".TP\n%s\n%s; then: %s", literal(l.What), bound, literal(l.Then))
	}
	p.line(".SH EXAMPLES")
	walk(root, nil, func(path []string, d cmdline.Doc) {
		if len(path) == 0 {
			return // the commands have them too
		}
		for _, e := range d.Examples {
			p.paragraph()
			p.line("%s:", inline(e.Says))
			p.verbatim([]string{"  $ " + e.Command})
		}
	})
	for _, e := range examples {
		p.paragraph()
		p.line("%s:", inline(e.title))
		p.verbatim(strings.Split("  "+strings.ReplaceAll(e.text, "\n", "\n  "), "\n"))
	}
	p.line(".SH SEE ALSO\n.BR jq (1),\n.BR curl (1),\nhttps://www.jsonrpc.org/specification")
	return p.Bytes(), nil
}

// command writes what belongs to one command alone.
func (p *page) command(path []string, d cmdline.Doc) {
	p.line(".SS rpcx %s %s", literal(strings.Join(path, " ")), literal(d.Args))
	p.line("%s.", inline(upper(d.Usage)))
	p.prose(d.Description)
	var groups []string
	for _, f := range d.Flags {
		if f.Group == "" {
			p.flag(f, "")
		} else if !slices.Contains(groups, f.Group) {
			groups = append(groups, f.Group)
		}
	}
	if len(groups) > 0 {
		p.line(".PP\nAnd the options below: %s.", literal(strings.Join(groups, ", ")))
	}
}

// optionsIntro says what the values of flags look like.
const optionsIntro = "Flags may stand anywhere before `--`, as `--flag VALUE` or `--flag=VALUE`. EXPR is a jq program. " +
	"DURATION is `500ms`, `10s`, `2m` or a number of seconds; SIZE is `1000`, `64K`, `64M` or `1G`. PATTERN is a method's " +
	"name, or one with `*`. A number or a time in parentheses is the default."

// options writes the flags that commands share, each once, with the commands
// that have it where not all that have the group do.
func (p *page) options(root cmdline.Doc) {
	type entry struct {
		flag cmdline.FlagDoc
		of   []string
	}
	var order []string
	groups := map[string][]entry{}
	having := map[string][]string{}
	walk(root, nil, func(path []string, d cmdline.Doc) {
		name := strings.Join(path, " ")
		for _, f := range d.Flags {
			if f.Group == "" {
				continue
			}
			if groups[f.Group] == nil {
				order = append(order, f.Group)
			}
			if !slices.Contains(having[f.Group], name) {
				having[f.Group] = append(having[f.Group], name)
			}
			i := slices.IndexFunc(groups[f.Group], func(e entry) bool {
				return e.flag.Names[0] == f.Names[0] && e.flag.Usage == f.Usage
			})
			if i < 0 {
				i = len(groups[f.Group])
				groups[f.Group] = append(groups[f.Group], entry{flag: f})
			}
			groups[f.Group][i].of = append(groups[f.Group][i].of, name)
		}
	})
	p.line(".SH OPTIONS")
	p.prose(optionsIntro)
	for _, g := range order {
		p.line(".SS %s", literal(g))
		for _, e := range groups[g] {
			only := ""
			if len(e.of) < len(having[g]) {
				only = strings.Join(e.of, ", ")
			}
			p.flag(e.flag, only)
		}
	}
}

// flag writes one option; only names the commands that have it.
func (p *page) flag(f cmdline.FlagDoc, only string) {
	var names []string
	for _, n := range f.Names {
		names = append(names, `\fB`+literal(dashed(n))+`\fR`)
	}
	slices.Reverse(names)
	form := strings.Join(names, ", ")
	if f.Arg != "" {
		form += ` \fI` + literal(f.Arg) + `\fR`
	}
	p.line(".TP\n%s\n%s.", form, inline(upper(strings.TrimSuffix(f.Usage, "."))))
	switch {
	case f.Repeated && only != "":
		p.line("May be given more than once. (%s)", literal(only))
	case f.Repeated:
		p.line("May be given more than once.")
	case only != "":
		p.line("(%s)", literal(only))
	}
	for i, v := range f.Env {
		p.line("%s", map[bool]string{true: "Environment: ", false: ", "}[i == 0]+literal(v))
	}
}

// lists are the words of a topic that stand for a table of the program.
var lists = strings.NewReplacer(
	"{{dialects}}", "`"+strings.Join(all.Names(), "`, `")+"`",
	"{{framings}}", "`"+strings.Join(framing.Names(), "`, `")+"`",
	"{{demos}}", strings.Join(serve.DemoNames(), ", "),
)

// topics writes the sections whose text is kept beside the generator.
func (p *page) topics() error {
	entries, err := topics.ReadDir("topics")
	if err != nil {
		return err
	}
	for _, e := range entries {
		text, err := topics.ReadFile("topics/" + e.Name())
		if err != nil {
			return err
		}
		_, title, _ := strings.Cut(strings.TrimSuffix(e.Name(), ".txt"), "-")
		if _, err := strconv.Atoi(e.Name()[:1]); err != nil {
			return fmt.Errorf("topics/%s: its name has to begin with its place", e.Name())
		}
		p.line(".SH %s", strings.ToUpper(strings.ReplaceAll(title, "-", " ")))
		p.prose(lists.Replace(string(text)))
	}
	return nil
}

// upper makes a phrase begin like a sentence.
func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
