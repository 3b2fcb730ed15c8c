// Package envelope reads and writes messages whose members have names of their
// own, as a page's [names], [write] and [read] say. It is a dialect's codec
// without greeting, streams or any other flow.
package envelope

import (
	"encoding/json"
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/scan"
)

// A Plan is what a page says about its messages, compiled. Any number of codecs
// can share it.
type Plan struct {
	page     *load.Page
	names    load.Names
	heads    []string // the top-level members that are read
	request  form
	response form
	event    form
	okAt     place
	okIs     []byte
	requests []constant // members with a fixed value in each request
	answers  []constant
	events   []constant
	version2 bool // the base is JSON-RPC 2.0
}

// headsMost bounds the top-level members that a plan reads.
const headsMost = 24

// A form says where the parts of one kind of message stand.
type form struct {
	method, params, id, result, fail, code, message, data, more place
}

// A place is the path of a value, with the index of its first member in
// Plan.heads; -1: the page names none.
type place struct {
	head int
	path []string
}

// member returns the name of the place, if it is a member of the message itself; else
// other.
func (p place) member(other string) string {
	if len(p.path) != 1 {
		return other
	}
	return p.path[0]
}

// A constant is a member with a fixed value.
type constant struct {
	place
	value []byte
}

// Plain reports whether the messages of p are those of its base.
func Plain(p *load.Page) bool {
	return p.Base != "none" && p.Names == nil && p.Read == nil && p.Write == load.Write{}
}

// base returns the names of the members in the dialect that a page builds on.
func base(name string) load.Names {
	if name == "none" {
		return load.Names{}
	}
	n := load.Names{
		Request:  load.Members{Method: "method", Params: "params", ID: "id"},
		Response: load.Members{ID: "id", Result: "result", Error: "error"},
		Event:    load.Members{Method: "method", Params: "params"},
		Batches:  true,
	}
	if name == "jsonrpc" {
		two := map[string]any{"jsonrpc": "2.0"}
		n.Request.Const, n.Response.Const, n.Event.Const = two, two, two
	} else {
		n.None = "[]"
	}
	return n
}

// Compile returns the plan of a page. The error is a usage Fault.
func Compile(p *load.Page) (*Plan, error) {
	c := &Plan{page: p, names: base(p.Base), version2: p.Base == "jsonrpc"}
	if p.Names != nil {
		merge(&c.names, *p.Names)
	}
	n := &c.names
	if n.Event.Method == "" {
		n.Event.Method, n.Event.Params = n.Request.Method, n.Request.Params
	}
	if n.Response.ID == "" {
		n.Response.ID = n.Request.ID
	}
	c.request, c.response, c.event = c.form(n.Request), c.form(n.Response), c.form(n.Event)
	c.okAt = place{head: -1}
	if n.OK != nil {
		c.okAt = c.place(n.OK.At)
		c.okIs, _ = scan.Marshal(n.OK.Is)
	}
	c.requests, c.answers, c.events = c.constants(n.Request), c.constants(n.Response), c.constants(n.Event)
	if len(c.heads) > headsMost {
		return nil, wire.Usagef("the page %s: names has more than %d members", p.Name, headsMost)
	}
	return c, nil
}

// merge replaces in n what the page names itself.
func merge(n *load.Names, more load.Names) {
	for _, pair := range []struct{ to, from *load.Members }{{&n.Request, &more.Request}, {&n.Response, &more.Response}, {&n.Event, &more.Event}} {
		put := func(to *string, from string) {
			if from != "" {
				*to = from
			}
		}
		put(&pair.to.Method, pair.from.Method)
		put(&pair.to.Params, pair.from.Params)
		put(&pair.to.ID, pair.from.ID)
		put(&pair.to.Result, pair.from.Result)
		put(&pair.to.Error, pair.from.Error)
		put(&pair.to.Code, pair.from.Code)
		put(&pair.to.Message, pair.from.Message)
		put(&pair.to.Data, pair.from.Data)
		put(&pair.to.More, pair.from.More)
		if pair.from.Const != nil {
			pair.to.Const = pair.from.Const
		}
	}
	n.OK = more.OK
	n.Batches = n.Batches || more.Batches
	if more.Params != "" {
		n.Params = more.Params
	}
	if more.None != "" {
		n.None = more.None
	}
	n.IDs, n.Counter, n.Extra = more.IDs, more.Counter, more.Extra
}

func (c *Plan) form(m load.Members) form {
	return form{
		c.place(m.Method), c.place(m.Params), c.place(m.ID), c.place(m.Result),
		c.place(m.Error), c.place(m.Code), c.place(m.Message), c.place(m.Data), c.place(m.More),
	}
}

// place returns the place of a dotted path, and adds its first member to those
// that are read.
func (c *Plan) place(path string) place {
	if path == "" {
		return place{head: -1}
	}
	steps := strings.Split(path, ".")
	i := slices.Index(c.heads, steps[0])
	if i < 0 {
		i = len(c.heads)
		c.heads = append(c.heads, steps[0])
	}
	return place{i, steps}
}

func (c *Plan) constants(m load.Members) (list []constant) {
	names := make([]string, 0, len(m.Const))
	for name := range m.Const {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		value, _ := scan.Marshal(m.Const[name])
		list = append(list, constant{c.place(name), value})
	}
	return list
}

// none returns what is sent as params if none are given; nil: nothing.
func (c *Plan) none() json.RawMessage {
	switch c.names.None {
	case "{}", "[]", "null":
		return json.RawMessage(c.names.None)
	}
	return nil
}

// Beside returns the members of a message that the page names as extra, an object; nil if
// there are none. A nil Plan finds none.
func (c *Plan) Beside(raw []byte) json.RawMessage {
	if c == nil || len(c.names.Extra) == 0 || scan.Type(raw) != 'o' {
		return nil
	}
	var o scan.Object
	for _, name := range c.names.Extra {
		if val := scan.Get(raw, name); val != nil {
			o.Add(name, val)
		}
	}
	return o.EndOrNil()
}
