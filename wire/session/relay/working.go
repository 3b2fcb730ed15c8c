package relay

import (
	"context"
	"encoding/json"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/peer"
)

// The process of a session notifies the processes that use it while its hooks work on a request of the peer. The peer
// may be waiting for rpcx during that time, so these processes stop their timers.

// workingMethod is the notification for that. Its params are true or false.
const workingMethod = "working"

// Working is called by any goroutine when a hook begins (1) or ends (-1) to work. It does not
// block.
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

// wakeTeller makes tellWorking check again.
func (h *Process) wakeTeller() {
	wire.Wake(h.worked)
}

// tellWorking notifies h's process when hooks begin or stop working, until p ends.
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

// TellWork sets f, which is called when hooks of the process that holds the conversation begin (1)
// and end (-1) to work on a request of the peer.
func (r *Client) TellWork(f func(change int)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.work = f; r.working && f != nil {
		f(1)
	}
}

// setWorking records whether those hooks are working.
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
