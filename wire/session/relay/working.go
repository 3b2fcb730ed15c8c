package relay

import (
	"context"
	"encoding/json"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/peer"
)

// The process that holds a session tells those that use it whether hooks of its own are at
// work on what the peer asks: as long as they are, nothing of the peer is waited for.

// workingMethod is the notification that says so: its params are true or false.
const workingMethod = "working"

// Working is told that a hook begins (1) or ends (-1) to work, by any goroutine. It waits for
// nobody.
func (s *Socket) Working(change int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.working > 0
	if s.working += change; before == (s.working > 0) {
		return
	}
	for _, h := range s.peers {
		h.wakeTeller()
	}
}

// wakeTeller has the process told, if there is something new.
func (h *Process) wakeTeller() {
	select {
	case h.worked <- struct{}{}:
	default: // it is about to look
	}
}

// tellWorking tells h whether hooks are at work, whenever that has changed, until p ends.
func (s *Socket) tellWorking(h *Process, p *peer.Peer) {
	defer wire.Guard()
	for told := false; ; {
		select {
		case <-h.worked:
		case <-p.Done():
			return
		}
		s.mu.Lock()
		now := s.working > 0
		s.mu.Unlock()
		if now == told {
			continue
		}
		told = now
		said := json.RawMessage("false")
		if now {
			said = json.RawMessage("true")
		}
		_ = p.Notify(context.Background(), dialect.Op{Kind: dialect.Notify, Method: workingMethod, Params: said})
	}
}

// TellWork has f told when hooks of the process that holds the conversation begin (1) and end
// (-1) to work on what the peer asks.
func (r *Client) TellWork(f func(change int)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.work = f; r.working && f != nil {
		f(1)
	}
}

// setWorking notes whether those hooks are at work.
func (r *Client) setWorking(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.working == on {
		return
	}
	r.working = on
	switch {
	case r.work == nil:
	case on:
		r.work(1)
	default:
		r.work(-1)
	}
}
