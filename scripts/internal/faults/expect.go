//go:build linux

package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// expected returns the allowed exit statuses of each step of a cell, which depend on where the fault occurred (see rpcx help statuses).
func (v *verdict) expected() [][]int {
	one := v.cell.statuses(v.occurred)
	switch v.cell.run.name {
	case "session":
		return v.cell.ofSession(v.occurred, one)
	case "record", "record-server":
		return [][]int{v.cell.ofRecord(v.occurred, one)}
	case "replay":
		return [][]int{v.cell.ofReplay(v.occurred, one)}
	}
	return [][]int{one}
}

// statuses returns the allowed exit statuses of a command that connects, sends a request and prints.
func (c cell) statuses(at phase) []int {
	f := c.fault
	switch {
	case at == never:
		return []int{0}
	case f.name == "dup-head", c.over.events && (f.name == "dup-first" || f.name == "swap"):
		return []int{5} // the client gets a head instead of a frame or a chunk
	case c.over.http && f.name == "dup-first":
		return []int{0, 5} // the second body may be the response to the next POST
	case f.kind == harmless, at == after && f.kind != rejected:
		return []int{0}
	}
	return ofKind[f.kind](c, at)
}

// ofKind returns the allowed statuses for each kind of fault.
var ofKind = map[kind]func(c cell, at phase) []int{
	lost:       cell.ofLoss,
	silent:     cell.ofSilence,
	broken:     cell.ofNonsense,
	noise:      cell.ofNonsense,
	either:     func(cell, phase) []int { return []int{5, 7} },
	unexpected: cell.ofUnexpected,
	terminated: func(cell, phase) []int { return []int{-1} }, // the signal ends the command
	refused: func(c cell, _ phase) []int {
		if c.over.child {
			return []int{127}
		}
		return []int{3}
	},
	rejected: cell.ofRejection,
}

func (c cell) ofSilence(phase) []int {
	if c.over.child && strings.HasPrefix(c.fault.name, "half-recv") {
		return []int{7, 124} // writing fails, or there is nothing left to write
	}
	return []int{124}
}

// breaks reports whether a fault that is usually harmless has an effect on this transport.
func (f *fault) breaks(t *transport) bool {
	return f.name == "dup-head" || t.http && f.name == "dup-first" || t.events && f.name == "swap"
}

// ofLoss returns the statuses for a connection that is lost before it is established or before the awaited message.
func (c cell) ofLoss(at phase) []int {
	status := 7
	if at == head || at == greet {
		status = 3
	}
	if c.over.child && strings.HasPrefix(c.fault.name, "half-send") {
		return []int{status, 124} // a child that has closed stdout has a second to exit
	}
	return []int{status}
}

// ofNonsense returns the statuses for data that is not a message. If several responses are pending or a stream is open, the data
// cannot be assigned to a request, and the requests stay unanswered.
func (c cell) ofNonsense(at phase) []int {
	text := strings.HasPrefix(c.fault.name, "text-")
	switch {
	case text && c.over.events:
		return []int{5, 124} // an event is not a message, and more events may follow
	case at == head:
		return []int{3, 5}
	case c.over.child && (c.fault.kind == noise || at == greet):
		return []int{5, 124} // other output from a child is skipped
	case text && at == greet && c.run.peer == hotreplHost:
		return []int{5, 124} // the greeting is optional, and the real one may follow
	case text && (c.run.streams || c.run.calls > 1):
		return []int{5, 124}
	}
	return []int{5}
}

// ofUnexpected returns the statuses for a message that answers no request: either nothing else arrives, or the message is an invalid
// response. connect, which passes messages on, can also exit with 0.
func (c cell) ofUnexpected(phase) []int {
	switch {
	case c.run.name == "connect":
		return []int{0, 1, 5, 7, 124}
	case c.run.unexpected != nil:
		return c.run.unexpected
	}
	return []int{1, 5, 7, 124}
}

