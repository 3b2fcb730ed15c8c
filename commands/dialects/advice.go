package dialects

import (
	"rpcx/wire"
)

// Advice is what the peer's guidance comes to on this command line. None of it
// is ever run.
type Advice struct {
	Kind string
	hint string
	fix  []string
	told bool // by the failure that it belongs to
}

// Explain adds to a failure what the peer has advised just before.
func (a *Advice) Explain(f *wire.Fault) *wire.Fault {
	if a == nil || f.Hint != "" || f.Fix != nil {
		return f
	}
	a.told = true
	f.Hint, f.Fix = a.hint, a.fix
	return f
}

// Unheeded is the fix of guidance that no failure followed, as an event; nil:
// there is none.
func (a *Advice) Unheeded() *wire.Event {
	if a == nil || a.told || a.fix == nil {
		return nil
	}
	return &wire.Event{Kind: wire.Guidance, Message: a.hint, Fix: a.fix}
}
