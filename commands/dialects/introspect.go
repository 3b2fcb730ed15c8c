package dialects

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/commands/params"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect/introspect"
	"rpcx/wire/scan"
)

// introspectRow is the row of the table: the guidance events of the dialect, and the
// modules of its catalogs.
var introspectRow = row{advise: advise, module: moduleOf, modules: modulesOf}

// advise takes a guidance event of a call of method: it gets a fix. What is
// returned beside the advice is the event as it is shown: with the methods and the
// parameters that the peer names.
func advise(line *cmdline.CommandLine, method string, cat *catalog.Catalog, ev *wire.Event) (*Advice, wire.Event) {
	g := guidance{line: line, method: introspect.WireName(method), kind: ev.Topic, cat: cat, extra: ev.Extra}
	a := &Advice{Kind: ev.Topic}
	if len(line.Args) > 1 {
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

// guidance is a guidance event on a command line.
type guidance struct {
	line   *cmdline.CommandLine
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
	if wanted := g.wanted(); wanted != "" && cmdline.IsSafeName(wanted) {
		if wanted != g.method {
			hint = "did you mean " + wanted + "?"
		}
		return g.line.WithArgs(slices.Concat(g.line.Args[:1], []string{wanted}, g.params(wanted))), hint
	}
	args := g.line.Args[:1]
	switch name := g.text("namespace"); {
	case action == "call_service_schema":
		hint = "see what modules there are"
	case action == "call_module_schema" && cmdline.IsSafeName(name):
		hint, args = "see what methods "+name+" has", slices.Concat(args, []string{name})
	default:
		return nil, ""
	}
	return g.line.ForCommand("describe", args), hint
}

// params are the words after the method: those that were given, with what the
// peer's example has and they lack; where that is nothing, the example.
func (g *guidance) params(wanted string) []string {
	given, example := g.line.Args[2:], g.get("example_params")
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
	var lacks scan.Object
	for key, val := range scan.Members(example) {
		if !params.Names(given, scan.Key(key)) {
			lacks.Member(key, val)
		}
	}
	if lacks.Empty() || slices.ContainsFunc(given, func(arg string) bool { return !params.IsKeyOp(arg) }) {
		return []string{string(scan.Compact(nil, example))}
	}
	return slices.Concat([]string{string(lacks.End())}, given)
}

// moduleOf is the part of c that is the module of that name; nil where there is
// none.
func moduleOf(c *catalog.Catalog, name string) *catalog.Catalog {
	for val := range scan.Elements(scan.Get(c.Extra, "modules")) {
		if text, _ := scan.Text(scan.Get(val, "namespace")); text != name {
			continue
		}
		m := c.Clone()
		m.Extra = json.RawMessage(`{"modules":[` + string(val) + `]}`)
		m.Info.Name = name
		if text, ok := scan.Text(scan.Get(val, "version")); ok {
			m.Info.Version = text
		}
		if text, ok := scan.Text(scan.Get(val, "description")); ok {
			m.Info.Description = text
		}
		m.Methods = nil
		for _, entry := range c.Methods {
			if strings.HasPrefix(entry.Name, name+"_") {
				m.Methods = append(m.Methods, entry)
			}
		}
		return m
	}
	return nil
}

// modulesOf are the modules of c, as a table shows them; nil: it has none.
func modulesOf(c *catalog.Catalog) []format.Module {
	var all []format.Module
	for val := range scan.Elements(scan.Get(c.Extra, "modules")) {
		name, _ := scan.Text(scan.Get(val, "namespace"))
		if part := moduleOf(c, name); part != nil {
			var names []string
			for _, m := range part.Methods {
				names = append(names, strings.TrimPrefix(m.Name, name+"_"))
			}
			all = append(all, format.Module{Name: name, Version: part.Info.Version, Description: part.Info.Description, Methods: names})
		}
	}
	return all
}
