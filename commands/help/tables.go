package help

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/wire"
	"rpcx/wire/dialect/all"
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
			panic(err) // the rules are embedded
		}
		fmt.Fprintf(&b, "# %s\n\n", strings.ToUpper(dialect))
		if set.Base != "" {
			fmt.Fprintf(&b, "Specification: %s. The rules of %s also apply", set.Page, set.Base)
			if len(set.Except) > 0 {
				b.WriteString(", except " + wire.Phrase(set.Except, "and"))
			}
			b.WriteString(".\n\n")
		} else {
			fmt.Fprintf(&b, "Specification: %s. Rules have the level must unless marked should.\n\n", set.Page)
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

func ruleLine(name, level, section, sentence string) string {
	if level != "must" {
		section = level + "; " + section
	}
	return "* " + name + " -- " + sentence + " (" + section + ")\n"
}

func probesTable(dialect, page string) string {
	all, err := probes.For(dialect)
	if err != nil {
		panic(err) // the probes are embedded
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
	return "Probes for a live peer:\n\n" + b.String() + "\n"
}

// differencesTable lists the kinds of difference between two catalogs.
func differencesTable() string {
	return entries(versions.Kinds(), func(k versions.Kind) string {
		class := string(cmp.Or(k.Class, k.Params))
		if k.Params != k.Result {
			class = fmt.Sprintf("%s in params, %s in results", k.Params, k.Result)
		}
		return fmt.Sprintf("%s -- %s: %s", k.Name, class, k.Sentence)
	})
}

// DialectFlags returns prose about the --set values of a dialect, and about its flags that other dialects lack. It
// returns "" for other topics.
func DialectFlags(root *cmdline.Command, name string) string {
	if !slices.Contains(all.Names(), name) {
		return ""
	}
	var b strings.Builder
	settings := all.Named(name).Params.Settings
	if len(settings) > 0 {
		b.WriteString("\n# VALUES OF --set\n")
	}
	for _, s := range settings {
		says := valueOf[s.Type]
		if s.Handshake {
			says += ", used in the handshake"
		}
		switch {
		case s.Says != "" && says == valueOf["any"]:
			says = s.Says
		case s.Says != "":
			says = s.Says + " (" + says + ")"
		}
		b.WriteString("* " + s.Name + " -- " + says + "\n")
	}
	heading := "\n# FLAGS\n"
	for _, f := range flagsOf(root, name) {
		b.WriteString(heading + "* " + strings.TrimSpace(flagForm(f)) + " -- " + f.Usage + "\n")
		heading = ""
	}
	return b.String()
}

// valueOf describes a value of each type that a dialect declares for --set.
var valueOf = map[string]string{
	"any": "any value", "string": "a string", "number": "a number", "boolean": "a boolean", "object": "an object", "array": "an array",
}

// flagsOf returns the flags, except --set, that a dialect shares with at most half of the dialects.
func flagsOf(root *cmdline.Command, dialect string) (flags []*cmdline.Flag) {
	root.Walk(nil, func(_ []string, c *cmdline.Command) {
		for _, f := range c.Flags {
			listed := slices.ContainsFunc(flags, func(known *cmdline.Flag) bool { return known.Name == f.Name })
			if !listed && slices.Contains(f.Dialects, dialect) && len(f.Dialects) <= len(all.Names())/2 && f.Name != "set" {
				flags = append(flags, f)
			}
		}
	})
	return flags
}
