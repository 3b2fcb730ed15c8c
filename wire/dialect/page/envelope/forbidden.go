package envelope

import (
	"encoding/json"
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// any returns the index of the first place at which the message has a value, or -1.
func (h *heads) any(places []place) int {
	return slices.IndexFunc(places, func(p place) bool { return h.get(p) != nil })
}

// canAsk reports whether a message with a method has no member that requests must not have, and without an id none that notifications
// must not have.
func (c *codec) canAsk(h *heads) bool {
	id := h.get(c.plan.request.id)
	return h.any(c.plan.request.none) < 0 && (len(c.plan.event.none) == 0 || c.hasID(id) || h.any(c.plan.event.none) < 0)
}

// name returns the path of the place in the spelling of dialect files.
func (p place) name() string { return strings.Join(p.path, ".") }

// in returns the value at the place in a whole message, or nil.
func (p place) in(raw []byte) []byte {
	for _, step := range p.path {
		if raw = Below(raw, step); raw == nil {
			return nil
		}
	}
	return raw
}

// allowed returns the error of a local message with a member that the dialect file forbids in all messages or in those of its kind.
func (c *codec) allowed(raw []byte, none []place, kind, method string) error {
	for _, list := range [][]place{c.plan.forbidden, none} {
		for _, p := range list {
			if p.in(raw) != nil {
				return wire.Usagef("%s: %s of the dialect %s has no member %s", method, kind, c.plan.page.Name, p.name())
			}
		}
	}
	return nil
}

// repeats returns the extra members of a request that its response also has.
func (c *Plan) repeats(raw []byte) json.RawMessage {
	beside := c.Beside(raw)
	for _, p := range c.response.none {
		if beside != nil && len(p.path) == 1 {
			beside = scan.Without(beside, p.path[0])
		}
	}
	return beside
}
