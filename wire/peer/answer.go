package peer

import (
	"bytes"
	"slices"

	"rpcx/wire"
)

// Answer sends raw, a whole response message, for a request that Incoming took;
// of several with that id, the oldest.
func (p *Peer) Answer(id wire.ID, raw []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.taken[string(id)]) == 0 {
		return &wire.Fault{Kind: wire.Usage, Message: "no request with id " + string(id) + " is open"}
	}
	in := p.taken[string(id)][0]
	p.untake(in)
	if p.state == ended {
		return p.noMore(nil, nil)
	}
	p.replyRaw(in, bytes.Clone(raw))
	return nil
}

// Answered says that a Raw message has answered the requests with these ids that
// Incoming took; of several with one id, the oldest.
func (p *Peer) Answered(ids ...wire.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range ids {
		if ins := p.taken[string(id)]; len(ins) > 0 {
			in := ins[0]
			p.untake(in)
			p.owesNothing(in)
		}
	}
}

// RejectOpen answers the requests that are still open by Incoming with e: all of
// them, or those with the ids that are given.
func (p *Peer) RejectOpen(e *wire.Error, ids ...wire.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, ins := range p.taken {
		if len(ids) > 0 && !slices.ContainsFunc(ids, func(w wire.ID) bool { return string(w) == id }) {
			continue
		}
		for _, in := range ins {
			_ = p.reply(in, failure(e))
			p.owesNothing(in)
			p.letGo(in)
		}
		delete(p.taken, id)
	}
	p.change.pass()
}

// Pending is how many calls of ours, streams included, and how many requests of
// the far side are under way.
func (p *Peer) Pending() (ours, theirs int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ours = len(p.calls)
	for _, s := range p.streams {
		if p.calls[s.id] != s {
			ours++
		}
	}
	for _, w := range p.watches {
		if w.follows {
			ours++
		}
	}
	return ours, p.held
}
