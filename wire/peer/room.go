package peer

import (
	"sync"
	"time"

	"rpcx/wire"
)

// A Budget bounds what the peers that share it hold together to be sent. While it
// is spent, a peer that holds more than a little starts no further handler. The
// zero value has no bound.
type Budget struct {
	most int
	much int        // of bytes that are held, from which on told is told
	told func(bool) // that it is much, or no more; nil: nobody

	mu   sync.Mutex
	held int
	high bool          // told was told that it is much
	free chan struct{} // closed when there is room again; nil: nobody waits
}

// NewBudget returns one of that many bytes.
func NewBudget(most int) *Budget { return &Budget{most: most} }

// WhenMuch has told called when more than much bytes are held, and when it is less than half of that again. It is called with
// the Budget locked.
func (b *Budget) WhenMuch(much int, told func(bool)) *Budget {
	b.much, b.told = much, told
	return b
}

// hold takes n bytes, or gives -n back.
func (b *Budget) hold(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held += n
	if high := b.held > b.much || b.high && b.held > b.much/2; b.told != nil && high != b.high {
		b.high = high
		b.told(high)
	}
	if b.free != nil && b.held <= b.most {
		close(b.free)
		b.free = nil
	}
}

// spent returns, while too much is held, a channel that is closed when that is
// over; else nil.
func (b *Budget) spent() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.most <= 0 || b.held <= b.most {
		return nil
	}
	if b.free == nil {
		b.free = make(chan struct{})
	}
	return b.free
}

// memory is the part of a Peer that knows how much of ours the far side has not read.
type memory struct {
	held         int       // bytes that wait to be sent, those of arrays that are not complete included
	mostHeld     int       // the most that held has been
	awaitsBudget bool      // somebody passes outbox.room when the budget has room
	awaitsTurn   bool      // somebody passes it when the next handler may begin (turnLocked)
	begunAt      time.Time // when turnLocked last let one begin
	lastAnswer   int       // the size of the last answer; 0: there was none
}

// While the Budget is spent and the answers of a peer are larger than smallAnswer, or of unknown size, its handlers begin
// one after the other, at intervals in which most will have answered: of many that begin at once, each would add an answer
// beyond the bound. (That one waits for another's answer could be a deadlock, as they may depend on each other.)
const (
	smallAnswer = 64 << 10
	turnEvery   = 100 * time.Millisecond
)

// turnLocked reports whether the handler of in may begin while the Budget is spent.
func (p *Peer) turnLocked(in *inbound) bool {
	if in.begun || p.lastAnswer > 0 && p.lastAnswer <= smallAnswer {
		return true
	}
	if wait := turnEvery - time.Since(p.begunAt); wait > 0 {
		if !p.awaitsTurn {
			p.awaitsTurn = true
			time.AfterFunc(wait, p.nextTurn)
		}
		return false
	}
	p.begunAt, in.begun = time.Now(), true
	return true
}

// nextTurn lets one more handler begin.
func (p *Peer) nextTurn() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.awaitsTurn = false
	p.outbox.room.pass()
}

// learnLocked notes the size of an answer, by which it is told how those to come may be.
func (p *Peer) learnLocked(n int) {
	if p.lastAnswer = n; p.awaitsTurn && n <= smallAnswer {
		p.outbox.room.pass()
	}
}

// holdLocked notes that n bytes more, or -n less, wait to be sent.
func (p *Peer) holdLocked(n int) {
	p.held += n
	p.mostHeld = max(p.mostHeld, p.held)
	if p.o.Budget != nil {
		p.o.Budget.hold(n)
	}
}

// holdsTooMuchLocked reports whether the answer to in must wait until the far side
// has read more. What waits for room then goes on when that may have changed. What
// is held of the same array as in, which is not sent before it is whole, is no
// reason to wait.
func (p *Peer) holdsTooMuchLocked(in *inbound) bool {
	held := p.held
	if in.group != nil && !in.group.sent {
		held -= in.group.bytes
	}
	if held > floodBytes {
		return true
	}
	if p.o.Budget == nil {
		return false
	}
	free := p.o.Budget.spent()
	if free == nil {
		return false
	}
	if held <= roomBytes {
		return !p.turnLocked(in)
	}
	if !p.awaitsBudget {
		p.awaitsBudget = true
		p.wg.Go(func() { p.awaitBudget(free) })
	}
	return true
}

// MostHeld returns the largest number of bytes that have waited to be sent at once.
func (p *Peer) MostHeld() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mostHeld
}

// awaitBudget lets those go on who wait for room, once others hold less.
func (p *Peer) awaitBudget(free <-chan struct{}) {
	select {
	case <-free:
	case <-p.ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.awaitsBudget = false
	p.outbox.room.pass()
}

// room is the memory for the answer to one request.
type room struct {
	p  *Peer
	in *inbound
}

// Await waits while answers fill the memory that the far side does not read.
func (r room) Await() error {
	p, in := r.p, r.in
	p.mu.Lock()
	defer p.unlockAndTell()
	_ = p.waitForLocked(in.ctx, &p.outbox.room, func() bool { return p.state >= closing || !p.holdsTooMuchLocked(in) || in.overlong(p.o) })
	if in.overlong(p.o) {
		return wire.Errorf(wire.CodeServer, "the answers to this array take too much room: ask for less at once")
	}
	return nil
}

// Free reports whether there is room now.
func (r room) Free() bool {
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	return r.p.state >= closing || !r.p.holdsTooMuchLocked(r.in) && !r.in.overlong(r.p.o)
}

// Request returns the id of the request.
func (r room) Request() wire.ID { return r.in.Msg.ID }

// overlong reports whether the answer to the array that in came in, which is sent
// when it is whole, has its full length already, or more than there is room for.
func (in *inbound) overlong(o Options) bool {
	g := in.group
	if g == nil || g.sent {
		return false
	}
	return g.bytes > o.MaxMessage || g.bytes > roomBytes && o.Budget != nil && o.Budget.spent() != nil
}
