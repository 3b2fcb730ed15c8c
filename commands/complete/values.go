package complete

import (
	"cmp"
	"os"
	"slices"
	"strconv"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/commands/help"
	"rpcx/wire"
	"rpcx/wire/cache"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
	"rpcx/wire/profile"
	"rpcx/wire/serve"
	"rpcx/wire/session"
	"rpcx/wire/session/rundir"
)

// words offers each word in list, with before in front of it.
func words(before string, list ...string) answer {
	return answer{candidates: described(list, before, "")}
}

// optionalFile follows the words of a value to which a file can be added, such as junit=FILE.
const optionalFile = "[=FILE]"

// value offers the values of a flag. before is the part of the word before the value.
func (l line) value(f *cmdline.Flag, before, word string) answer {
	switch {
	case f.Arg == "DIALECT":
		return words(before, append(all.Names(), all.OwnNames()...)...)
	case f.Arg == "DIR":
		return answer{files: before, kind: directory}
	case strings.HasSuffix(f.Arg, optionalFile):
		if format, _, ok := strings.Cut(strings.TrimPrefix(word, before), "="); ok {
			return answer{files: before + format + "=", kind: anyFile}
		}
		return words(before, strings.Split(strings.TrimSuffix(f.Arg, optionalFile), "|")...)
	case namesFile(f.Arg):
		return answer{files: before, kind: anyFile}
	case f.Choices() != nil:
		return words(before, f.Choices()...)
	case f.Name == "set":
		return l.settings(before)
	case strings.HasPrefix(f.Arg, "METHOD"):
		a := l.methods(strings.TrimPrefix(word, before))
		for i := range a.candidates {
			a.candidates[i].value = before + a.candidates[i].value
		}
		return a
	case f.Arg == "ENDPOINT", f.Arg == "E":
		return endpoints(word)
	}
	return answer{}
}

// settings offers the names for --set in the endpoint's dialect.
func (l line) settings(before string) (a answer) {
	if len(l.Args) == 0 {
		return a
	}
	e, err := session.ParseEndpoint(l.Args[0], l.Last("dialect"))
	if err != nil {
		return a
	}
	for _, s := range all.Named(e.Dialect).Params.Settings {
		op := ":="
		if s.Type == "string" || s.Type == "any" {
			op = "="
		}
		a.candidates = append(a.candidates, candidate{before + s.Name + op, s.Type + " " + s.Says})
	}
	a.open = true
	return a
}

// namesFile reports whether a placeholder means a file.
func namesFile(arg string) bool {
	return strings.Contains(arg, "FILE") || strings.Contains(arg, "TAPE") || strings.Contains(arg, "CATALOG")
}

// argument offers values for an argument of the command by its placeholder.
func (l line) argument(word string, root *cmdline.Command) answer {
	if strings.HasPrefix(l.Cmd.Args, "[COMMAND|TOPIC]") {
		a := commands(root)
		a.candidates = append(a.candidates, wire.Map(help.AllTopics(), func(t help.Topic) candidate { return candidate{t.Name, t.Says} })...)
		return a
	}
	names := strings.Fields(l.Cmd.Args)
	if len(names) == 0 {
		return answer{}
	}
	switch name := strings.Trim(names[min(len(l.Args), len(names)-1)], "[].,|"); {
	case name == "ENDPOINT", name == "LISTEN":
		return endpoints(word)
	case strings.Contains(name, "ENDPOINT"):
		a := endpoints(word)
		a.kind = anyFile
		return a
	case name == "METHOD", name == "METHOD|MODULE", name == "FUNC":
		return l.methods(word)
	case strings.HasPrefix(name, "PARAMS") && len(l.Args) > 1:
		return l.params(word)
	case name == "NAME" && len(l.Path) > 0 && l.Path[0] == "session":
		return words("", rundir.SessionNames()...)
	case name == "NAME":
		return l.methods(word)
	case namesFile(name):
		return answer{kind: anyFile}
	default:
		return words("", (&cmdline.Flag{Arg: name}).Choices()...)
	}
}

