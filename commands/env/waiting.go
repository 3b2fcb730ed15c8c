package env

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/dialect"
)

// noticeAfter is how long rpcx waits before it prints what it waits for.
const noticeAfter = 3 * time.Second

// Waiting prints on a terminal what rpcx is waiting for, if the wait lasts longer than noticeAfter. over ends the wait
// and removes the line.
func (run *Env) Waiting(what string) (over func()) {
	if !run.Stderr.Terminal {
		return func() {}
	}
	var mu sync.Mutex
	var ended, shown bool
	timer := time.AfterFunc(noticeAfter, func() {
		mu.Lock()
		defer mu.Unlock()
		if !ended {
			run.Console.Waiting("waiting for " + format.CleanLine(what))
			shown = true
		}
	})
	return func() {
		timer.Stop()
		mu.Lock()
		defer mu.Unlock()
		if ended = true; shown {
			run.Console.Clear()
			shown = false
		}
	}
}

// A stage is the step for which a request waits.
type stage uint8

const (
	connecting stage = iota
	handshake
	afterHandshake
)

// Connecting records that rpcx is connecting.
func (h *Sniffer) Connecting() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.enter(connecting, "the connection to "+h.e.String())
}

// Connected records that the connection is open. The handshake follows.
func (h *Sniffer) Connected(conn wire.Conn) wire.Conn {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stage == connecting { // not after a reconnect
		h.enter(handshake, "the "+h.e.Dialect+" handshake")
	}
	return conn
}

// Opened records that the request can be sent. ok reports a complete handshake.
func (h *Sniffer) Opened(ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.waited(); ok {
		h.stage = afterHandshake
	}
}

// enter starts the stage s, in which rpcx waits for what. The caller holds the lock.
func (h *Sniffer) enter(s stage, what string) {
	h.waited()
	h.stage, h.waited = s, h.run.Waiting(what)
}

// unfinished adds the step that is not complete to f, the failure of a request that was not sent.
func (h *Sniffer) unfinished(f *wire.Fault) *wire.Fault {
	if f.Kind != wire.Timeout || f.Hint != "" || h.stage == afterHandshake || h.stage == handshake && !h.hasHandshake() {
		return f
	}
	g := *f
	switch {
	case h.stage == connecting:
		g.Message += ": not connected"
	case len(h.first) == 0:
		g.Message += ": the peer sent nothing during the " + h.e.Dialect + " handshake"
	default:
		g.Message += fmt.Sprintf(": the peer sent %.80q during the %s handshake", bytes.TrimRight(h.first, "\r\n"), h.e.Dialect)
	}
	return &g
}

// hasHandshake reports whether the dialect has a handshake.
func (h *Sniffer) hasHandshake() bool {
	return h.e.Spec().NewCodec(dialect.CodecOptions{}).Abilities().Handshake != nil
}
