package main

import (
	"fmt"
	"slices"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
	"rpcx/wire/serve"
)

// What stands in an endpoint before and as its transport. Completion offers
// these; what an endpoint may be is decided by wire/transport.

// prefixes are what may stand before a transport.
func prefixes() (words []string) {
	for _, name := range endpoint.Prefixes() {
		words = append(words, name+"+")
	}
	return words
}

// transports are their beginnings, and the demos.
func transports() []string {
	words := []string{
		"ws://", "wss://", "http://", "https://", "tcp://", "tls://",
		"unix:", "ws+unix:", "http+unix:", "exec:", "ipc:", "stdio:",
	}
	for _, name := range serve.DemoNames() {
		words = append(words, "demo:"+name)
	}
	return words
}

// kind is what completion offers for a flag's value.
type kind int

const (
	anything kind = iota // nothing is offered
	files
	dirs
	words
	none // the flag takes no value
)

// value is how a flag's value is completed.
type value struct {
	kind  kind
	words []string
}

// values holds, for each flag that takes a value, by its name with dashes, how
// the value is completed.
type values map[string]value

// newValues reads the values of all flags below root. A flag's name means the
// same in every command, which is checked, so that a completion need not know
// which command it is in. Where it is a choice of words, as --format is, a command
// may have words of its own: such a completion then offers all of them.
func newValues(root cmdline.Doc) (values, error) {
	vals, seen := values{}, map[string]value{}
	var err error
	walk(root, nil, func(_ []string, d cmdline.Doc) {
		for _, f := range d.Flags {
			v := value{kind: none}
			if f.Arg != "" {
				v = valueOf(f.Arg)
			}
			for _, name := range f.Names {
				was, ok := seen[name]
				if ok && was.kind != v.kind {
					err = fmt.Errorf("the flag %s takes different values in different commands", dashed(name))
				}
				v := value{v.kind, union(was.words, v.words)}
				seen[name] = v
				if f.Arg != "" {
					vals[dashed(name)] = v
				}
			}
		}
	})
	return vals, err
}

// union is a and what b has beyond it.
func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, word := range b {
		if !slices.Contains(all, word) {
			all = append(all, word)
		}
	}
	return all
}

// valueOf reads what a flag's help shows for its value.
func valueOf(arg string) value {
	switch {
	case arg == "DIALECT":
		return value{words, all.Names()}
	case arg == "DIR":
		return value{kind: dirs}
	case strings.Contains(arg, "FILE"):
		return value{kind: files}
	case strings.Contains(arg, "|") && arg == strings.ToLower(arg):
		return value{words, strings.Split(arg, "|")}
	}
	return value{}
}

// dashed is a flag's name as it is typed.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// walk calls do for d and everything below it, with the words of its path
// after the program's own name.
func walk(d cmdline.Doc, path []string, do func(path []string, d cmdline.Doc)) {
	do(path, d)
	for _, sub := range d.Commands {
		walk(sub, append(slices.Clone(path), sub.Name), do)
	}
}

// flagsOf are all flags of a command as they are typed, with those that the
// program answers itself.
func flagsOf(path []string, d cmdline.Doc) []cmdline.FlagDoc {
	all := append(slices.Clone(d.Flags), cmdline.FlagDoc{Names: []string{"help", "h"}, Usage: "show help"})
	if len(path) == 0 {
		all = append(all, cmdline.FlagDoc{Names: []string{"version"}, Usage: "show the version"})
	}
	return all
}

// takesEndpoint says whether a command's first argument is an endpoint.
func takesEndpoint(d cmdline.Doc) bool {
	return strings.HasPrefix(d.Args, "ENDPOINT") || strings.HasPrefix(d.Args, "LISTEN")
}

// quoted is s as one word for a shell.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