// endpoints offers sessions, profiles, demos, recent endpoints, and the beginnings of endpoints.
func endpoints(word string) answer {
	before, rest := cutPrefixes(word)
	if after, ok := strings.CutPrefix(word, endpoint.Config); ok {
		file, _, named := strings.Cut(after, "#")
		if names, err := profile.ServerNames(file); err == nil || named {
			return answer{candidates: described(names, endpoint.Config+file+"#", "a server")}
		}
		return answer{files: endpoint.Config, kind: anyFile}
	}
	for _, scheme := range []string{"unix:", "exec:", "ipc:", "tape:"} {
		if i := strings.Index(rest, scheme); i >= 0 && strings.HasPrefix(rest[i:], scheme) && (i == 0 || rest[i-1] == '+') {
			return answer{files: before + rest[:i] + scheme, kind: anyFile}
		}
	}
	a := answer{open: true}
	offer := func(value, says string) { a.candidates = append(a.candidates, candidate{before + value, says}) }
	if before == "" {
		profiles, _ := profile.Names()
		a.candidates = slices.Concat(described(rundir.SessionNames(), "@", "a session"), described(profiles, "@", "a profile"), described(cache.Recent(), "", "recently used"))
	}
	for _, name := range serve.DemoNames() {
		offer("demo:"+name, "an embedded server")
	}
	for _, t := range endpoint.Beginnings {
		offer(t, "")
	}
	for _, p := range endpoint.Prefixes() {
		offer(p+"+", "")
	}
	return a
}

// described returns candidates for names, with the same text before each.
func described(names []string, before, says string) []candidate {
	return wire.Map(names, func(name string) candidate { return candidate{before + name, says} })
}

// cutPrefixes splits an endpoint after its prefixes.
func cutPrefixes(word string) (before, rest string) {
	prefix, after, ok := strings.Cut(word, "+")
	if !ok || !slices.Contains(endpoint.Prefixes(), prefix) {
		return "", word
	}
	before, rest = cutPrefixes(after)
	return prefix + "+" + before, rest
}

// outlines returns the known methods of the peer. It sends no request.
func (l line) outlines() []cache.Outline {
	if file := l.Last("catalog"); file != "" {
		b, _ := os.ReadFile(file) // nothing is not a catalog
		return outlinesIn(b)
	}
	if len(l.Args) == 0 {
		return nil
	}
	typed := l.Args[0]
	if typed == "@" {
		typed = os.Getenv("RPCX_ENDPOINT")
	}
	if name, ok := strings.CutPrefix(typed, "demo:"); ok {
		if c := serve.Demo(cmp.Or(name, "orders")); c != nil {
			return cache.Outlines(c, cmdline.IsSafeName)
		}
	}
	if kept := cache.KeptOutlines(typed, l.Last("dialect")); kept != nil {
		return kept
	}
	return l.ask(typed)
}

// outlinesIn returns the outlines of the catalog in b, or nil if b is not a catalog.
func outlinesIn(b []byte) []cache.Outline {
	c, err := catalog.Parse(b)
	if err != nil {
		return nil
	}
	return cache.Outlines(c, cmdline.IsSafeName)
}

// manyMethods is the number of methods above which completion offers prefixes.
const manyMethods = 40

// methods offers the methods with the prefix word. If there are many, it offers their common prefixes up to the next
// separator, such as eth_ for eth_call and eth_chainId.
func (l line) methods(word string) (a answer) {
	matching := slices.DeleteFunc(l.outlines(), func(o cache.Outline) bool { return !strings.HasPrefix(o.Method, word) })
	modules := map[string]int{}
	if len(matching) > manyMethods {
		for _, o := range matching {
			modules[module(o.Method, word)]++
		}
	}
	offered := map[string]bool{}
	for _, o := range matching {
		m := module(o.Method, word)
		if m == "" || modules[m] < 2 {
			a.candidates = append(a.candidates, candidate{o.Method, o.Says})
		} else if !offered[m] {
			offered[m], a.open = true, true
			a.candidates = append(a.candidates, candidate{m, strconv.Itoa(modules[m]) + " methods"})
		}
	}
	return a
}

// module returns a method's name up to the first separator after word, or "".
func module(name, word string) string {
	if i := strings.IndexAny(name[len(word):], "._/:"); i >= 0 {
		return name[:len(word)+i+1]
	}
	return ""
}

// params offers the names of the method's params and, after a name, the values.
func (l line) params(word string) (a answer) {
	key, _, given := strings.Cut(word, "=")
	for _, o := range l.outlines() {
		if o.Method != l.Args[1] {
			continue
		}
		for _, p := range o.Params {
			if given && p.Name == strings.TrimSuffix(key, ":") {
				return words(key+"=", p.Values...)
			}
			a.candidates = append(a.candidates, candidate{value: p.Name + "="})
		}
	}
	a.open = true
	return a
}
