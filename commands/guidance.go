package commands

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"rpcx/commands/params"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect/introspect"
	"rpcx/wire/scan"
)

// advice is what the peer's guidance comes to on this command line. None of it
// is ever run.
type advice struct {
	kind string
	hint string
	fix  []string
	told bool // by the failure that it belongs to
}

// newAdvice takes a guidance event of a call of method: it gets a fix. What is
// returned beside the advice is the event as it is shown: with the methods and the
// parameters that the peer names.
func newAdvice(line *commandLine, method string, cat *catalog.Catalog, ev *wire.Event) (*advice, wire.Event) {
	g := guidance{line: line, method: introspect.WireName(method), kind: ev.Topic, cat: cat, extra: ev.Extra}
	a := &advice{kind: ev.Topic}
	if len(line.args) > 1 {
		a.fix, a.hint = g.fix(ev.Action)
	}
	shown := *ev
	if shown.Message == "" {
		shown.Message = cmp.Or(ev.Action, "the peer guides in no way that is known: --events shows it")
	}
	if shown.Action = ""; len(g.available()) > 0 {
		shown.Message += "; it has " + shortList(g.available())
	}
	if takes := format.Takes(g.get("method_schema")); takes != "" {
		shown.Message += "; " + g.wanted() + " takes " + takes
	}
	ev.Fix = a.fix
	return a, shown
}

// shortList is a dozen names at most.
func shortList(names []string) string {
	if len(names) > 12 {
		return strings.Join(names[:12], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// explain adds to a failure what the peer has advised just before.
func (a *advice) explain(f *wire.Fault) *wire.Fault {
	if a == nil || f.Hint != "" || f.Fix != nil {
		return f
	}
	a.told = true
	f.Hint, f.Fix = a.hint, a.fix
	return f
}

// unheeded is the fix of guidance that no failure followed, as an event; nil:
// there is none.
func (a *advice) unheeded() *wire.Event {
	if a == nil || a.told || a.fix == nil {
		return nil
	}
	return &wire.Event{Kind: wire.Guidance, Message: a.hint, Fix: a.fix}
}

// guidance is a guidance event on a command line.
type guidance struct {
	line   *commandLine
	method string           // the wire's name of what was called
	kind   string           // of the error
	cat    *catalog.Catalog // nil: none
	extra  json.RawMessage
}

func (g *guidance) get(key string) json.RawMessage { return scan.Get(g.extra, key) }

func (g *guidance) text(key string) string {
	s, _ := scan.Text(g.get(key))
	return s
}

// available are the methods that the peer names, without the module, which some
// services put before each.
func (g *guidance) available() []string {
	var names, short []string
	for val := range scan.Elements(g.get("available_methods")) {
		name, _ := scan.Text(val)
		if name == "" {
			continue
		}
		names = append(names, name)
		for _, separator := range []string{"_", "."} {
			if rest, ok := strings.CutPrefix(name, g.module()+separator); ok {
				short = append(short, rest)
			}
		}
	}
	if len(short) == len(names) {
		return short
	}
	return names
}

// module is the module that it is about.
func (g *guidance) module() string {
	if m := g.text("module"); m != "" {
		return m
	}
	module, _ := introspect.Split(g.method)
	return module
}

// wire is the wire's name of a method that the peer names: as m, ns.m or ns_m.
func (g *guidance) wire(name string) string {
	full := g.module() + "_" + name
	switch {
	case strings.Contains(name, "."):
		return introspect.WireName(name)
	case slices.Contains(g.available(), name), g.cat.Method(full) != nil:
		return full
	case strings.HasPrefix(name, g.module()+"_"), g.cat.Method(name) != nil, g.kind == "module_not_found":
		return name
	}
	return full
}

// wanted is the method that was meant: the nearest of those that there are, as
// we see it, else the one that the peer suggests; "" where neither is known.
func (g *guidance) wanted() string {
	if missing := g.text("method"); len(g.available()) > 0 {
		if near := catalog.Nearest(missing, g.available()); near != "" {
			return g.module() + "_" + near
		}
	} else if g.cat != nil && g.text("method") == "" {
		if near := catalog.Nearest(g.method, g.cat.Names()); near != "" {
			return near
		}
	}
	if name := g.text("suggested_method"); name != "" {
		return g.wire(name)
	}
	return ""
}

// fix is a command that helps: another call, or one that shows what there is.
func (g *guidance) fix(action string) (fix []string, hint string) {
	if wanted := g.wanted(); wanted != "" && peerName(wanted) {
		if wanted != g.method {
			hint = "did you mean " + wanted + "?"
		}
		return g.line.withArgs(slices.Concat(g.line.args[:1], []string{wanted}, g.params(wanted))), hint
	}
	args := g.line.args[:1]
	switch name := g.text("namespace"); {
	case action == "call_service_schema":
		hint = "see what modules there are"
	case action == "call_module_schema" && peerName(name):
		hint, args = "see what methods "+name+" has", slices.Concat(args, []string{name})
	default:
		return nil, ""
	}
	return g.line.forCommand("describe", args), hint
}

// params are the words after the method: those that were given, with what the
// peer's example has and they lack; where that is nothing, the example.
func (g *guidance) params(wanted string) []string {
	given, example := g.line.args[2:], g.get("example_params")
	if scan.Type(example) != 'o' || len(example) > 4096 {
		return given
	}
	if len(given) == 0 {
		if string(example) == "{}" {
			return nil
		}
		return []string{string(scan.Compact(nil, example))}
	}
	if wanted != g.method {
		return given
	}
	lacks := []byte{'{'}
	for key, val := range scan.Members(example) {
		if params.Names(given, scan.Key(key)) {
			continue
		}
		if len(lacks) > 1 {
			lacks = append(lacks, ',')
		}
		lacks = append(append(append(append(lacks, '"'), key...), `":`...), val...)
	}
	if len(lacks) == 1 || slices.ContainsFunc(given, func(arg string) bool { return !params.IsKeyOp(arg) }) {
		return []string{string(scan.Compact(nil, example))}
	}
	return slices.Concat([]string{string(append(lacks, '}'))}, given)
}

// forCommand is the line of another command with the flags of this one that say how
// the peer is reached; nil where it would show a secret.
func (l *commandLine) forCommand(command string, args []string) []string {
	other := *l
	other.path, other.flags = []string{command}, nil
	for _, f := range l.flags {
		name, _, _ := strings.Cut(strings.TrimPrefix(f, "--"), "=")
		if slices.Contains([]string{"dialect", "header", "cacert", "cert", "key", "insecure", "subprotocol", "token-command"}, name) {
			other.flags = append(other.flags, f)
		}
	}
	return other.withArgs(args)
}

// unknownType names a type of event for people.
func unknownType(kind string) string {
	return "the peer sends events of the type " + strconv.Quote(kind) + ", which the protocol does not have"
}
