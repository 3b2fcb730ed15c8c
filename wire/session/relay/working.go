package relay

import (
	"context"
	"encoding/json"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/peer"
)

// A session's process notifies its users while its hooks work on a request of the peer. During that time, the peer may
// be waiting for rpcx, and the users stop their timers.

// workingMethod is the method of that notification. Its params are true or false.
const workingMethod = "working"

// Working counts a hook that starts (1) or stops (-1) working. Any goroutine may call it. It does not block.
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

func (h *Process) wakeTeller() {
	wire.Wake(h.worked)
}

// tellWorking notifies h's process when hooks start or stop working, until p ends.
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

// TellWork sets f, which receives 1 when a hook of the owning process starts to work on a request of the peer, and -1
// when it stops.
func (r *Client) TellWork(f func(change int)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.work = f; r.working && f != nil {
		f(1)
	}
}

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
