package main

import (
	"fmt"
	"slices"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/commands/help"
)

// sectionTitles has the titles of manual sections, by number.
var sectionTitles = map[string]string{"1": "User Commands", "5": "File Formats", "7": "Miscellaneous"}

// topicPages generates a manual page for each topic.
func topicPages(root *cmdline.Command, examples []example) []file {
	var files []file
	for _, t := range help.Topics() {
		p := newPage(t.Page(), t.Section, t.Says)
		if !strings.HasPrefix(t.Text, "# ") {
			p.line(".SH DESCRIPTION")
		}
		p.prose(t.Text)
		p.prose(help.DialectFlags(root, t.Name))
		p.shown(examples, t.Name)
		p.line(".SH SEE ALSO\n.BR rpcx (1)")
		files = append(files, file{"man/" + t.Page() + "." + t.Section, p.Bytes()})
	}
	return files
}

// commandPages generates a manual page for each top-level command, with its subcommands.
func commandPages(root *cmdline.Command) []file {
	var files []file
	for _, d := range root.Commands {
		p := newPage("rpcx-"+d.Name, "1", d.Usage)
		if len(d.Commands) == 0 {
			p.line(".SH SYNOPSIS\n.B rpcx %s", literal(d.Name))
			p.text(literal(d.Args))
			p.line(".SH DESCRIPTION")
			p.prose(d.Description)
			p.line(".SH OPTIONS")
			p.flagGroups(d.Flags)
		} else {
			p.line(".SH SYNOPSIS")
			for i, c := range d.Commands {
				if i > 0 {
					p.line(".PP")
				}
				p.line(".B rpcx %s", literal(d.Name+" "+c.Name))
				p.text(literal(c.Args))
			}
			p.line(".SH DESCRIPTION")
			p.prose(d.Description)
			for _, c := range d.Commands {
				p.line(".SS %s", literal(c.Name))
				p.text(inline(upper(c.Usage)) + ".")
				p.prose(c.Description)
			}
			for _, s := range flagSets(d) {
				p.line(".SH %s", literal("OPTIONS OF "+s.of))
				p.flagGroups(s.flags)
			}
		}
		p.examples(d)
		p.line(".SH SEE ALSO\n.BR rpcx (1),\n.BR rpcx\\-params (7),\n.BR rpcx\\-endpoints (7),\n.BR rpcx\\-output (7),\n.BR rpcx\\-hooks (7)")
		files = append(files, file{"man/rpcx-" + d.Name + ".1", p.Bytes()})
	}
	return files
}

// manualDate is the date on the pages.
const manualDate = "2026-11-22"

// newPage starts a manual page.
func newPage(name, section, says string) *page {
	p := &page{}
	p.line(".\\\" Made by scripts/gen; do not edit.")
	p.line(`.TH %s %s "%s" "rpcx" "%s"`, strings.ToUpper(literal(name)), section, manualDate, sectionTitles[section])
	p.line(".SH NAME")
	p.text(literal(name) + ` \- ` + literal(says))
	return p
}

// shown writes the examples of a topic. "" stands for the examples without a topic.
func (p *page) shown(examples []example, topic string) {
	heading := false
	for _, e := range examples {
		if e.topic != topic {
			continue
		}
		if !heading {
			p.line(".SH EXAMPLES")
			heading = true
		}
		p.example(e.title, strings.Split(e.text, "\n"))
	}
}

// example writes one example: its title and its lines.
func (p *page) example(says string, lines []string) {
	p.paragraph()
	p.text(inline(says) + ":")
	p.verbatim(lines)
}

// examples writes the examples of a command and its subcommands.
func (p *page) examples(d *cmdline.Command) {
	var all []cmdline.Example
	d.Walk(nil, func(_ []string, d *cmdline.Command) { all = append(all, d.Examples...) })
	if len(all) > 0 {
		p.line(".SH EXAMPLES")
	}
	for _, e := range all {
		p.example(e.Says, []string{"$ " + e.Command})
	}
}

// A flagSet is a set of flags that the same verbs of a command share.
type flagSet struct {
	of    string
	flags []*cmdline.Flag
}

// flagSets groups the flags of d's verbs by the verbs that share them, with the largest group first.
func flagSets(d *cmdline.Command) (sets []flagSet) {
	verbs := map[string][]string{} // by the flag's text in the manual
	forms := map[string]*cmdline.Flag{}
	var order []string
	for _, c := range d.Commands {
		for _, f := range c.Flags {
			form := fmt.Sprintf("%q", []any{f.Names(), f.Arg, f.Usage, f.Group, f.Needs, f.With})
			if verbs[form] == nil {
				order = append(order, form)
				forms[form] = f
			}
			verbs[form] = append(verbs[form], c.Name)
		}
	}
	for _, form := range order {
		if forms[form].Group == cmdline.GroupCommon {
			continue
		}
		of := strings.ToUpper(strings.Join(verbs[form], ", "))
		if len(verbs[form]) == len(d.Commands) {
			of = "ALL VERBS"
		}
		i := slices.IndexFunc(sets, func(s flagSet) bool { return s.of == of })
		if i < 0 {
			i, sets = len(sets), append(sets, flagSet{of: of})
		}
		sets[i].flags = append(sets[i].flags, forms[form])
	}
	slices.SortStableFunc(sets, func(a, b flagSet) int { return len(b.flags) - len(a.flags) })
	return sets
}

// flagGroups writes the options of one command below the headings of their groups.
func (p *page) flagGroups(flags []*cmdline.Flag) {
	var groups []string
	byGroup := map[string][]*cmdline.Flag{}
	for _, f := range flags {
		if f.Group == cmdline.GroupCommon { // rpcx(1) describes these flags
			continue
		}
		if byGroup[f.Group] == nil {
			groups = append(groups, f.Group)
		}
		byGroup[f.Group] = append(byGroup[f.Group], f)
	}
	for _, g := range groups {
		if g != "" {
			p.line(".SS %s", literal(g))
		}
		for _, f := range byGroup[g] {
			p.flag(f)
		}
	}
}
