package peer

import (
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/peer/inbound"
)

// A Budget bounds the total of unsent bytes of the connections that share it, such as those of one listener. While the
// total exceeds a quarter of the Budget, a peer with more than roomBytes of unsent bytes starts no further handler. The
// zero value has no limit.
type Budget struct {
	Most int // in bytes
	// OnHigh is called with true when the total rises above High bytes, and with false when it falls to half of that.
	// The Budget holds its lock during the call. OnHigh may be nil.
	OnHigh func(high bool)
	High   int

	mu   sync.Mutex
	held int
	high bool      // the latest argument of OnHigh
	free wire.Gate // opens when handlers can start again
}

// Hold adds n bytes to the total. A negative n releases bytes.
func (b *Budget) Hold(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held += n
	if high := b.held > b.High || b.high && b.held > b.High/2; b.OnHigh != nil && high != b.high {
		b.high = high
		b.OnHigh(high)
	}
	if b.held <= b.begun() {
		b.free.Pass()
	}
}

// begun returns the total in bytes up to which handlers may start. The rest of the Budget is reserved for the responses
// of handlers that are already running.
func (b *Budget) begun() int { return b.Most / 4 }

// spent returns nil while handlers may start. Otherwise it returns a channel that is closed when they may start again.
func (b *Budget) spent() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Most <= 0 || b.held <= b.begun() {
		return nil
	}
	return b.free.Wait()
}

// lacks reports whether the Budget has no room for a response of n bytes. Small responses always have room, and so does
// any response that arrives before the total has reached a quarter of the Budget.
func (b *Budget) lacks(n int) bool {
	if b == nil || n <= smallAnswer {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Most > 0 && b.held > b.begun() && b.held+n > b.Most
}

// share returns the maximum size in bytes of the responses to one array: a fourth of what handlers may still add before
// the total reaches begun.
func (b *Budget) share() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return (b.begun() - b.held) / 4
}

// While the total exceeds a quarter of the Budget and a peer's responses are larger than smallAnswer, or of unknown
// size, the peer's handlers start one at a time, at intervals of turnEvery. Most handlers respond within that time. If
// many handlers started at once, each would add a response beyond the limit. (A handler does not wait for the response
// of the previous one, because handlers may depend on each other and could deadlock.)
const (
	smallAnswer = 64 << 10
	turnEvery   = 100 * time.Millisecond
)

// turnLocked reports whether the handler of in may start while the total exceeds a quarter of the Budget. The caller
// holds the lock.
func (p *Peer) turnLocked(in *inbound.Request) bool {
	if in.Begun || p.outbox.lastAnswer > 0 && p.outbox.lastAnswer <= smallAnswer {
		return true
	}
	if wait := turnEvery - time.Since(p.outbox.begunAt); wait > 0 {
		if !p.outbox.awaitsTurn {
			p.outbox.awaitsTurn = true
			time.AfterFunc(wait, func() { p.openRoom(&p.outbox.awaitsTurn) })
		}
		return false
	}
	p.outbox.begunAt, in.Begun = time.Now(), true
	return true
}

// openRoom opens outbox.room: waiting handlers check again whether they may start. awaits is the flag of the timer or goroutine
// that calls openRoom.
func (p *Peer) openRoom(awaits *bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*awaits = false
	p.outbox.room.Pass()
}

// holdsTooMuchLocked reports whether the handler of in must wait until the peer has read more responses. If so,
// outbox.room opens when the answer may have changed. The other responses to in's array do not count, because they are
// sent together with the response to in. The caller holds the lock.
func (p *Peer) holdsTooMuchLocked(in *inbound.Request) bool {
	held := p.outbox.held - in.Array.Bytes()
	if held > floodBytes {
		return true
	}
	if p.outbox.budget == nil {
		return false
	}
	free := p.outbox.budget.spent()
	if free == nil {
		return false
	}
	if held <= roomBytes {
		return !p.turnLocked(in)
	}
	if !p.outbox.awaitsBudget {
		p.outbox.awaitsBudget = true
		p.wg.Go(func() {
			wire.Either(free, p.ctx.Done())
			p.openRoom(&p.outbox.awaitsBudget)
		})
	}
	return true
}

// MostHeld returns the largest number of unsent bytes so far.
func (p *Peer) MostHeld() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.outbox.mostHeld
}

// busyLocked returns the error for a request with this method above the limit. The caller holds the lock.
func (p *Peer) busyLocked(method string) *wire.Error {
	if p.requests.FirstRefusal() {
		p.noteLocked(Note{Kind: NoteBusy, Method: method, Text: "too many requests are pending: some were rejected"})
	}
	return wire.TryAgain("busy")
}

// waitsLocked reports whether a request above the limit may wait. It may if it is part of an array, or if the reader
// can stop after it. Exchanges are read concurrently, so none of their requests may wait. No request may wait for
// streams (see refuseQueuedLocked). The caller holds the lock.
func (p *Peer) waitsLocked(g *inbound.Array) bool {
	return p.o.Incoming == nil && !p.requests.OnlyStreams() && (g != nil || p.exchanger == nil && p.calls.waiting == 0 && !p.requests.Streaming())
}

// refuseQueuedLocked refuses the queued requests if the connection is being closed, or if every open request is a
// stream. The caller holds the lock.
//
// A stream waits in emit for the other responses to its array. If one of these requests waited for the end of the
// stream, neither would end. While a request is queued, at least one open request is not a stream. It waits for no
// array, and therefore ends or becomes a stream. Both lead to another call of refuseQueuedLocked. (Starting the queued
// requests above the limit would let one array start a hook's process for each of its messages.)
func (p *Peer) refuseQueuedLocked() {
	if p.end.Live() && !p.requests.OnlyStreams() {
		return
	}
	for _, in := range p.requests.Dequeue() {
		e := errClosing()
		if p.end.Live() {
			e = p.busyLocked(in.Msg.Method)
		}
		p.refuseLocked(in, e)
	}
}

// flowControl implements dialect.FlowControl for one request.
type flowControl struct {
	p  *Peer
	in *inbound.Request
}

// Await waits while the peer has too many unread responses. It returns an error if the responses to the request's array
// are too large in total.
func (r flowControl) Await() error {
	p, in := r.p, r.in
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.waitForLocked(in.Ctx, &p.outbox.room, func() bool { return !p.end.Live() || !p.holdsTooMuchLocked(in) || p.o.overlong(in) })
	if p.o.overlong(in) {
		return wire.Errorf(wire.CodeServer, "the responses to this batch are too large: send fewer requests at once")
	}
	return nil
}

// Free reports whether Await would return nil at once.
func (r flowControl) Free() bool {
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	return !r.p.end.Live() || !r.p.holdsTooMuchLocked(r.in) && !r.p.o.overlong(r.in)
}

// Request returns the request's id.
func (r flowControl) Request() wire.ID { return r.in.Msg.ID }

// overlong reports whether the responses to in's array exceed the maximum message size, or their share of the Budget.
// They are sent together.
func (o *Options) overlong(in *inbound.Request) bool {
	n := in.Array.Bytes()
	return n > o.MaxMessage || n > roomBytes && o.Budget != nil && o.Budget.Most > 0 && n > o.Budget.share()
}
