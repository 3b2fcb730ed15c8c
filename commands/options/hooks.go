package options

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/hook"
	"rpcx/wire/userfile"
)

// Hooks contains the flags for answering the peer.
type Hooks struct {
	On      []string
	Files   []string
	onOpen  string
	timeout cmdline.Duration
	jobs    int64
	Strict  bool

	Functions map[string]bool // the hooks that the arguments pass as function values (key@on=NAME)
}

// Flags returns the flags of h.
func (h *Hooks) Flags() []*cmdline.Flag {
	return []*cmdline.Flag{
		cmdline.List(cmdline.GroupHooks, "on", "", "`NAME=ANSWER`: answer the peer's requests for NAME with ANSWER: a command, jq:EXPR, json:VALUE or another kind of hook (rpcx help hooks)", &h.On),
		cmdline.List(cmdline.GroupHooks, "hooks", "", "`DIR|FILE`: answer with the executables in DIR, or with the run members of the catalog FILE", &h.Files),
		cmdline.Text(cmdline.GroupHooks, "on-open", "", "run `ANSWER`, a command or jq:EXPR, after the handshake of each connection", &h.onOpen).Filled("a command"),
		cmdline.PositiveDuration(cmdline.GroupHooks, "hook-timeout", "kill hooks that run longer than `DURATION` (60s)", &h.timeout),
		cmdline.Number(cmdline.GroupHooks, "hook-jobs", "run at most `N` hooks at once (16)", 1, &h.jobs),
		cmdline.Bool(cmdline.GroupHooks, "strict-hooks", "", "exit with status 8 if any hook fails, even if the result does not depend on it", &h.Strict),
	}
}

// suggestHook adds the fix to an error in --on that has only one correction.
func suggestHook(l *cmdline.CommandLine, err error) error {
	other, ok := errors.AsType[hook.Meant](err)
	f := wire.AsFault(err)
	if f == nil || !ok {
		return err
	}
	g := *f
	for _, flag := range l.Flags {
		if before, ok := strings.CutSuffix(flag, "="+other.Given); ok && strings.HasPrefix(flag, "--on=") {
			g.Fix = l.WithFlag(flag, before+"="+other.Better)
		}
	}
	return &g
}

// Entries returns the hooks of --on, followed by the hooks of --hooks. The first hook that matches answers a request.
func (h *Hooks) Entries() ([]hook.Entry, error) {
	var all []hook.Entry
	for _, spec := range h.On {
		e, err := hook.Parse(spec)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	for _, path := range h.Files {
		if _, err := os.Stat(path); err != nil && !userfile.IsStream(path) {
			return nil, wire.NewFault(wire.Usage, "--hooks: "+err.Error(), err)
		}
		entries, _, err := readHooks(path)
		if err != nil {
			return nil, err
		}
		all = append(all, entries...)
	}
	return all, nil
}

func readHooks(path string) ([]hook.Entry, *catalog.Catalog, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() && path != "-" {
		return hook.FromDir(path)
	}
	return hook.FromFile(path)
}

// Catalog returns the descriptions in the files of --hooks, or nil.
func (h *Hooks) Catalog() (*catalog.Catalog, error) {
	var all *catalog.Catalog
	for _, path := range h.Files {
		_, c, err := readHooks(path)
		if err != nil {
			return nil, err
		}
		if c == nil {
			continue
		}
		catalog.StripRun(c)
		if all == nil || len(all.Methods) == 0 {
			all = c
		} else if err := all.Join(c); err != nil {
			return nil, wire.NewFault(wire.Usage, fmt.Sprintf("--hooks %s: %v", path, err), err)
		}
	}
	return all, nil
}

// Describing returns the part of Catalog for the methods in names, or nil.
func (h *Hooks) Describing(names []string) (*catalog.Catalog, error) {
	c, err := h.Catalog()
	if c == nil || err != nil {
		return nil, err
	}
	c.Methods = slices.DeleteFunc(c.Methods, func(m catalog.Method) bool { return !slices.Contains(names, m.Name) })
	if len(c.Methods) == 0 {
		return nil, nil
	}
	return &catalog.Catalog{Catalog: 1, Methods: c.Methods, Defs: c.Defs}, nil
}

// checkFunctions returns an error for a function value (key@on=NAME) without a hook.
func (h *Hooks) checkFunctions(entries []hook.Entry) error {
	for _, name := range slices.Sorted(maps.Keys(h.Functions)) {
		if !slices.ContainsFunc(entries, func(e hook.Entry) bool { return e.Pattern == name }) {
			return wire.NewFault(wire.Usage, fmt.Sprintf("no hook is called %q", name), nil).
				WithHint("give the function a hook with --on " + wire.Quote(name+"=ANSWER"))
		}
	}
	return nil
}
