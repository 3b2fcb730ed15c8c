package validate

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
	"rpcx/wire/validate"
	"rpcx/wire/validate/probes"
	"rpcx/wire/validate/rules"
)

// list prints the rules of the named dialects, or of all, as lines of JSON or, on a terminal, in words.
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
		asked, err := probes.For(name)
		if err != nil {
			return err
		}
		lines := wire.Map(set.Rules, func(r rules.Rule) string { return ruleLine(run, name, r, false) })
		for _, p := range asked.Probes {
			lines = append(lines, ruleLine(run, name, rules.Rule{Name: p.Name, Level: p.Level, Section: p.Section, Sentence: p.Sentence, Page: p.Page}, true))
		}
		if err := cmdline.Print(os.Stdout, strings.Join(lines, "\n")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// ruleLine returns a rule as --rules prints it. probe marks the rules of probes.
func ruleLine(run *env.Env, dialect string, r rules.Rule, probe bool) string {
	if run.Stdout.Terminal {
		return fmt.Sprintf("%-10s %-6s %-24s %s (%s, %s)", dialect, r.Level, r.Name, r.Sentence, r.Page, r.Section)
	}
	var l scan.Object
	l.Text("dialect", dialect)
	l.Text("rule", r.Name)
	l.Text("level", string(r.Level))
	l.Text("section", validate.SectionOf(r.Page, r.Section))
	l.Text("sentence", r.Sentence)
	if probe {
		l.Bool("probe", true)
	}
	return string(l.End())
}

// knownRules returns an error for a name that is not a rule of any of the dialects.
func knownRules(names, dialects []string) error {
	var all []string
	for _, d := range dialects {
		set, err := rules.For(d)
		if err != nil {
			return err
		}
		all = append(all, namesOf(set)...)
	}
	return known(names, all, func(name string) *wire.Fault {
		return wire.Usagef("--disable: there is no rule %q in %s", name, strings.Join(dialects, ", "))
	})
}

// namesOf returns the names of the rules of a set.
func namesOf(set *rules.Set) []string {
	return wire.Map(set.Rules, func(r rules.Rule) string { return r.Name })
}

// known returns fault, with the nearest name, for the first of names that is not in all.
func known(names, all []string, fault func(name string) *wire.Fault) error {
	for _, name := range names {
		if !slices.Contains(all, name) {
			return fault(name).WithHint(catalog.DidYouMean(name, all))
		}
	}
	return nil
}

// maxOfRule bounds the reported problems of a rule.
const maxOfRule = 20

// A ruleCheck checks a conversation against the rules of its dialect.
type ruleCheck struct {
	*rules.Checker
	set      *rules.Set
	disabled []string       // the names of --disable that are in the set; the others are probes, or rules of another dialect
	many     map[string]int // the number of problems of each rule
}

func newRuleCheck(run *env.Env, set *rules.Set, disable []string) (*ruleCheck, error) {
	other := func(name string) bool { return !slices.Contains(namesOf(set), name) }
	c := &ruleCheck{set: set, disabled: slices.DeleteFunc(slices.Clone(disable), other), many: map[string]int{}}
	var err error
	c.Checker, err = rules.New(set, c.disabled, func(rule, reason string) {
		run.Verbose("the rule " + rule + " cannot be applied to a message: " + reason)
	})
	return c, err
}

// counts counts a problem, and reports whether to print it: it must be among the first of its rule.
func (c *ruleCheck) counts(p *validate.Problem) bool {
	c.many[p.Rule]++
	return c.many[p.Rule] <= maxOfRule
}
