package peer

import (
	"bytes"
	"fmt"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// earlyItems keeps the items of streams that no response has named yet, in order,
// while a call waits for its first response.
type earlyItems struct {
	items []wire.Message
	size  int
	lost  map[string]int64 // the number of items by stream that were not kept; at most maxRecent streams
}

// keep stores a copy of m. It refuses m, and counts it, if more than limit bytes would be kept in
// all, or if an item of the same stream was refused before: the kept items of a stream have no
// gaps.
func (e *earlyItems) keep(m *wire.Message, limit int) bool {
	n := len(m.Raw) + overhead
	if e.size+n > limit || e.lost[string(m.Stream)] > 0 {
		e.lose(string(m.Stream))
		return false
	}
	e.items = append(e.items, m.Clone())
	e.size += n
	return true
}

// otherStreams is the key in lost for all streams that have no count of their own.
const otherStreams = ""

// lose counts an item that was not kept.
func (e *earlyItems) lose(stream string) {
	if e.lost == nil {
		e.lost = map[string]int64{}
	}
	if len(e.lost) >= maxRecent && e.lost[stream] == 0 || len(stream) > maxRecentLength {
		stream = otherStreams
	}
	e.lost[stream]++
}

// missing returns how many items of a stream were refused, or a lower bound of that.
func (e *earlyItems) missing(stream wire.ID) int64 {
	return e.lost[string(stream)] + e.lost[otherStreams]
}

// take removes and returns the items of one stream, in the order in which they
// came.
func (e *earlyItems) take(stream wire.ID) []wire.Message {
	var theirs []wire.Message
	rest := e.items[:0]
	for _, m := range e.items {
		if bytes.Equal(m.Stream, stream) {
			theirs = append(theirs, m)
			e.size -= len(m.Raw) + overhead
		} else {
			rest = append(rest, m)
		}
	}
	clear(e.items[len(rest):])
	e.items = rest
	return theirs
}

// The bounds of a recent set: how many tokens, and how long they may be.
const (
	maxRecent       = 1024
	maxRecentLength = 4096
)

// recent is a set of the last maxRecent tokens that were added to it.
type recent struct {
	in    map[string]int // token → how often it is in order
	order []string
	next  int // the place of the oldest, once order is full
}

func (r *recent) add(token string) {
	if len(token) > maxRecentLength {
		return
	}
	if r.in == nil {
		r.in = map[string]int{}
	}
	r.in[token]++
	if len(r.order) < maxRecent {
		r.order = append(r.order, token)
		return
	}
	old := r.order[r.next]
	if r.in[old]--; r.in[old] <= 0 {
		delete(r.in, old)
	}
	r.order[r.next] = token
	r.next = (r.next + 1) % maxRecent
}

func (r *recent) has(token []byte) bool {
	_, ok := r.in[string(token)]
	return ok
}

// catchUpLocked delivers to s the items of its stream that came before the stream was named.
func (p *Peer) catchUpLocked(s *stream, e *earlyItems) {
	items := e.take(wire.ID(s.token))
	for i := range items {
		p.deliverLocked(s, &items[i])
	}
	lost := e.missing(wire.ID(s.token))
	switch {
	case lost == 0 || s.ended:
	case p.o.Lossy:
		s.lost += lost
	default:
		p.leaveStreamLocked(s, &wire.Fault{Kind: wire.IO, Method: s.op.Method, Message: fmt.Sprintf(
			"%d items of its stream came before %s was answered and were lost: more than %d bytes of them waited for the answer that names the stream",
			lost, quoted(s.op.Method), p.o.StreamBuffer)}, false)
	}
}

// adoptLocked delivers a stream that has ended before any response named it to the only call that
// can have asked for it.
func (p *Peer) adoptLocked(s *stream, token wire.ID, e *earlyItems) {
	p.calls.setWaiting(s, false)
	p.calls.name(s, token)
	p.catchUpLocked(s, e)
	p.calls.abandon(s) // its response may still come
}

// releaseEarlyLocked turns items that no call can claim any more into notifications.
func (p *Peer) releaseEarlyLocked() {
	for items := p.calls.unclaimed(); len(items) > 0; items = p.calls.unclaimed() {
		for i := range items {
			p.unclaimedLocked(&items[i])
		}
	}
}

// acknowledges reports whether the body of an answer only confirms the request: null, true or {}.
func acknowledges(body []byte) bool {
	switch scan.Type(body) {
	case 0, '0', 't':
		return true
	case 'o':
		return len(bytes.TrimSpace(body[1:])) == 1
	}
	return false
}
