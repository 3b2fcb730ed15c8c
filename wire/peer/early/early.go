// Package early stores, within limits, the items of streams whose opening response has not arrived, and remembers ended
// streams.
package early

import (
	"bytes"

	"rpcx/wire"
	"rpcx/wire/peer/mailbox"
)

// Items stores items in order, until a response names their stream.
type Items struct {
	items []wire.Message
	size  int
	lost  map[string]int64 // the number of refused items by stream, for at most maxRecent streams
}

// Keep stores a copy of m and returns true. It refuses m and returns false if the items would exceed limit bytes, or if
// it may have refused an item of the same stream, because stored items must have no gaps. It counts refusals.
func (e *Items) Keep(m *wire.Message, limit int) bool {
	n := len(m.Raw) + mailbox.Overhead
	if e.size+n > limit || e.Missing(m.Stream) > 0 {
		e.lose(string(m.Stream))
		return false
	}
	e.items = append(e.items, m.Clone())
	e.size += n
	return true
}

// otherStreams is the key in lost of all streams without a separate count.
const otherStreams = ""

func (e *Items) lose(stream string) {
	if e.lost == nil {
		e.lost = map[string]int64{}
	}
	if len(e.lost) >= maxRecent && e.lost[stream] == 0 || len(stream) > maxRecentLength {
		stream = otherStreams
	}
	e.lost[stream]++
}

// Missing returns the number of refused items of a stream, or an upper bound if streams share a count.
func (e *Items) Missing(stream wire.ID) int64 {
	return e.lost[string(stream)] + e.lost[otherStreams]
}

// Take removes the items of one stream and returns them in order of arrival.
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

// Clear removes all items, returns them, and resets the counts of refused items.
func (e *Items) Clear() []wire.Message {
	items := e.items
	*e = Items{}
	return items
}

// These limits bound the tokens of a Recent set and their length.
const (
	maxRecent       = 1024
	maxRecentLength = 4096
)

// Recent is a set of the last maxRecent added tokens.
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
