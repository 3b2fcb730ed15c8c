//go:build linux

package main

import (
	"fmt"
	"hash/fnv"
	"strings"
)

// A cell combines a command, a transport and a fault.
type cell struct {
	run   *command
	over  *transport
	fault *fault
}

func (c cell) name() string { return c.run.name + "/" + c.over.name + "/" + c.fault.name }

// luck returns the seed of a cell's random choices.
func (c cell) luck(seed uint64) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %d", c.name(), seed)
	return h.Sum64()
}

// cells returns all cells in the order of the tables.
func cells() []cell {
	var all []cell
	for _, run := range commands {
		for _, over := range transports {
			for _, f := range faults() {
				all = append(all, cell{run, over, f})
			}
		}
	}
	return all
}

// parseCell returns the cell of that name.
func parseCell(name string) (cell, error) {
	for _, c := range cells() {
		if c.name() == name {
			return c, nil
		}
	}
	return cell{}, fmt.Errorf("no cell is named %q: COMMAND/TRANSPORT/FAULT, see --list", name)
}

// matching returns the cells that match a pattern, in which * matches any word.
func matching(pattern string) []cell {
	words := strings.Split(pattern, "/")
	var some []cell
	for _, c := range cells() {
		mine := strings.Split(c.name(), "/")
		fits := len(words) == len(mine)
		for i := 0; fits && i < len(mine); i++ {
			prefix, many := strings.CutSuffix(words[i], "*")
			fits = words[i] == mine[i] || many && strings.HasPrefix(mine[i], prefix)
		}
		if fits {
			some = append(some, c)
		}
	}
	return some
}

// A transport is a way to reach the peer.
type transport struct {
	name    string
	scheme  string
	carrier func(*peer, *link) error
	tls     bool
	child   bool // the peer is a child of rpcx
	ws      bool
	http    bool
	events  bool // HTTP responses are event streams
	listen  string
}

var transports = []*transport{
	{name: "ws", scheme: "ws://", carrier: overWS, ws: true, listen: "ws://127.0.0.1:0/"},
	{name: "wss", scheme: "wss://", carrier: overWS, ws: true, tls: true, listen: "ws://127.0.0.1:0/"},
	{name: "http", scheme: "http://", carrier: overHTTP, http: true, listen: "http://127.0.0.1:0/"},
	{name: "https", scheme: "https://", carrier: overHTTP, http: true, tls: true, listen: "http://127.0.0.1:0/"},
	{name: "sse", scheme: "http://", carrier: overHTTP, http: true, events: true, listen: "http://127.0.0.1:0/"},
	{name: "tcp", scheme: "tcp://", carrier: overLines, listen: "tcp://127.0.0.1:0"},
	{name: "tls", scheme: "tls://", carrier: overLines, tls: true, listen: "tcp://127.0.0.1:0"},
	{name: "unix", scheme: "unix:", carrier: overLines, listen: "unix:{dir}/listen"},
	{name: "exec", scheme: "exec:", carrier: overLines, child: true, listen: "tcp://127.0.0.1:0"},
	{name: "ipc", scheme: "ipc:", carrier: overLines, child: true, listen: "tcp://127.0.0.1:0"},
}

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
		return c.over.http && !c.over.events && c.run.streams
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
