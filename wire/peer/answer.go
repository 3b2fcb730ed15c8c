package peer

import (
	"bytes"

	"rpcx/wire"
)

// Answer sends raw, a whole response message, for a request that Incoming took;
// of several with that id, the oldest.
func (p *Peer) Answer(id wire.ID, raw []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	in := p.inflight.oldest(id)
	if in == nil {
		return &wire.Fault{Kind: wire.Usage, Message: "no request with id " + string(id) + " is open"}
	}
	p.untakeLocked(in)
	if p.state == ended {
		return p.noMoreLocked(nil, nil)
	}
	p.replyRawLocked(in, bytes.Clone(raw))
	return nil
}

// Answered says that a Raw message has answered the requests with these ids that
// Incoming took; of several with one id, the oldest.
func (p *Peer) Answered(ids ...wire.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range ids {
		if in := p.inflight.oldest(id); in != nil {
			p.untakeLocked(in)
			p.owesNothingLocked(in)
		}
	}
}

// RejectOpen answers the requests that are still open by Incoming with e: all of
// them, or those with the ids that are given.
func (p *Peer) RejectOpen(e *wire.Error, ids ...wire.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, in := range p.inflight.untakeAll(ids) {
		p.refuseLocked(in, e)
	}
	p.change.pass()
}

// Pending is how many calls of ours, streams included, and how many requests of
// the far side are under way.
func (p *Peer) Pending() (ours, theirs int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls.count(), p.inflight.count
}
