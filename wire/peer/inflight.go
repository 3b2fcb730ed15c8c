package peer

import (
	"bytes"
	"slices"

	"rpcx/wire"
)

// inflight is the part of a Peer that holds the peer's requests that are not done.
//
// Its rules:
//   - A request is in active while its handler runs, or in taken while whoever took it from
//     Incoming may answer it; never in both.
//   - Each counts in count and bytes until its answer can be sent.
//   - It counts in unanswered until its first answer, or until it is certain that none comes. While
//     unanswered is not 0 the reader never stops for a slow consumer: the handler may wait for a
//     message that is still to be read.
//   - When count or bytes are at their limits the reader stops, unless a message that is still to
//     be read may be needed to finish a request (see crowded). If it must not stop, a further
//     request is refused at once; only the other requests of an array, which has been read already,
//     wait in queue.
type inflight struct {
	active     map[*inbound]struct{}
	taken      map[string][]*inbound // by id; several may have one id, the oldest first
	queue      []*inbound            // requests of arrays that wait for room
	count      int                   // those in active and taken
	bytes      int                   // of their messages
	streams    int                   // requests in active that have been answered and go on
	unanswered int
	toldBusy   bool // the user was told that requests are refused
	arrived    uint64
}

// maxQueuedRequests bounds the requests in queue; further ones are refused.
const maxQueuedRequests = 1 << 16

func newInflight() inflight {
	return inflight{active: map[*inbound]struct{}{}, taken: map[string][]*inbound{}}
}

// arrive returns the number of a request or notification that has been read, by which the order is
// known.
func (f *inflight) arrive() uint64 {
	f.arrived++
	return f.arrived
}

// full reports whether a further request of n bytes would exceed the limits.
func (f *inflight) full(n, most int) bool {
	return f.count >= most || f.count > 0 && f.bytes+n > heldBytes
}

// crowded reports whether the reader should stop until a request is done. It must not stop while an
// open request may depend on a message that is still to be read: a stream on its unsubscribe, or a
// request that Incoming took on whatever its user waits for.
func (f *inflight) crowded(most int) bool {
	return (f.full(0, most) || f.bytes >= heldBytes || len(f.queue) > 0) && f.streams == 0 && len(f.taken) == 0
}

// later queues a request until there is room; false if too many wait already.
func (f *inflight) later(in *inbound) bool {
	if len(f.queue) >= maxQueuedRequests {
		return false
	}
	f.queue = append(f.queue, in)
	return true
}

// next removes and returns the first request of queue if there is room for it now; else nil.
func (f *inflight) next(most int) *inbound {
	if len(f.queue) == 0 || f.full(len(f.queue[0].Msg.Raw), most) {
		return nil
	}
	in := f.queue[0]
	f.queue[0] = nil
	f.queue = f.queue[1:]
	return in
}

// goesOn notes that in, which is in active, has been answered but is not done.
func (f *inflight) goesOn(in *inbound) {
	if !in.stream {
		in.stream = true
		f.streams++
	}
}

// start adds a request whose handler is about to run.
func (f *inflight) start(in *inbound) {
	f.active[in] = struct{}{}
	f.hold(in)
}

// finish removes a request whose handler has returned.
func (f *inflight) finish(in *inbound) {
	delete(f.active, in)
	if in.stream {
		f.streams--
	}
	f.release(in)
}

// take adds a request that is offered to Incoming.
func (f *inflight) take(in *inbound) {
	id := string(in.Msg.ID)
	f.taken[id] = append(f.taken[id], in)
	f.hold(in)
}

// untake removes a request that take has added; false if it is gone already.
func (f *inflight) untake(in *inbound) bool {
	id := string(in.Msg.ID)
	i := slices.Index(f.taken[id], in)
	if i < 0 {
		return false
	}
	if f.taken[id] = slices.Delete(f.taken[id], i, i+1); len(f.taken[id]) == 0 {
		delete(f.taken, id)
	}
	f.release(in)
	return true
}

// oldest returns the oldest taken request with that id, or nil.
func (f *inflight) oldest(id wire.ID) *inbound {
	if ins := f.taken[string(id)]; len(ins) > 0 {
		return ins[0]
	}
	return nil
}

// untakeAll removes and returns the taken requests with these ids; all of them
// if no id is given.
func (f *inflight) untakeAll(ids []wire.ID) []*inbound {
	var all []*inbound
	for id, ins := range f.taken {
		if len(ids) > 0 && !slices.ContainsFunc(ids, func(w wire.ID) bool { return string(w) == id }) {
			continue
		}
		for _, in := range ins {
			f.release(in)
		}
		all = append(all, ins...)
		delete(f.taken, id)
	}
	return all
}

// cancel ends the contexts of the running handlers of requests with that id, and
// reports whether there was one.
func (f *inflight) cancel(id wire.ID) (found bool) {
	for in := range f.active {
		if string(in.Msg.ID) == string(id) {
			in.cancelled, found = true, true
			in.cancel()
		}
	}
	for _, in := range f.queue {
		if string(in.Msg.ID) == string(id) {
			in.cancelled, found = true, true // startLocked ends its context
		}
	}
	return found
}

// cancelAll ends the contexts of all running handlers.
func (f *inflight) cancelAll() {
	for in := range f.active {
		in.cancel()
	}
}

func (f *inflight) hold(in *inbound) {
	f.count++
	f.bytes += len(in.Msg.Raw)
}

func (f *inflight) release(in *inbound) {
	f.count--
	f.bytes -= len(in.Msg.Raw)
}

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

// Answered notes that a Raw message has answered the requests with these ids that Incoming took; of
// several with one id, the oldest.
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

// RejectOpen answers with e all requests that Incoming took and that are still open, or those among
// them with the given ids.
func (p *Peer) RejectOpen(e *wire.Error, ids ...wire.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, in := range p.inflight.untakeAll(ids) {
		p.refuseLocked(in, e)
	}
	p.change.pass()
}

// Pending returns how many calls of ours, streams included, and how many requests
// of the far side are under way.
func (p *Peer) Pending() (ours, theirs int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls.count(), p.inflight.count
}
