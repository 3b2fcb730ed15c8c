// Package early keeps, within limits, the items of streams that no response has named yet, and remembers the streams
// that have ended.
package early

import (
	"bytes"

	"rpcx/wire"
	"rpcx/wire/peer/mailbox"
)

// Items keeps the items of streams that no response has named yet, in order,
// while a call waits for its first response.
type Items struct {
	items []wire.Message
	size  int
	lost  map[string]int64 // the number of refused items, by stream; at most maxRecent streams
}

// Keep stores a copy of m and reports whether it did. It refuses m, and counts the refusal, if the stored items would
// exceed limit bytes, or if it has refused an item of the same stream before, because the stored items of a stream must
// have no gaps.
func (e *Items) Keep(m *wire.Message, limit int) bool {
	n := len(m.Raw) + mailbox.Overhead
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

// lose counts a refused item.
func (e *Items) lose(stream string) {
	if e.lost == nil {
		e.lost = map[string]int64{}
	}
	if len(e.lost) >= maxRecent && e.lost[stream] == 0 || len(stream) > maxRecentLength {
		stream = otherStreams
	}
	e.lost[stream]++
}

// Missing returns the number of refused items of a stream, or an upper bound if some streams share a count.
func (e *Items) Missing(stream wire.ID) int64 {
	return e.lost[string(stream)] + e.lost[otherStreams]
}

// Take removes and returns the items of one stream, in order of arrival.
func (e *Items) Take(stream wire.ID) []wire.Message {
	var theirs []wire.Message
	rest := e.items[:0]
	for _, m := range e.items {
		if bytes.Equal(m.Stream, stream) {
			theirs = append(theirs, m)
			e.size -= len(m.Raw) + mailbox.Overhead
		} else {
			rest = append(rest, m)
		}
	}
	clear(e.items[len(rest):])
	e.items = rest
	return theirs
}

// Clear removes and returns all items, and resets the counts of refused items.
func (e *Items) Clear() []wire.Message {
	items := e.items
	*e = Items{}
	return items
}

// These are the limits of a Recent set: the number of tokens, and their length.
const (
	maxRecent       = 1024
	maxRecentLength = 4096
)

// Recent is a set of the last maxRecent tokens that were added to it.
type Recent struct {
	in    map[string]int // the number of occurrences of each token in order
	order []string
	next  int // the index of the oldest token, when order is full
}

// Add adds token unless it is longer than maxRecentLength.
func (r *Recent) Add(token string) {
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

// Has reports whether token is in the set.
func (r *Recent) Has(token []byte) bool {
	_, ok := r.in[string(token)]
	return ok
}
