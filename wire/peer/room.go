package peer

import (
	"sync"

	"rpcx/wire"
)

// A Budget bounds what the peers that share it hold together to be sent. While it
// is spent, a peer that holds more than a little starts no further handler. The
// zero value has no bound.
type Budget struct {
	most int

	mu   sync.Mutex
	held int
	free chan struct{} // closed when there is room again; nil: nobody waits
}

// NewBudget returns one of that many bytes.
func NewBudget(most int) *Budget { return &Budget{most: most} }

// hold takes n bytes, or gives -n back.
func (b *Budget) hold(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held += n
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
	if p.o.Budget == nil || held <= roomBytes {
		return false
	}
	free := p.o.Budget.spent()
	if free == nil {
		return false
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
