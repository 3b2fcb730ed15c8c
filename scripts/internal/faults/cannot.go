//go:build linux

package main

import "strings"

// What cannot be: each returns why not, "" where it can.

func tcpOnly(t *transport) string {
	if t.child || t.name == "unix" {
		return "only TCP has resets"
	}
	return ""
}

func childOnly(t *transport) string {
	if !t.child {
		return "over a network a stopped process is one that is gone: see gone-*"
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
		return "there is no TLS"
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

// both is the first reason of two.
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

// cannot says why there is no such cell, "" where there is one.
func (c cell) cannot() string {
	if c.fault.only != nil {
		if why := c.fault.only(c.over); why != "" {
			return why
		}
	}
	if c.fault.at >= c.units() {
		return "the conversation has no such message"
	}
	if c.run.own {
		return c.cannotCome()
	}
	switch {
	case c.over.http && c.run.peer == plugs && c.fault.name == "stray-bare":
		return "a body without a result is a plugin's null"
	case c.fault.kind == told && (c.run.name == "session" || c.run.name == "replay" || strings.HasPrefix(c.run.name, "record")):
		return "the peer's parent is no command that waits for it"
	case c.over.http && (c.run.peer == hosts || c.run.peer == evaluates):
		return "the dialect needs both directions, which HTTP has not"
	case c.over.http && !c.over.events && (c.run.peer == counts || c.run.peer == works):
		return "the body of an answer is one message"
	case c.over.http && !c.over.events && c.fault.asks():
		return "in the body of an answer there is no room for questions"
	case c.over.http && c.fault.name == "swap" && !c.over.events:
		return "answers to two POSTs have no order"
	case c.fault.at == atFirst && c.run.peer != nil && !c.run.several():
		return "the first message is the last"
	}
	return ""
}

func (f *fault) asks() bool {
	return f.name == "stray-ask" || f.name == "flood" || f.name == "flood-endless" || f.name == "flood-deaf"
}

// several says whether a peer says something before what a command waits for.
func (c *command) several() bool {
	return c.calls > 1 || c.peer != adds && c.peer != describes
}

// units is how many units a conversation without a fault has.
func (c cell) units() int {
	switch {
	case c.over.ws:
		return c.run.says + 1
	case c.over.events:
		return c.run.says + c.run.posts
	case c.over.http && !c.run.own:
		return c.run.posts
	}
	return c.run.says
}

// cannotCome says what no client can do.
func (c cell) cannotCome() string {
	f := c.fault
	switch {
	case f.kind == turned:
		return "a client sends no statuses"
	case f.kind == refused && f.at == atNobody:
		return "it is the client that does not come"
	case f.at == atDial && f.came == nil:
		return "servers ask for no certificate here"
	case f.kind == told, f.name == "stopped-first", f.name == "stopped-last":
		return "the parent is this program: see gone-*"
	case f.name == "none" && c.over.events, c.over.events && (f.at == atAfter || f.at == atEach):
		return "the stream of this client has no end"
	}
	return ""
}
