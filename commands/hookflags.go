package commands

import (
	"fmt"
	"maps"
	"os"
	"slices"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/hook"
)

// entries reads --on, then --hooks.
func (h *hookFlags) entries() ([]hook.Entry, error) {
	var all []hook.Entry
	for _, spec := range h.on {
		e, err := hook.Parse(spec)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	for _, path := range h.files {
		info, err := os.Stat(path)
		if err != nil {
			return nil, wire.NewFault(wire.Usage, "--hooks: "+err.Error(), err)
		}
		var entries []hook.Entry
		if info.IsDir() {
			entries, err = hook.FromDir(path)
		} else {
			entries, _, err = hook.FromFile(path)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, entries...)
	}
	return all, nil
}

// catalog is what the files of --hooks say of what they answer; nil: there are
// none.
func (h *hookFlags) catalog() (*catalog.Catalog, error) {
	var all *catalog.Catalog
	for _, path := range h.files {
		if info, err := os.Stat(path); err != nil || info.IsDir() {
			continue
		}
		_, c, err := hook.FromFile(path)
		if err != nil {
			return nil, err
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

// describing is what the files of --hooks say of these hooks; nil: nothing.
func (h *hookFlags) describing(names []string) (*catalog.Catalog, error) {
	c, err := h.catalog()
	if c == nil || err != nil {
		return nil, err
	}
	c.Methods = slices.DeleteFunc(c.Methods, func(m catalog.Method) bool { return !slices.Contains(names, m.Name) })
	if len(c.Methods) == 0 {
		return nil, nil
	}
	return &catalog.Catalog{Catalog: 1, Methods: c.Methods, Defs: c.Defs}, nil
}

// checkFunctions refuses a function value (key@on=NAME) that no hook answers.
func (h *hookFlags) checkFunctions(entries []hook.Entry) error {
	for _, name := range slices.Sorted(maps.Keys(h.functions)) {
		if !slices.ContainsFunc(entries, func(e hook.Entry) bool { return e.Pattern == name }) {
			f := wire.NewFault(wire.Usage, fmt.Sprintf("no hook is called %q", name), nil)
			f.Hint = "give what answers the function with --on " + wire.Quote(name+"=ANSWER")
			return f
		}
	}
	return nil
}
