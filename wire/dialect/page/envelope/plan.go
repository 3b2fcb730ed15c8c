// Package envelope reads and writes messages whose form is defined in a dialect file, in [names], [write] and [read]. Its codec has no
// handshake, streams or other flows.
package envelope

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/scan"
)

// A Plan is the compiled description of the messages in a dialect file. Its codecs share it.
type Plan struct {
	page         *load.Page
	names        load.Names
	heads        []string // the top-level members to read
	request      form
	opening      []constant // the constants in a request for a stream
	response     form
	event        form
	okAt         place
	okIs         []byte
	forbidden    []place  // members that no message may have
	version2     bool     // the base is JSON-RPC 2.0
	items        bool     // a rule reads items by the id of their request, and responses show whether they are the last
	ends         bool     // a rule determines whether a response is the last
	extras       bool     // a rule finds extra members
	markedEvents bool     // constants or forbidden members, not a missing id, distinguish events
	apart        bool     // different constants in one member distinguish requests and responses
	array        bool     // messages are arrays, and all places begin with an index
	farthest     int      // the largest index in a place
	patterns     []string // the patterns in names.order, longest first
	flatEvents   bool     // the params of events are top-level members of the message
}

// maxHeads bounds the top-level members that a plan reads.
const maxHeads = 24

// A form contains the places of the values in one kind of message.
type form struct {
	method, params, id, result, fail, code, message, data, more place

	consts []constant // members with a constant value in every message
	none   []place    // places that must be empty
}

// A place is the path of a value in a message. head is the index of its first step in Plan.heads, or -1 if there is no
// path.
type place struct {
	head int
	path []string
}

// member returns the name of the place's member if it is at the top level, and other otherwise.
func (p place) member(other string) string {
	if len(p.path) != 1 {
		return other
	}
	return p.path[0]
}

// A constant is a place with a constant value.
type constant struct {
	place
	value []byte
}

func (c constant) is(other constant) bool {
	return slices.Equal(c.path, other.path) && scan.Equal(c.value, other.value)
}

// Array reports whether messages are arrays. A nil Plan returns false.
func (c *Plan) Array() bool { return c != nil && c.array }

// Plain reports whether p's messages have the form of its base.
func Plain(p *load.Page) bool {
	return p.Base != "none" && p.Names == nil && p.Read == nil && p.Write == load.Write{}
}

// Compile returns the plan for a dialect file, or a usage Fault about [names].
func Compile(p *load.Page) (*Plan, error) {
	c := &Plan{page: p, names: p.AllNames(), version2: p.Base == "jsonrpc"}
	n := &c.names
	c.request, c.response, c.event = c.form(n.Request), c.form(n.Response), c.form(n.Event)
	opening := maps.Clone(n.Request.Const)
	maps.Copy(opening, n.Stream)
	c.opening = c.constants(opening)
	c.okAt = place{head: -1}
	if n.OK != nil {
		c.okAt = c.place(n.OK.At)
		c.okIs, _ = scan.Marshal(n.OK.Is)
	}
	c.forbidden = c.places(n.Forbidden)
	c.patterns = slices.SortedFunc(maps.Keys(n.Order), func(a, b string) int {
		return cmp.Or(len(strings.ReplaceAll(b, "*", ""))-len(strings.ReplaceAll(a, "*", "")), strings.Compare(a, b))
	})
	c.items = p.ReadsItems()
	for i := range p.Read {
		c.ends = c.ends || p.Read[i].Kind == "response" && p.Read[i].Final != nil
		c.extras = c.extras || p.Read[i].Extra != nil
	}
	c.markedEvents = !c.version2 && (len(c.event.none) > 0 || len(c.event.consts) > 0 && !slices.EqualFunc(c.event.consts, c.request.consts, constant.is))
	c.apart = !c.version2 && slices.ContainsFunc(c.request.consts, func(k constant) bool {
		return slices.ContainsFunc(c.response.consts, func(o constant) bool { return slices.Equal(k.path, o.path) && !k.is(o) })
	})
	c.array = p.Text.Before != "" || len(c.heads) > 0 && !slices.ContainsFunc(c.heads, func(name string) bool { return index(name) < 0 })
	c.flatEvents = n.Params == "flat" && p.Names.Event.Params == ""
	return c, c.bounded()
}

// bounded returns an error if the plan has too many places.
func (c *Plan) bounded() error {
	switch {
	case c.farthest > maxIndex:
		return wire.Usagef("%d is not a valid index: arrays have at most %d elements", c.farthest, maxIndex+1)
	case len(c.heads) > maxHeads:
		return wire.Usagef("more than %d members", maxHeads)
	}
	return nil
}

func (c *Plan) form(m load.Members) form {
	return form{
		c.place(m.Method), c.place(m.Params), c.place(m.ID), c.place(m.Result),
		c.place(m.Error), c.place(m.Code), c.place(m.Message), c.place(m.Data), c.place(m.More),
		c.constants(m.Const), c.places(m.Forbidden),
	}
}

// place returns the place for a dotted path, and adds its first step to the heads.
func (c *Plan) place(path string) place {
	if path == "" {
		return place{head: -1}
	}
	steps := strings.Split(path, ".")
	for _, step := range steps {
		c.farthest = max(c.farthest, index(step))
	}
	i := slices.Index(c.heads, steps[0])
	if i < 0 {
		i = len(c.heads)
		c.heads = append(c.heads, steps[0])
	}
	return place{i, steps}
}

func (c *Plan) places(paths []string) []place { return wire.Map(paths, c.place) }

func (c *Plan) constants(members load.Consts) (list []constant) {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		value, _ := scan.Marshal(members[name])
		list = append(list, constant{c.place(name), value})
	}
	return list
}

// none returns the value to send for missing params, or nil to omit the member.
func (c *Plan) none() json.RawMessage {
	if c.names.None == "omit" || c.names.None == "" {
		return nil
	}
	return json.RawMessage(c.names.None)
}

// Beside returns an object with the message's extra members (names.extra), or nil. A nil Plan returns nil.
func (c *Plan) Beside(raw []byte) json.RawMessage {
	if c == nil || len(c.names.Extra) == 0 || scan.Type(raw) != 'o' {
		return nil
	}
	var o scan.Object
	for _, name := range c.names.Extra {
		o.Add(name, scan.Get(raw, name))
	}
	return o.EndOrNil()
}