// ofRejection returns the statuses for an HTTP status: rejected credentials, a failing service, or no service.
func (c cell) ofRejection(phase) []int {
	switch c.fault.code {
	case 401, 403, 407:
		return []int{6}
	case 400, 429, 500:
		if c.over.http {
			return []int{1}
		}
	}
	return []int{3}
}

// ofSession returns the statuses for opening a session, a call in it, and closing it.
func (c cell) ofSession(at phase, one []int) [][]int {
	switch {
	case at == never || c.fault.kind == harmless && c.fault.name != "dup-head":
		return [][]int{{0}, {0}, {0}}
	case c.fault.name == "dup-head":
		return [][]int{{0}, {3, 5, 7}, {0, 3}} // the session exists for a short time
	case at == head && !c.over.http:
		return [][]int{one, {3}, {3}}
	}
	return [][]int{{0}, one, {0, 3}}
}

// ofRecord returns the statuses for a call through a recorder. A recorder passes messages on, answers 502 if there is no response,
// and ends one side in the way in which the other has ended.
func (c cell) ofRecord(at phase, one []int) []int {
	switch {
	case c.fault.kind == broken:
		return []int{0, 3, 5, 7, 124} // the recorder passes on messages that are too large for the tape
	case c.run.name == "record-server" && at == head && one[0] == 124:
		return []int{3, 7, 124} // the recorder and its client time out at the same time
	case c.fault.kind == unexpected:
		return append(one, 3)
	case one[0] == 0, one[0] == 124, c.fault.kind == rejected && c.over.http:
		return one
	case c.over.events && slices.Contains(one, 124):
		return []int{3, 5, 7, 124}
	case c.over.events:
		return []int{3, 5, 7}
	case c.over.http:
		return append(one, 3)
	}
	return append(one, 7)
}

// ofReplay returns the statuses for a tape that rpcx plays to the peer. Missing and extra messages are differences.
func (c cell) ofReplay(at phase, one []int) []int {
	switch {
	case c.fault.name == "none" || at == never:
		return one
	case c.fault.name == "dup-head":
		return []int{4, 5}
	case c.fault.anyOutput || c.fault.asks():
		return []int{0, 4}
	case one[0] == 0:
		return one
	case at == head && c.fault.kind == silent:
		return []int{3} // only --connect-timeout applies to this fault
	}
	return append(one, 4)
}

// messagePattern returns what the error message must contain.
func (f *fault) messagePattern(status int) *regexp.Regexp {
	text := ""
	switch {
	case status == 4:
		text = "differ"
	case f.code == 308:
		text = "redirected|404|cannot be reached"
	case f.kind == rejected && status != 7 && status != 124:
		text = fmt.Sprint(f.code)
	case status == 3:
		text = `cannot connect|refused|child|session|TLS|upgrade|handshake|ended|closed|lost|sends no more|502`
	case status == 5:
		text = `(?i)JSON|too large|larger|limit|frame|header|protocol|close|HTTP|malformed|gzip|bytes|has the id`
	case status == 7:
		text = `clos|lost|end|reset|exited`
	case status == 124:
		text = `(?i)time|no answer|within|stopped connecting|gave up|given up`
	default:
		return nil
	}
	return regexp.MustCompile(text)
}

// holdsOn reports whether a recorder can keep both sides open after its client has closed. Over TCP, the client has only
// half-closed and could still read, and the peer neither reads nor closes. The recorder closes both sides when TCP keep-alive
// fails, after more than a minute.
func (c cell) holdsOn() bool {
	if c.run.name != "record-server" || !strings.HasPrefix(c.over.listen, "tcp:") {
		return false
	}
	name := c.fault.name
	deaf := strings.HasPrefix(name, "gone-") || strings.HasPrefix(name, "half-recv-")
	return deaf || c.over.child && (name == "noclose" || strings.HasPrefix(name, "stopped-"))
}
