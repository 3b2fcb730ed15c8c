// Package dialects contains the flags and the output of single dialects, one file for each. Removing a dialect means
// removing its file and its row in the table.
package dialects

import (
	"cmp"

	"rpcx/commands/cmdline"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect/all"
	"rpcx/wire/scan"
)

// A row is what one dialect adds to the commands. Any member may be nil.
type row struct {
	// examples are the help's examples by command, such as "job run".
	examples map[string][]cmdline.Example

	advise func(line *cmdline.CommandLine, method string, cat *catalog.Catalog, ev *wire.Event) (*Advice, wire.Event)
}

// rows returns the table in the order in which help lists the dialects' flags.
func rows() []row { return []row{roRow, introspectRow, hotreplRow} }

// Examples returns the dialects' examples for the help of a command, such as "job run".
func Examples(command string) (all []cmdline.Example) {
	for _, r := range rows() {
		all = append(all, r.examples[command]...)
	}
	return all
}

// NewAdvice reads a guidance event of a call to method, and adds a fix if possible. It returns the event to show and
// the advice, which is nil if no dialect has such events.
func NewAdvice(line *cmdline.CommandLine, method string, cat *catalog.Catalog, ev *wire.Event) (*Advice, wire.Event) {
	for _, r := range rows() {
		if r.advise != nil {
			return r.advise(line, method, cat, ev)
		}
	}
	return nil, *ev
}

// MethodOf returns the method of that name in either spelling.
func MethodOf(c *catalog.Catalog, name string) *catalog.Method {
	if m := c.Method(name); m != nil || c == nil {
		return m
	}
	return c.Method(all.Named(c.Dialect).Names.OnWire(name))
}

// Advice is a fix for the command line, derived from a peer's guidance event. rpcx shows the fix and never runs it.
type Advice struct {
	Kind  string
	hint  string
	fix   []string
	shown bool // whether rpcx has shown the help with an error

	message string // the error's code
}

// Explain adds the peer's latest advice to an error.
func (a *Advice) Explain(f *wire.Fault) *wire.Fault {
	if a == nil || f.Hint != "" || f.Fix != nil {
		return f
	}
	a.shown = true
	f.Hint, f.Fix = a.hint, a.fix
	return f
}

// IsFailure reports whether the call has failed although the peer sent only advice and no error, as section 2.3 of
// Introspective Streaming RPC allows.
func (a *Advice) IsFailure() bool { return a != nil && !a.shown && a.Kind != "" }

// Error returns the error of the advice.
func (a *Advice) Error() *wire.Error {
	text := cmp.Or(a.message, a.Kind)
	return &wire.Error{Kind: a.Kind, Message: text, Raw: scan.Pair("message", scan.AppendQuoted(nil, text))}
}

// Unheeded returns the fix as an event if no error has shown it, else nil.
func (a *Advice) Unheeded() *wire.Event {
	if a == nil || a.shown || a.fix == nil {
		return nil
	}
	return &wire.Event{Kind: wire.Guidance, Message: a.hint, Fix: a.fix}
}
