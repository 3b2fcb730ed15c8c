package peer

import (
	"context"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// CloseWith ends the connection with a code and a reason for the far side,
// where its transport has them, after what waits to be sent. It does not wait
// for handlers; Done is closed when all is over.
func (p *Peer) CloseWith(code int, reason string) error {
	p.mu.Lock()
	p.enterLocked(closing)
	p.ours = true
	p.mu.Unlock()
	p.settle(p.o.CloseTimeout, func() bool { return !p.outbox.running })
	return p.hangUp(code, reason)
}

// Close says goodbye where the dialect does, lets handlers end and answers get
// out, and closes the connection; each step is bounded. Contexts of handlers
// end at once. Nothing of p runs after it returns, so it must not be called by
// a handler.
func (p *Peer) Close() error { return p.CloseAs(0, "") }

// CloseAs is Close that tells the far side a code and a reason, where its
// transport has them: 1001 says that a server goes and may come back.
func (p *Peer) CloseAs(code int, reason string) error {
	var err error
	p.once.Do(func() { err = p.shutDown(code, reason) })
	<-p.done
	return err
}

func (p *Peer) shutDown(code int, reason string) error {
	p.leave()
	p.mu.Lock()
	if p.state < ended {
		p.ours = true
	}
	p.enterLocked(closing)
	p.mu.Unlock()
	p.cancel()
	p.settle(p.o.CloseTimeout, p.quietLocked)
	p.settle(p.o.CloseTimeout, func() bool { return !p.outbox.running })
	p.xcancel()
	return p.hangUp(code, reason)
}

// leave runs the dialect's goodbye.
func (p *Peer) leave() {
	l, ok := p.codec.(dialect.Shutdowner)
	p.mu.Lock()
	alive := p.state == open
	p.mu.Unlock()
	if !ok || !alive {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), p.o.CloseTimeout)
	defer cancel()
	if p.o.Hurry != nil {
		defer context.AfterFunc(p.o.Hurry, cancel)()
	}
	_ = l.Shutdown(ctx, p) // the far side may be past hearing it
}

// quietLocked reports whether no handler runs and all they said is on its way.
func (p *Peer) quietLocked() bool { return len(p.inflight.active) == 0 && !p.notifications.running }

// enterLocked moves to a later state.
func (p *Peer) enterLocked(s state) {
	p.state = max(p.state, s)
	p.change.pass()
	p.outbox.room.pass()
}

// hurriedStep is what each step of Close may take when Options.Hurry has ended: enough to
// write what is there.
const hurriedStep = 50 * time.Millisecond

// settle waits until ok holds, which is called with the mutex held: at most for d,
// and no longer than until the connection has ended, or Options.Hurry.
func (p *Peer) settle(d time.Duration, ok func() bool) {
	p.mu.Lock()
	settled := ok() || p.state == ended
	p.mu.Unlock()
	if settled { // as mostly: a timer wakes a thread
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	if p.o.Hurry != nil {
		defer context.AfterFunc(p.o.Hurry, func() { time.AfterFunc(hurriedStep, cancel) })()
	}
	_ = p.until(ctx, ok)
}

// Settle waits until no handler runs and all they said is on its way, no longer
// than until ctx or the connection ends.
func (p *Peer) Settle(ctx context.Context) error {
	return p.until(ctx, func() bool { return p.quietLocked() && !p.outbox.running })
}

// WaitReceived waits until all that the far side has sent so far was read and each
// notification among it was handled, no longer than until ctx or the connection
// ends. Where the connection can, it then reads no more.
func (p *Peer) WaitReceived(ctx context.Context) error {
	c, ok := p.conn.(interface{ CloseRead() error })
	ok = ok && c.CloseRead() == nil
	return p.until(ctx, func() bool { return !p.notifications.running && (p.state != open || !ok) })
}

// WaitNotified waits until every notification that has come was handled, no longer than
// until ctx or the connection ends.
func (p *Peer) WaitNotified(ctx context.Context) error {
	return p.until(ctx, func() bool { return !p.notifications.running })
}

// until waits until ok holds, which is called with the mutex held, no longer than
// until ctx or the connection ends.
func (p *Peer) until(ctx context.Context, ok func() bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waitForLocked(ctx, &p.change, func() bool { return ok() || p.state == ended })
}

// hangUp closes the connection with a code, where it has them.
func (p *Peer) hangUp(code int, reason string) error {
	if c, ok := p.conn.(wire.CloserWith); ok && code != 0 {
		return c.CloseWith(code, reason)
	}
	return p.conn.Close()
}

// gate lets goroutines wait, without the lock, for what happens under it.
type gate struct{ c chan struct{} }

// wait returns a channel that the next pass closes.
func (g *gate) wait() <-chan struct{} {
	if g.c == nil {
		g.c = make(chan struct{})
	}
	return g.c
}

// pass lets everyone go who waits.
func (g *gate) pass() {
	if g.c != nil {
		close(g.c)
		g.c = nil
	}
}

// waitForLocked waits until condition holds, which is called with the mutex held.
// The mutex is released while it waits, and held again when it returns. Whatever
// can make condition true must pass g. The error is ctx's, if ctx ends first.
func (p *Peer) waitForLocked(ctx context.Context, g *gate, condition func() bool) error {
	for !condition() {
		c := g.wait()
		p.unlockAndTell()
		select {
		case <-c:
		case <-ctx.Done():
		}
		p.mu.Lock()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}
