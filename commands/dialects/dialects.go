// Package dialects has the flags and the output that belong to one dialect, a file
// for each. Those that come and go with their file stand in a table.
package dialects

import (
	"encoding/json"

	"rpcx/commands/cmdline"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
)

// A row holds what one dialect adds to the commands. Each member may be nil.
type row struct {
	// examples are shown in the help of a command, by its words ("job run").
	examples map[string][]cmdline.Example

	fields  func() Fields
	advise  func(line *cmdline.CommandLine, method string, cat *catalog.Catalog, ev *wire.Event) (*Advice, wire.Event)
	module  func(c *catalog.Catalog, name string) *catalog.Catalog
	modules func(c *catalog.Catalog) []format.Module
	names   func(c *catalog.Catalog) []string
	unknown func(c *catalog.Catalog, name string) []string
}

// rows returns the table, in the order in which help lists the flags.
func rows() []row { return []row{roRow, introspectRow, hotreplRow, pageRow} }

// Examples returns what the help of a command shows of single dialects. command is
// its words after rpcx, such as "job run".
func Examples(command string) (all []cmdline.Example) {
	for _, r := range rows() {
		all = append(all, r.examples[command]...)
	}
	return all
}

// Fields are flags for what a request has in one dialect beside method and params.
type Fields interface {
	Flags() []cmdline.Flag
	// Given says whether one of the flags was.
	Given() bool
	// Extra returns the fields as an operation has them; nil: there are none. fresh
	// asks for an answer that is of no cache.
	Extra(l *cmdline.CommandLine, e endpoint.Endpoint, fresh bool) (json.RawMessage, error)
}

// RequestFields are the Fields of all dialects that have some.
type RequestFields []Fields

// NewRequestFields returns those of the table, none of them given.
func NewRequestFields() RequestFields {
	var all RequestFields
	for _, r := range rows() {
		if r.fields != nil {
			all = append(all, r.fields())
		}
	}
	return all
}

// Flags returns the flags of all of them.
func (all RequestFields) Flags() []cmdline.Flag {
	var flags []cmdline.Flag
	for _, f := range all {
		flags = append(flags, f.Flags()...)
	}
	return flags
}

// Given reports whether any of the flags was.
func (all RequestFields) Given() bool {
	for _, f := range all {
		if f.Given() {
			return true
		}
	}
	return false
}

// Extra returns the fields of the first dialect that has some; nil: none has.
func (all RequestFields) Extra(l *cmdline.CommandLine, e endpoint.Endpoint, fresh bool) (json.RawMessage, error) {
	for _, f := range all {
		if extra, err := f.Extra(l, e, fresh); extra != nil || err != nil {
			return extra, err
		}
	}
	return nil, nil
}

// NewAdvice takes a guidance event of a call of method, which may get a fix. Beside
// the advice it returns the event as it is shown. The advice is nil where no dialect
// reads such events.
func NewAdvice(line *cmdline.CommandLine, method string, cat *catalog.Catalog, ev *wire.Event) (*Advice, wire.Event) {
	for _, r := range rows() {
		if r.advise != nil {
			return r.advise(line, method, cat, ev)
		}
	}
	return nil, *ev
}

// ModuleOf returns the part of c that is the module of that name; nil where there
// is none.
func ModuleOf(c *catalog.Catalog, name string) *catalog.Catalog {
	for _, r := range rows() {
		if r.module != nil {
			return r.module(c, name)
		}
	}
	return nil
}

// ModulesOf returns the modules of c, as a table shows them; nil: it has none.
func ModulesOf(c *catalog.Catalog) []format.Module {
	for _, r := range rows() {
		if r.modules != nil {
			return r.modules(c)
		}
	}
	return nil
}

// ModuleNames returns the names of the modules of c.
func ModuleNames(c *catalog.Catalog) (names []string) {
	for _, r := range rows() {
		if r.names != nil {
			names = append(names, r.names(c)...)
		}
	}
	return names
}

// UnknownModules returns the modules of c whose schema the peer did not tell, of
// all that it was asked for or, with name, of the one that this names or is a
// method of.
func UnknownModules(c *catalog.Catalog, name string) (names []string) {
	for _, r := range rows() {
		if r.unknown != nil {
			names = append(names, r.unknown(c, name)...)
		}
	}
	return names
}

// MethodOf finds a method by its name, in either of the forms that users write.
func MethodOf(c *catalog.Catalog, name string) *catalog.Method {
	if m := c.Method(name); m != nil || c == nil {
		return m
	}
	return c.Method(all.Named(c.Dialect).OnWire(name))
}
