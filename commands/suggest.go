package commands

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"

	"rpcx/commands/params"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
	"rpcx/wire/session"
)

// suggest adds a command that would work to the failure of a call, where one is
// known: with the method that the peer named as nearest, or that the catalog
// has.
func suggest(a *app, f *wire.Fault, cat *catalog.Catalog) {
	if f.RPC == nil || f.Hint != "" || string(f.RPC.Code) != "-32601" && f.RPC.Kind != "unknown_command" {
		return
	}
	if cat != nil {
		suggestName(a, f, f.Method, cat.Names())
	}
	if f.Hint == "" {
		suggestExact(a, f, nearestOf(f.RPC.Data))
	}
}

// nearestOf is the method that a peer suggests in an error's data.
func nearestOf(data json.RawMessage) string {
	if scan.Type(data) != 'o' {
		return ""
	}
	for _, member := range []string{"nearest", "suggested_method"} {
		if name, ok := scan.Text(scan.Get(data, member)); ok {
			return name
		}
	}
	return ""
}

// suggestName suggests the nearest of names.
func suggestName(a *app, f *wire.Fault, name string, names []string) {
	suggestExact(a, f, catalog.Nearest(name, names))
}

// suggestMethod adds the nearest method of a catalog to a failure.
func suggestMethod(a *app, err error, method string, cat *catalog.Catalog) error {
	f := wire.AsFault(err)
	if f == nil || cat.Method(method) != nil {
		return err
	}
	g := *f
	suggestName(a, &g, method, cat.Names())
	return &g
}

// suggestExact suggests the command line with another METHOD.
func suggestExact(a *app, f *wire.Fault, name string) {
	if name == "" || !peerName(name) {
		return
	}
	args := a.line.args
	if a.respell != nil && len(args) > 1 {
		name = a.respell(args[1], name)
	}
	f.Hint = "did you mean " + name + "?"
	if len(args) > 1 {
		f.Fix = a.line.withArgs(slices.Concat(args[:1], []string{name}, args[2:]))
	}
}

// suggestSpelling adds the command line in which a method is spelt as the dialect has
// it, where that is known.
func suggestSpelling(a *app, err error) error {
	var better *dialect.Misspelt
	f := wire.AsFault(err)
	if f == nil || !errors.As(err, &better) {
		return err
	}
	g := *f
	suggestExact(a, &g, better.Method)
	return &g
}

// peerName is what a peer's word must look like to stand in a command that we
// print (section 3 of the design).
func peerName(name string) bool {
	return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./:-]*$`).MatchString(name)
}

// suggestParams adds the command line with the parameters that would be taken,
// where they are known.
func suggestParams(l *commandLine, err error) error {
	var arg *params.ArgError
	f := wire.AsFault(err)
	if f == nil || !errors.As(err, &arg) || arg.Args == nil || len(l.args) < 2 {
		return err
	}
	g := *f
	g.Fix = l.withArgs(slices.Concat(l.args[:2], arg.Args))
	return &g
}

// withArgs is the command line with other arguments; nil where it would show a
// secret.
func (l *commandLine) withArgs(args []string) []string {
	if hasSecret(l.flags, args) {
		return nil
	}
	words := slices.Concat([]string{"rpcx"}, l.path)
	if slices.ContainsFunc(args, isFlag) {
		return slices.Concat(words, l.flags, []string{"--"}, args)
	}
	return slices.Concat(words, args, l.flags)
}

// hasSecret says that some word of a command line is not to be shown again.
func hasSecret(flags, args []string) bool {
	for _, f := range flags {
		flag, value, _ := strings.Cut(f, "=")
		named := flag == "--header" || flag == "--arg" || flag == "--argjson"
		if i := strings.IndexAny(value, "=:"); named && i >= 0 && format.SecretName(value[:i]) {
			return true
		}
	}
	for i, arg := range args {
		if i == 0 && strings.HasPrefix(arg, "@") {
			continue // a name hides what it stands for
		}
		if e, err := session.ParseEndpoint(arg, ""); i == 0 && err == nil && strings.Contains(e.String(), "…") {
			return true
		}
		if params.Shown(arg) != arg {
			return true
		}
	}
	return false
}
