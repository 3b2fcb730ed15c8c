// Package early stores a bounded number of items whose stream no response has named yet, and remembers the tokens of
// ended streams.
package early

import (
	"bytes"

	"rpcx/wire"
	"rpcx/wire/peer/mailbox"
)

// Items stores items in order until a response names their stream.
type Items struct {
	items []wire.Message
	size  int
	lost  map[string]int64 // the number of refused items of each stream, for at most maxRecent streams
}

// Keep stores a copy of m and returns true. It refuses m and returns false if the items would exceed limit bytes, or if
// it may already have refused an item of the same stream, because the stored items of a stream must have no gaps. It
// counts refusals.
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

// otherStreams is the key in lost for all streams that have no count of their own.
const otherStreams = ""

func (e *Items) lose(stream string) {
	if len(e.lost) >= maxRecent && e.lost[stream] == 0 || len(stream) > maxRecentLength {
		stream = otherStreams
	}
	wire.Put(&e.lost, stream, e.lost[stream]+1)
}

// Missing returns the number of refused items of a stream. It is an upper bound if several streams share a count.
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

// These constants limit the number of tokens in a Recent and the length of each.
const (
	maxRecent       = 1024
	maxRecentLength = 4096
)

// Recent is a set of the tokens that were added last: at least half of maxRecent, and at most maxRecent.
type Recent struct{ latest, earlier map[string]bool }

// Add adds token, unless token is longer than maxRecentLength.
func (r *Recent) Add(token string) {
	if len(token) > maxRecentLength {
		return
	}
	if len(r.latest) >= maxRecent/2 {
		r.earlier, r.latest = r.latest, nil
	}
	wire.Put(&r.latest, token, true)
}

// Has reports whether token is in the set.
func (r *Recent) Has(token []byte) bool { return r.latest[string(token)] || r.earlier[string(token)] }
