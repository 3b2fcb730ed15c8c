package peer

import (
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/peer/inbound"
)

// A Budget bounds the bytes that wait to be sent on all the connections that share it,
// such as those of one listener. While it is exceeded, a peer that has more than a little
// (roomBytes) waiting starts no further handler. The zero value has no bound.
type Budget struct {
	most int
	much int        // held bytes above which told is called with true
	told func(bool) // nil means none

	mu   sync.Mutex
	held int
	high bool          // the last call of told was with true
	free chan struct{} // closed when handlers may begin again; nil means no waiter
}

// NewBudget returns a Budget of that many bytes.
func NewBudget(most int) *Budget { return &Budget{most: most} }

// WhenMuch makes b call told with true when more than much bytes are held, and with false when it is less than half of that
// again. told is called while the Budget is locked. WhenMuch returns b.
func (b *Budget) WhenMuch(much int, told func(bool)) *Budget {
	b.much, b.told = much, told
	return b
}

// Hold counts n more bytes as held; a negative n releases bytes.
func (b *Budget) Hold(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held += n
	if high := b.held > b.much || b.high && b.held > b.much/2; b.told != nil && high != b.high {
		b.high = high
		b.told(high)
	}
	if b.free != nil && b.held <= b.begun() {
		close(b.free)
		b.free = nil
	}
}

// begun returns the bytes up to which handlers begin. The rest is for the answers of handlers that run already.
func (b *Budget) begun() int { return b.most / 4 }

// spent returns nil while handlers may begin; else a channel that is closed when they may again.
func (b *Budget) spent() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.most <= 0 || b.held <= b.begun() {
		return nil
	}
	if b.free == nil {
		b.free = make(chan struct{})
	}
	return b.free
}

// share returns the bytes that the answers to one array may have: a fourth of what is left.
func (b *Budget) share() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return (b.begun() - b.held) / 4
}

// While the Budget is exceeded and the answers of a peer are larger than smallAnswer, or of unknown size, its handlers begin
// one after the other, turnEvery apart, a time in which most will have answered: if many began at once, each would add an
// answer beyond the bound. (A handler does not wait for the answer of the one before, which could be a deadlock: handlers
// may depend on each other.)
const (
	smallAnswer = 64 << 10
	turnEvery   = 100 * time.Millisecond
)

// turnLocked reports whether the handler of in may begin while the Budget is exceeded.
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

// nextTurn lets one more handler begin.
func (p *Peer) nextTurn() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outbox.awaitsTurn = false
	p.outbox.room.pass()
}

// holdsTooMuchLocked reports whether the answer to in must wait until the peer has
// read more. If so, outbox.room is passed when that may have changed. The other answers to
// the array that in came in are not counted: they are sent only with the answer to in.
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

// MostHeld returns the largest number of bytes that have waited to be sent at once.
func (p *Peer) MostHeld() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.outbox.mostHeld
}

// awaitBudget passes outbox.room once free is closed, so that handlers that wait look again.
func (p *Peer) awaitBudget(free <-chan struct{}) {
	select {
	case <-free:
	case <-p.ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outbox.awaitsBudget = false
	p.outbox.room.pass()
}

// flowControl is the dialect.FlowControl of one request.
type flowControl struct {
	p  *Peer
	in *inbound.Request
}

// Await waits while too many bytes of answers wait for the peer to read them. The error
// is for an array of requests whose answers together are too large.
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

// Free reports whether Await would return at once, without an error.
func (r flowControl) Free() bool {
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	return !r.p.end.Live() || !r.p.holdsTooMuchLocked(r.in) && !r.p.o.overlong(r.in)
}

// Request returns the id of the request that is being answered.
func (r flowControl) Request() wire.ID { return r.in.Msg.ID }

// overlong reports whether the answers to the array that in came in, which are sent
// together, are already longer than a message may be, or than their share of the Budget.
func (o *Options) overlong(in *inbound.Request) bool {
	n := in.Array.Bytes()
	return n > o.MaxMessage || n > roomBytes && o.Budget != nil && o.Budget.most > 0 && n > o.Budget.share()
}
