package relay

import (
	"context"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/peer"
	"rpcx/wire/scan"
)

// A session notifies the connected processes while its hooks work on a request from the peer. During that time, the
// peer may be waiting for rpcx, so those processes stop their timers.

// workingMethod is the method of that notification. Its params are true or false.
const workingMethod = "working"

// Working must be called with 1 when a hook starts to work, and with -1 when it stops. It can be called from any
// goroutine. It does not block.
func (s *Socket) Working(change int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.working > 0
	if s.working += change; before != (s.working > 0) {
		s.worked.Pass()
	}
}

// notifyWorking notifies p's process when hooks start or stop working. It returns when p ends.
func (s *Socket) notifyWorking(p *peer.Peer) {
	defer wire.Guard()
	for last := false; ; {
		s.mu.Lock()
		now, change := s.working > 0, s.worked.Wait()
		s.mu.Unlock()
		if now != last {
			last = now
			_ = p.Notify(context.Background(), dialect.Op{Kind: dialect.Notify, Method: workingMethod, Params: scan.JSON(now)})
			continue
		}
		select {
		case <-change:
		case <-p.Done():
			return
		}
	}
}

// OnWork sets f, which is called with 1 when a hook of the other process starts to work on a request from the peer,
// and with -1 when it stops.
func (r *Client) OnWork(f func(change int)) {
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
