package validate

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/format/report"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
	"rpcx/wire/validate/probes"
	"rpcx/wire/validate/rules"
)

// list prints the rules of the named dialects, or of all: as lines of JSON, on
// a terminal in words.
func (o *validateOptions) list(run *env.Env, dialects []string) error {
	if name := o.client.Conn.Dialect; name != "" {
		dialects = append(dialects, name)
	}
	if len(dialects) == 0 {
		dialects = rules.Dialects()
	}
	for _, name := range dialects {
		set, err := rules.For(name)
		if err != nil {
			return err
		}
		for _, r := range set.Rules {
			if err := cmdline.Print(os.Stdout, ruleLine(run, name, r, false)+"\n"); err != nil {
				return err
			}
		}
		asked, err := probes.For(name)
		if err != nil {
			return err
		}
		for _, p := range asked.Probes {
			r := rules.Rule{Name: p.Name, Level: p.Level, Section: p.Section, Sentence: p.Sentence, Page: p.Page}
			if err := cmdline.Print(os.Stdout, ruleLine(run, name, r, true)+"\n"); err != nil {
				return err
			}
		}
	}
	return nil
}

// ruleLine returns a rule as --rules prints it. probe says that the peer is
// asked about it.
func ruleLine(run *env.Env, dialect string, r rules.Rule, probe bool) string {
	if run.Stdout.Terminal {
		return fmt.Sprintf("%-10s %-6s %-24s %s (%s, %s)", dialect, r.Level, r.Name, r.Sentence, r.Page, r.Section)
	}
	var l scan.Object
	l.Text("dialect", dialect)
	l.Text("rule", r.Name)
	l.Text("level", string(r.Level))
	l.Text("section", sectionOf(r.Page, r.Section))
	l.Text("sentence", r.Sentence)
	if probe {
		l.Bool("probe", true)
	}
	return string(l.End())
}

// sectionOf returns the words for a section of a page.
func sectionOf(page, section string) string {
	if page == "" {
		return section
	}
	return page + ": " + section
}

// knownRules returns an error for a name that is a rule of none of the
// dialects.
func knownRules(names, dialects []string) error {
	var all []string
	for _, d := range dialects {
		set, err := rules.For(d)
		if err != nil {
			return err
		}
		for _, r := range set.Rules {
			all = append(all, r.Name)
		}
	}
	for _, name := range names {
		if slices.Contains(all, name) {
			continue
		}
		f := wire.Usagef("--disable: there is no rule %q of %s", name, strings.Join(dialects, ", "))
		if near := catalog.Nearest(name, all); near != "" {
			f.Hint = "did you mean " + near + "?"
		}
		return f
	}
	return nil
}

// ofRule returns the violation of a rule as a finding, without the place of the
// message.
func ofRule(source string, f rules.Finding, warning bool) finding {
	found := finding{
		source: source, rule: f.Rule.Name, level: string(f.Rule.Level), section: sectionOf(f.Rule.Page, f.Section),
		pointer: f.Pointer, whole: true, message: f.Rule.Sentence, got: f.Got, warning: warning,
	}
	if f.Want != f.Rule.Sentence {
		found.expected = f.Want
	}
	return found
}

// ruleCases are the cases of a report about a tape: one for each rule of its
// dialect.
type ruleCases struct {
	set      *rules.Set
	strict   bool
	cases    map[string]*report.Case
	count    map[string]int // findings, by rule
	failures int
	warnings int
}

func newRuleCases(set *rules.Set, strict bool) *ruleCases {
	c := &ruleCases{set: set, strict: strict, cases: map[string]*report.Case{}, count: map[string]int{}}
	for _, r := range set.Rules {
		c.cases[r.Name] = &report.Case{Name: r.Name, Class: set.Dialect}
	}
	return c
}

// warns reports whether violations of a rule are only warnings.
func (c *ruleCases) warns(r *rules.Rule) bool { return r.Level == rules.Should && !c.strict }

// add counts a finding and keeps it for the report, up to a limit.
func (c *ruleCases) add(r *rules.Rule, f finding) {
	if f.warning {
		c.warnings++
	} else {
		c.failures++
	}
	one := c.cases[r.Name]
	if c.count[r.Name]++; c.count[r.Name] <= maxOfRule {
		f.into(one, !f.warning)
	}
}

// tell adds the cases to the report; disabled rules are skipped ones.
func (c *ruleCases) tell(r *outcome, disabled []string) {
	for _, rule := range c.set.Rules {
		one := c.cases[rule.Name]
		if slices.Contains(disabled, rule.Name) {
			one.Skipped = "--disable"
		}
		if more := c.count[rule.Name] - maxOfRule; more > 0 {
			one.Stdout += fmt.Sprintf("and %d more\n", more)
		}
		r.add(*one)
	}
}
