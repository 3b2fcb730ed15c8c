package dialects

import (
	"cmp"
	"context"
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

// introspectRow contains the guidance events of the dialect.
var introspectRow = row{
	examples: map[string][]cmdline.Example{
		"call":     {{Says: "Print the parameters of a method (introspect)", Command: "rpcx call demo:introspect storage_tree_get --help"}},
		"describe": {{Says: "Describe one module of a service", Command: "rpcx describe demo:introspect storage"}},
	},
	advise: advise,
}

// advise adds a fix to the guidance event of a call to method. It returns the advice, and the event to show, whose
// message lists the existing methods and the parameters.
func advise(line *cmdline.CommandLine, method string, cat *catalog.Catalog, ev *wire.Event) (*Advice, wire.Event) {
	g := guidance{line: line, method: introspect.WireName(method), kind: ev.Topic, cat: cat, extra: ev.Extra}
	a := &Advice{Kind: ev.Topic, message: ev.Message}
	if len(line.Args) > 1 {
		a.fix, a.hint = g.fix(ev.Action)
	}
	shown := *ev
	shown.Message = cmp.Or(shown.Message, ev.Action, "the peer sent guidance without a known action (--events shows it)")
	if shown.Action = ""; len(g.available()) > 0 {
		shown.Message += "; it has " + shortList(g.available())
	}
	if takes := format.Takes(g.get("method_schema")); takes != "" {
		shown.Message += "; " + g.wanted() + " takes " + takes
	}
	ev.Fix = a.fix
	return a, shown
}

// shortList returns at most a dozen names.
func shortList(names []string) string {
	if len(names) > 12 {
		return strings.Join(names[:12], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// guidance is a guidance event for a command line.
type guidance struct {
	line   *cmdline.CommandLine
	method string           // the called method on the wire
	kind   string           // the error's code
	cat    *catalog.Catalog // may be nil
	extra  json.RawMessage
}

func (g *guidance) get(key string) json.RawMessage { return scan.Get(g.extra, key) }

func (g *guidance) text(key string) string { return scan.String(g.get(key)) }

// available returns the methods in the guidance, without a module prefix that they share.
func (g *guidance) available() []string {
	var names, short []string
	for val := range scan.Elements(g.get("available_methods")) {
		name := scan.String(val)
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

// module returns the module of the guidance.
func (g *guidance) module() string {
	module, _ := introspect.Split(g.method)
	return cmp.Or(g.text("module"), module)
}

// wire returns the wire name of a method that the peer calls m, ns.m or ns_m.
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

// wanted returns the method that the user probably meant: the most similar known method, or the peer's suggestion, or
// "".
func (g *guidance) wanted() string {
	if missing := g.text("method"); len(g.available()) > 0 {
		if near := catalog.Closest(missing, g.available()); near != "" {
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

// fix returns a command that may help: another call, or a list of modules or methods.
func (g *guidance) fix(action string) (fix []string, hint string) {
	if wanted := g.wanted(); cmdline.IsSafeName(wanted) {
		if wanted != g.method {
			hint = "did you mean " + wanted + "?"
		}
		args := slices.Concat(g.line.Args[:1], []string{wanted}, g.params(wanted))
		if slices.Equal(args, g.line.Args) {
			return nil, hint // the fix would repeat the failed command
		}
		return g.line.WithArgs(args), hint
	}
	args := g.line.Args[:1]
	switch name := g.text("namespace"); {
	case action == "call_service_schema":
		hint = "list the modules"
	case action == "call_module_schema" && cmdline.IsSafeName(name):
		hint, args = "list the methods of "+name, slices.Concat(args, []string{name})
	default:
		return nil, ""
	}
	return g.line.ForCommand("describe", args), hint
}

// params returns the user's words after the method with corrected names. It does not use the peer's examples, whose
// values are not the user's.
func (g *guidance) params(wanted string) []string {
	given := g.line.Args[2:]
	if len(given) == 0 || params.ReadsFiles(given) {
		return given
	}
	typer, names := g.typer(wanted)
	r, err := params.Parse(context.Background(), given, params.Options{NoCheck: true, Typer: typer})
	if err != nil || scan.Type(r.Params) != 'o' {
		return given
	}
	if right, ok := respelt(r.Params, names); ok {
		return []string{string(right)}
	}
	return given
}

// typer returns the typer for a method's params, and their names, from the schema in the guidance or else the catalog.
func (g *guidance) typer(wanted string) (*params.Typer, []string) {
	cat := g.cat
	if schema := g.get("method_schema"); schema != nil {
		cat = &catalog.Catalog{Methods: []catalog.Method{{Name: wanted, Params: schema}}}
	}
	typer, err := params.ForMethod(cat, catalog.Conventions{}, wanted, nil)
	if err != nil || typer == nil {
		return nil, nil
	}
	return typer, slices.DeleteFunc(slices.Clone(typer.Properties()), func(name string) bool { return name == "method" })
}

// respelt returns an object with the most similar name in place of each unknown one, unless the object already has that
// name. ok is false if all names are known, or if one remains unknown, so that the peer would also reject the result.
func respelt(object json.RawMessage, names []string) (right json.RawMessage, ok bool) {
	free := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return scan.Get(object, name) != nil })
	var b scan.Object
	for key, val := range scan.Named(object) {
		if !slices.Contains(names, key) {
			if key = catalog.Nearest(key, free); key == "" {
				return nil, false
			}
			free = slices.DeleteFunc(free, func(name string) bool { return name == key })
			ok = true
		}
		b.Add(key, val)
	}
	return b.End(), ok
}
