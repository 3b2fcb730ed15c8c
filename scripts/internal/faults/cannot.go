//go:build linux

package main

import "strings"

// These functions return why a combination is impossible, or "".

func tcpOnly(t *transport) string {
	if t.child || t.name == "unix" {
		return "only TCP has resets"
	}
	return ""
}

func childOnly(t *transport) string {
	if !t.child {
		return "over a network, a stopped process looks like one that has exited: see gone-*"
	}
	return ""
}

func httpOnly(t *transport) string {
	if !t.http {
		return "only HTTP has compressed bodies"
	}
	return ""
}

func httpish(t *transport) string {
	if !t.http && !t.ws {
		return "only HTTP has statuses"
	}
	return ""
}

func tlsOnly(t *transport) string {
	if !t.tls {
		return "the transport does not use TLS"
	}
	return ""
}

func wsOnly(why string) func(*transport) string {
	return func(t *transport) string {
		if !t.ws {
			return why
		}
		return ""
	}
}

// both returns the first of two reasons.
func both(a, b func(*transport) string) func(*transport) string {
	return func(t *transport) string {
		if a != nil {
			if why := a(t); why != "" {
				return why
			}
		}
		return b(t)
	}
}

// cannot returns why a cell is impossible, or "".
func (c cell) cannot() string {
	if c.fault.only != nil {
		if why := c.fault.only(c.over); why != "" {
			return why
		}
	}
	reasons := ofPeers
	if c.run.own {
		reasons = ofClients
	}
	for _, r := range append(ofAll, reasons...) {
		if r.holds(c) {
			return r.why
		}
	}
	return ""
}

// A reason explains why some cells are impossible.
type reason struct {
	why   string
	holds func(c cell) bool
}

var ofAll = []reason{
	{"the conversation has no such message", func(c cell) bool { return c.fault.at >= c.units() }},
}

var ofPeers = []reason{
	{"a plugin accepts a body without a result as null", func(c cell) bool {
		return c.over.http && c.run.peer == pluginPeer && c.fault.name == "unexpected-bare"
	}},
	{"the command does not wait for the peer as its child", func(c cell) bool {
		return c.fault.kind == terminated && (c.run.name == "session" || c.run.name == "replay" || strings.HasPrefix(c.run.name, "record"))
	}},
	{"the dialect needs both directions, and HTTP has only one", func(c cell) bool {
		return c.over.http && (c.run.peer == hotreplHost || c.run.peer == evaluator)
	}},
	{"the body of a response is a single message", func(c cell) bool {
		return c.over.http && !c.over.events && (c.run.peer == counter || c.run.peer == worker)
	}},
	{"the body of a response cannot contain requests", func(c cell) bool {
		return c.over.http && !c.over.events && c.fault.asks()
	}},
	{"responses to two POSTs have no order", func(c cell) bool { return c.over.http && c.fault.name == "swap" && !c.over.events }},
	{"the first message is the last", func(c cell) bool { return c.fault.at == atFirst && !c.run.several() }},
}

// ofClients returns why a client cannot cause some faults.
var ofClients = []reason{
	{"a client does not send statuses", func(c cell) bool { return c.fault.kind == rejected }},
	{"the client is the side that connects", func(c cell) bool { return c.fault.kind == refused && c.fault.at == atNobody }},
	{"the servers do not request certificates", func(c cell) bool { return c.fault.at == atDial && c.fault.clientDial == nil }},
	{"the parent is this program: see gone-*", func(c cell) bool {
		return c.fault.kind == terminated || strings.HasPrefix(c.fault.name, "stopped-")
	}},
	{"the stream of this client does not end", func(c cell) bool {
		return c.over.events && (c.fault.name == "none" || c.fault.at == atAfter || c.fault.at == atEach)
	}},
}

func (f *fault) asks() bool {
	return f.name == "unexpected-ask" || f.name == "flood" || f.name == "flood-endless" || f.name == "flood-deaf"
}

// several reports whether the peer sends messages before the one that the command waits for.
func (c *command) several() bool {
	return c.calls > 1 || c.peer != adder && c.peer != describer
}

// units returns the number of units in a conversation without a fault.
func (c cell) units() int {
	switch {
	case c.over.ws:
		return c.run.messages + 1
	case c.over.events:
		return c.run.messages + c.run.posts
	case c.over.http && !c.run.own:
		return c.run.posts
	}
	return c.run.messages
}
