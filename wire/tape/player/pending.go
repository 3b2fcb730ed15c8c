package player

import (
	"slices"

	"rpcx/wire/tape/transcript"
)

// A response is pending if its request has arrived, but not all messages that were recorded before the response.

// unblocked reports whether all messages that were recorded before the response at entry i have arrived. Its request
// does not count.
func (p *play) unblocked(i int32) bool {
	e := p.track.Entry(i)
	for call := range p.asked {
		if call <= e.Own || call >= i {
			continue
		}
		if answer := p.track.Entry(call).Answer; answer != transcript.None && answer < i {
			return false
		}
	}
	switch {
	case e.Need == e.Own, e.Need == transcript.None:
		return true
	case p.root(e.Need) == e.Own: // the request repeats, and its cause must arrive again each time
		return p.seen(e.Need) >= p.seen(e.Own)
	}
	return p.seen(e.Need) > 0 || p.furthest > e.Need || p.track.Optional(e.Need) // after a later entry, it is no longer expected
}

// root returns the entry of the other side that caused entry i. If entry i is the response to a local call, root returns the entry
// that caused the call. Otherwise it returns i.
func (p *play) root(i int32) int32 {
	for i != transcript.None {
		own := p.track.Entry(i).Own
		if own == transcript.None {
			break
		}
		i = p.track.Entry(own).Need
	}
	return i
}

// sendQueued sends one queued response that is not blocked.
func (e *engine) sendQueued() bool {
	for _, p := range e.plays {
		if p == nil {
			continue
		}
		for n, i := range p.queue {
			own := p.track.Entry(i).Own
			if len(p.owed[own]) == 0 {
				p.queue = slices.Delete(p.queue, n, n+1)
				return true
			}
			if p.unblocked(i) && !e.inReach(p, i) {
				p.queue = slices.Delete(p.queue, n, n+1)
				e.sendAnswer(p, i)
				return true
			}
		}
	}
	return false
}

// inReach reports whether a cursor will soon reach entry i.
func (e *engine) inReach(p *play, i int32) bool {
	for _, k := range e.cursors {
		if k.p != p || k.stream || k.next > i {
			continue
		}
		n := k.next
		for n <= i && p.track.Entry(n).Dir == e.side {
			n++
		}
		if n > i {
			return true
		}
	}
	return false
}

// release sends the first response in the queue, if any, even if it is blocked.
func (e *engine) release() {
	for _, p := range e.plays {
		if p != nil && len(p.queue) > 0 {
			i := p.queue[0]
			p.queue = p.queue[1:]
			if len(p.owed[p.track.Entry(i).Own]) > 0 {
				e.sendAnswer(p, i)
			}
			return
		}
	}
}
