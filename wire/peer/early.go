package peer

import (
	"bytes"

	"rpcx/wire"
)

// earlyItems keeps the items of streams that no response has named yet, in order,
// while a call waits for its first response.
type earlyItems struct {
	items []wire.Message
	size  int
}

// keep copies m; false if that would be more than limit bytes in all.
func (e *earlyItems) keep(m *wire.Message, limit int) bool {
	n := len(m.Raw) + overhead
	if e.size+n > limit {
		return false
	}
	e.items = append(e.items, m.Clone())
	e.size += n
	return true
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
	recentMost   = 1024
	recentLength = 4096
)

// recent is a set of the last recentMost tokens that were added to it.
type recent struct {
	in    map[string]int // token → how often it is in order
	order []string
	next  int // the place of the oldest, once order is full
}

func (r *recent) add(token string) {
	if len(token) > recentLength {
		return
	}
	if r.in == nil {
		r.in = map[string]int{}
	}
	r.in[token]++
	if len(r.order) < recentMost {
		r.order = append(r.order, token)
		return
	}
	old := r.order[r.next]
	if r.in[old]--; r.in[old] <= 0 {
		delete(r.in, old)
	}
	r.order[r.next] = token
	r.next = (r.next + 1) % recentMost
}

func (r *recent) has(token []byte) bool {
	_, ok := r.in[string(token)]
	return ok
}
