package dialects

import (
	"cmp"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// Advice is the fix from a peer's guidance event, for this command line. rpcx shows it and never runs it.
type Advice struct {
	Kind string
	hint string
	fix  []string
	told bool // rpcx showed it with an error

	message string // the code of the error
}

// Explain adds the peer's latest advice to an error.
func (a *Advice) Explain(f *wire.Fault) *wire.Fault {
	if a == nil || f.Hint != "" || f.Fix != nil {
		return f
	}
	a.told = true
	f.Hint, f.Fix = a.hint, a.fix
	return f
}

// IsFailure reports whether the advice means that the call has failed, although the peer sent no error (Introspective
// Streaming RPC, section 2.3, has both).
func (a *Advice) IsFailure() bool { return a != nil && !a.told && a.Kind != "" }

// Error returns the error that the advice is about.
func (a *Advice) Error() *wire.Error {
	e := &wire.Error{Kind: a.Kind, Message: cmp.Or(a.message, a.Kind)}
	e.Raw = scan.Pair("message", scan.AppendQuoted(nil, e.Message))
	return e
}

// Unheeded returns the fix of guidance without an error as an event, or nil if there is none.
func (a *Advice) Unheeded() *wire.Event {
	if a == nil || a.told || a.fix == nil {
		return nil
	}
	return &wire.Event{Kind: wire.Guidance, Message: a.hint, Fix: a.fix}
}
