package peer

import (
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/peer/inbound"
)

// A Budget bounds the unsent bytes of all connections that share it, such as those of one listener. While the total
// exceeds the Budget, a peer with more than roomBytes of unsent bytes starts no further handler. The zero value has no
// limit.
type Budget struct {
	most int
	much int        // told receives true above this number of bytes
	told func(bool) // may be nil

	mu   sync.Mutex
	held int
	high bool      // the last argument of told
	free wire.Gate // opens when handlers may start again
}

// NewBudget returns a Budget of most bytes.
func NewBudget(most int) *Budget { return &Budget{most: most} }

// WhenMuch makes b call told with true above much bytes, and with false at half of much. b calls told under its lock.
// WhenMuch returns b.
func (b *Budget) WhenMuch(much int, told func(bool)) *Budget {
	b.much, b.told = much, told
	return b
}

// Hold adds n bytes to the total. A negative n releases bytes.
func (b *Budget) Hold(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held += n
	if high := b.held > b.much || b.high && b.held > b.much/2; b.told != nil && high != b.high {
		b.high = high
		b.told(high)
	}
	if b.held <= b.begun() {
		b.free.Pass()
	}
}

// begun returns the number of bytes up to which handlers may start. The rest of the Budget is for the responses of
// running handlers.
func (b *Budget) begun() int { return b.most / 4 }

// spent returns nil while handlers may start. Otherwise it returns a channel that is closed when they may start again.
func (b *Budget) spent() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.most <= 0 || b.held <= b.begun() {
		return nil
	}
	return b.free.Wait()
}

// lacks reports whether a response of n bytes would exceed the Budget. A single response never does.
func (b *Budget) lacks(n int) bool {
	if b == nil || n <= smallAnswer {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.most > 0 && b.held > b.begun() && b.held+n > b.most
}

// share returns the limit in bytes for the responses to one array: a fourth of the rest.
func (b *Budget) share() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return (b.begun() - b.held) / 4
}

// While the total exceeds the Budget and a peer's responses are larger than smallAnswer, or of unknown size, the peer's
// handlers start one after another, turnEvery apart. Most handlers respond in that time. If many handlers started at
// once, each would add a response beyond the limit. (A handler does not wait for its predecessor's response, because
// handlers may depend on each other and could deadlock.)
const (
	smallAnswer = 64 << 10
	turnEvery   = 100 * time.Millisecond
)

// turnLocked reports whether the handler of in may start although the total exceeds the Budget. The caller holds the
// lock.
func (p *Peer) turnLocked(in *inbound.Request) bool {
	if in.Begun || p.outbox.lastAnswer > 0 && p.outbox.lastAnswer <= smallAnswer {
		return true
	}
	if wait := turnEvery - time.Since(p.outbox.begunAt); wait > 0 {
		if !p.outbox.awaitsTurn {
			p.outbox.awaitsTurn = true
			time.AfterFunc(wait, p.nextTurn)
		}
		return false
	}
	p.outbox.begunAt, in.Begun = time.Now(), true
	return true
}

// nextTurn lets one more handler start.
func (p *Peer) nextTurn() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outbox.awaitsTurn = false
	p.outbox.room.Pass()
}

// holdsTooMuchLocked reports whether the response to in must wait until the peer has read more. If so, outbox.room
// opens when the result may have changed. It does not count the other responses to in's array, because they are sent
// together with that to in. The caller holds the lock.
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
		p.wg.Go(func() { p.awaitBudget(free) })
	}
	return true
}

// MostHeld returns the maximum of unsent bytes so far.
func (p *Peer) MostHeld() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.outbox.mostHeld
}

// awaitBudget opens outbox.room when free is closed, which makes waiting handlers check again.
func (p *Peer) awaitBudget(free <-chan struct{}) {
	select {
	case <-free:
	case <-p.ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outbox.awaitsBudget = false
	p.outbox.room.Pass()
}

// flowControl implements dialect.FlowControl for one request.
type flowControl struct {
	p  *Peer
	in *inbound.Request
}

// Await waits while the peer has too many bytes of responses to read. Its error is for an array whose responses are too
// large in total.
func (r flowControl) Await() error {
	p, in := r.p, r.in
	p.mu.Lock()
	defer p.unlockAndTell()
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

// overlong reports whether the responses to in's array, which are sent together, exceed the maximum message size or
// their share of the Budget.
func (o *Options) overlong(in *inbound.Request) bool {
	n := in.Array.Bytes()
	return n > o.MaxMessage || n > roomBytes && o.Budget != nil && o.Budget.most > 0 && n > o.Budget.share()
}
