// Package inbound stores a peer's unfinished requests, their arrays, and its notifications. The lock of the connection
// guards all types.
package inbound

import (
	"context"
	"slices"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// Requests has these limits in addition to the number of requests.
const (
	mostBytes  = 128 << 20 // the total size of open requests; more are rejected
	mostQueued = 1 << 16   // how many requests may be queued
)

// A Request is one request from the peer.
type Request struct {
	dialect.Inbound
	Ctx    context.Context // the context of its handler
	Cancel context.CancelFunc
	Array  *Array // the array that contains the request, or nil

	Closed    bool // its handler has returned and can no longer emit events
	Cancelled bool // the peer has cancelled the request
	Begun     bool // its handler was allowed to start while the Budget was short (turnLocked)
	Replied   bool // the first response has been sent, or the request has none

	index int  // its index in Array
	taken bool // Incoming took the request, and its user will answer it
	goes  bool // the request has a response, and more responses will follow
}

// New returns a Request for m. a is the array in which m arrived, or nil. No Requests table contains it yet.
func New(m *wire.Message, a *Array) *Request {
	r := &Request{Array: a, index: a.owe()}
	r.Msg = m.Clone()
	return r
}

// Requests is the table of the peer's unfinished requests.
//
// Its rules:
//   - open contains a request while its handler runs (Start), or while the caller of Incoming can respond to it (Take).
//     bytes counts the same requests.
//   - unanswered counts a request from Arrive until its first response, or until no response can follow (Answered).
//   - While unanswered is not 0, the reader never stops for a slow consumer, because a handler may wait for an unread
//     message.
//   - When the number or the size reaches its limit, the reader stops, unless a request needs an unread message to finish
//     (see Crowded). If the reader must not stop, further requests are rejected at once.
//   - queue contains requests that the reader has already read, most of them from arrays. It is empty while every open
//     request is a stream (OnlyStreams), which can wait for a queued request or last forever.
type Requests struct {
	most       int
	open       map[*Request]struct{}
	queue      []*Request // requests that wait for room
	bytes      int        // the total size of the messages in open
	taken      int        // the number of requests that Incoming has taken
	streams    int        // the number of requests that have a response and continue
	unanswered int
	arrived    uint64
	refused    bool
}

// NewRequests returns a table for most concurrent requests.
func NewRequests(most int) Requests { return Requests{most: most, open: map[*Request]struct{}{}} }

// Order assigns the next number to a message that was just read, and returns it.
func (t *Requests) Order() uint64 {
	t.arrived++
	return t.arrived
}

// Arrive returns a Request for m, which was just read. a is the array in which m arrived, or nil. The caller must
// answer it.
func (t *Requests) Arrive(m *wire.Message, a *Array) *Request {
	r := New(m, a)
	r.Order = t.Order()
	t.unanswered++
	return r
}

// Answered records that the first response to r has been sent, or that r will have none. It returns true the first
// time.
func (t *Requests) Answered(r *Request) bool {
	if r.Replied {
		return false
	}
	r.Replied = true
	if r.Msg.Kind == wire.Request {
		t.unanswered--
	}
	return true
}

// Full reports whether another request of n bytes would exceed the limits.
func (t *Requests) Full(n int) bool {
	return len(t.open) >= t.most || len(t.open) > 0 && t.bytes+n > mostBytes
}

// Crowded reports whether the reader should stop until a request is finished. The reader must not stop while an open
// request may depend on an unread message: a stream needs the message that unsubscribes, and a taken request may need a
// message for its user.
func (t *Requests) Crowded() bool {
	return (t.Full(0) || t.bytes >= mostBytes || t.Queued()) && !t.Streaming() && t.taken == 0
}

// FirstRefusal returns true the first time a request is rejected. The user is warned only then.
func (t *Requests) FirstRefusal() bool {
	was := t.refused
	t.refused = true
	return !was
}

// Later queues a request until there is room for it. It returns false if the queue is full.
func (t *Requests) Later(r *Request) bool {
	if len(t.queue) >= mostQueued {
		return false
	}
	t.queue = append(t.queue, r)
	return true
}

// Next removes and returns the first queued request. It returns nil if no request is queued or there is no room.
func (t *Requests) Next() *Request {
	if len(t.queue) == 0 || t.Full(len(t.queue[0].Msg.Raw)) {
		return nil
	}
	r := t.queue[0]
	t.queue[0] = nil
	t.queue = t.queue[1:]
	return r
}

// Dequeue removes and returns all queued requests.
func (t *Requests) Dequeue() []*Request {
	all := t.queue
	t.queue = nil
	return all
}

// GoesOn records that r has its first response but is not finished.
func (t *Requests) GoesOn(r *Request) {
	if !r.goes {
		r.goes = true
		t.streams++
	}
}

// Start adds r before its handler runs.
func (t *Requests) Start(r *Request) {
	t.open[r] = struct{}{}
	t.bytes += len(r.Msg.Raw)
}

// Finish removes r after its handler has returned.
func (t *Requests) Finish(r *Request) {
	if r.goes {
		t.streams--
	}
	t.close(r)
}

// Take adds a request that went to Incoming instead of the handler.
func (t *Requests) Take(r *Request) {
	r.taken = true
	t.taken++
	t.Start(r)
}

// Untake removes a request that Take added, unless it has already been removed.
func (t *Requests) Untake(r *Request) {
	if r.taken {
		r.taken = false
		t.taken--
		t.close(r)
	}
}

func (t *Requests) close(r *Request) {
	delete(t.open, r)
	t.bytes -= len(r.Msg.Raw)
}

// Taken returns the taken requests with these ids, oldest first. Without ids, it returns all of them.
func (t *Requests) Taken(ids ...wire.ID) (all []*Request) {
	if t.taken == 0 {
		return nil
	}
	for r := range t.open {
		if r.taken && (len(ids) == 0 || slices.ContainsFunc(ids, r.has)) {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b *Request) int { return int(a.Order) - int(b.Order) })
	return all
}

func (r *Request) has(id wire.ID) bool { return string(r.Msg.ID.Key()) == string(id.Key()) }

// End cancels the handlers of requests with this id, and reports whether there were any.
func (t *Requests) End(id wire.ID) (found bool) {
	for r := range t.open {
		if !r.taken && r.has(id) {
			r.Cancelled, found = true, true
			r.Cancel()
		}
	}
	for _, r := range t.queue {
		if r.has(id) {
			r.Cancelled, found = true, true // Start cancels its context
		}
	}
	return found
}

// EndAll cancels all running handlers.
func (t *Requests) EndAll() {
	for r := range t.open {
		if !r.taken {
			r.Cancel()
		}
	}
}

// Idle reports whether no handler runs.
func (t *Requests) Idle() bool { return len(t.open) == t.taken }

// Len returns the number of open requests.
func (t *Requests) Len() int { return len(t.open) }

// Queued reports whether requests are waiting for room.
func (t *Requests) Queued() bool { return len(t.queue) > 0 }

// Unanswered reports whether any open request has no response yet.
func (t *Requests) Unanswered() bool { return t.unanswered > 0 }

// Streaming reports whether any request continues after its first response.
func (t *Requests) Streaming() bool { return t.streams > 0 }

// OnlyStreams reports whether all open requests continue after their first responses.
func (t *Requests) OnlyStreams() bool { return t.streams == len(t.open) }
