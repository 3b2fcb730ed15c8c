package help

import (
	"cmp"
	"fmt"
	"strings"

	"rpcx/wire/validate/probes"
	"rpcx/wire/validate/rules"
	"rpcx/wire/validate/versions"
)

// rulesTable returns the part of the topic rules that lists each dialect's rules and probes.
func rulesTable() string {
	var b strings.Builder
	for _, dialect := range rules.Dialects() {
		set, err := rules.For(dialect)
		if err != nil {
			panic(err) // the rules are embedded in the program
		}
		fmt.Fprintf(&b, "# %s\n\n", strings.ToUpper(dialect))
		if set.Base != "" {
			fmt.Fprintf(&b, "The sections are those of %s. The rules of %s apply, too", set.Page, set.Base)
			if len(set.Except) > 0 {
				b.WriteString(", except " + strings.Join(set.Except, ", "))
			}
			b.WriteString(".\n\n")
		} else {
			fmt.Fprintf(&b, "The sections are those of %s. A rule is a must unless it is marked as a should.\n\n", set.Page)
		}
		for _, r := range set.Rules {
			if r.Page == set.Page {
				b.WriteString(ruleLine(r.Name, string(r.Level), r.Section, r.Sentence))
			}
		}
		b.WriteString("\n" + probesTable(dialect, set.Page))
	}
	return strings.TrimRight(b.String(), "\n")
}

// ruleLine returns the entry of a rule.
func ruleLine(name, level, section, sentence string) string {
	if level != "must" {
		section = level + "; " + section
	}
	return "* " + name + " -- " + sentence + " (" + section + ")\n"
}

// probesTable lists the probes of a dialect.
func probesTable(dialect, page string) string {
	all, err := probes.For(dialect)
	if err != nil {
		panic(err) // the probes are embedded in the program
	}
	var b strings.Builder
	for _, p := range all.Probes {
		if p.Page == page {
			b.WriteString(ruleLine(p.Name, string(p.Level), p.Section, p.Sentence))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "Probes of a live peer:\n\n" + b.String() + "\n"
}

// differencesTable lists the kinds of difference between two catalogs.
func differencesTable() string {
	var b strings.Builder
	for _, k := range versions.Kinds() {
		class := string(cmp.Or(k.Class, k.Params))
		if k.Params != k.Result {
			class = fmt.Sprintf("%s in params, %s in results", k.Params, k.Result)
		}
		fmt.Fprintf(&b, "* %s -- %s: %s\n", k.Name, class, k.Sentence)
	}
	return strings.TrimRight(b.String(), "\n")
}
