package commands

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"

	"rpcx/commands/params"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// suggest adds a command that would work to the failure of a call, where one is
// known: with the method that the peer named as nearest, or that the catalog
// has.
func suggest(a *app, f *wire.Fault, cat *catalog.Catalog) {
	if f.RPC == nil || string(f.RPC.Code) != "-32601" || len(a.line.args) < 2 {
		return
	}
	if cat != nil {
		suggestName(a, f, f.Method, cat.Names())
	}
	if f.Fix == nil {
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

// peerName is what a peer's word must look like to stand in a command that we
// print (section 3 of the design).
func peerName(name string) bool {
	return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./:-]*$`).MatchString(name)
}

// betterWords adds the command line with the parameters that would be taken,
// where they are known.
func betterWords(l *line, err error) error {
	var arg *params.ArgError
	f := wire.AsFault(err)
	if f == nil || !errors.As(err, &arg) || arg.Args == nil || len(l.args) < 2 {
		return err
	}
	g := *f
	g.Fix = slices.Concat([]string{"rpcx"}, l.path, l.args[:2], arg.Args, l.flags)
	return &g
}

// suggestExact builds the command line anew with another METHOD.
func suggestExact(a *app, f *wire.Fault, name string) {
	if name == "" || !peerName(name) {
		return
	}
	f.Hint = "did you mean " + name + "?"
	if len(a.line.args) < 2 {
		return
	}
	args := slices.Clone(a.line.args)
	args[1] = name
	f.Fix = slices.Concat([]string{"rpcx"}, a.line.path, args, a.line.flags)
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
