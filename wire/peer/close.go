package peer

import (
	"context"
	"time"

	"rpcx/wire"
	"rpcx/wire/peer/ending"
)

// CloseWith sends the queued messages and closes the connection. The transport sends the code and the reason if it has
// a form for them. It does not wait for handlers. Done is closed when all goroutines have ended.
func (p *Peer) CloseWith(code int, reason string) error {
	p.mu.Lock()
	p.end.Leave()
	p.enterLocked(ending.Closing)
	p.end.Ours = true
	p.mu.Unlock()
	p.settle(p.o.CloseTimeout, p.outbox.idle)
	return wire.CloseWith(p.conn, code, reason)
}

// Close sends the dialect's closing messages, waits for handlers and their responses, and closes the connection.
// Options.CloseTimeout bounds each step. It cancels the contexts of handlers at once. After Close returns, no goroutine
// of p is running, so a handler must not call Close.
func (p *Peer) Close() error { return p.CloseAs(0, "") }

// CloseAs is like Close, but also sends a code and a reason if the transport has a form for them. For example, code
// 1001 tells the peer that a server is stopping and may come back.
func (p *Peer) CloseAs(code int, reason string) error {
	var err error
	p.once.Do(func() { err = p.shutDown(code, reason) })
	<-p.done
	return err
}

func (p *Peer) shutDown(code int, reason string) error {
	p.mu.Lock()
	p.end.Leave() // before the closing messages, after which many peers close the connection
	p.mu.Unlock()
	p.sendShutdown()
	p.mu.Lock()
	if p.end.State < ending.Ended {
		p.end.Ours = true
	}
	p.enterLocked(ending.Closing)
	p.mu.Unlock()
	p.cancel()
	p.flush()
	p.exchanges.cancel()
	return wire.CloseWith(p.conn, code, reason)
}

// sendShutdown sends the dialect's closing messages.
func (p *Peer) sendShutdown() {
	p.mu.Lock()
	alive := p.end.State == ending.Open
	p.mu.Unlock()
	if p.can.Shutdown == nil || !alive {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), p.o.CloseTimeout)
	defer cancel()
	if p.o.Hurry != nil {
		defer context.AfterFunc(p.o.Hurry, cancel)()
	}
	if f := wire.AsFault(p.can.Shutdown(ctx, p)); f != nil && f.Kind == wire.Helper { // others are ignored, because the peer may have disconnected
		p.note(Note{Kind: NoteUnsent, Text: "a closing message was not sent: " + f.Message})
	}
}

// flush waits, within limits, until the handlers have returned and their responses have been sent.
func (p *Peer) flush() {
	p.settle(p.o.CloseTimeout, p.quietLocked)
	p.settle(p.o.CloseTimeout, func() bool { return p.outbox.idle() && p.outbox.posting == 0 })
}

// quietLocked reports whether no handler is running. The caller holds the lock.
func (p *Peer) quietLocked() bool { return p.requests.Idle() && !p.notifications.Running }

// enterLocked moves to a later state. The caller holds the lock.
func (p *Peer) enterLocked(s ending.State) {
	p.end.Enter(s)
	p.change.Pass()
	p.outbox.room.Pass()
}

// hurriedStep bounds each remaining step of Close after Options.Hurry has ended. It is long enough to write the queued
// messages.
const hurriedStep = 50 * time.Millisecond

// settle waits until ok returns true, d has passed, Options.Hurry has ended, or the connection has ended. It calls ok
// with the lock held.
func (p *Peer) settle(d time.Duration, ok func() bool) {
	p.mu.Lock()
	settled := ok() || p.end.State == ending.Ended
	p.mu.Unlock()
	if settled { // avoids a timer, which would wake a thread
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	if p.o.Hurry != nil {
		defer context.AfterFunc(p.o.Hurry, func() { time.AfterFunc(hurriedStep, cancel) })()
	}
	_ = p.until(ctx, ok)
}

// Settle waits until no handler is running and all responses have been sent, or until ctx or the connection ends.
func (p *Peer) Settle(ctx context.Context) error {
	return p.until(ctx, func() bool { return p.quietLocked() && p.outbox.idle() })
}

// WaitReceived waits until the reader has read everything that the peer has sent so far and the handler has processed
// its notifications, or until ctx or the connection ends. If the connection supports this, the reader then stops
// reading.
func (p *Peer) WaitReceived(ctx context.Context) error {
	c, ok := p.conn.(wire.ReadCloser)
	ok = ok && c.CloseRead() == nil
	return p.until(ctx, func() bool { return !p.notifications.Running && (p.end.State != ending.Open || !ok) })
}

// WaitNotified waits until every received notification has been handled, or until ctx or the connection ends.
func (p *Peer) WaitNotified(ctx context.Context) error {
	return p.until(ctx, func() bool { return !p.notifications.Running })
}

// until waits until ok returns true, or until ctx or the connection ends. It calls ok with the lock held.
func (p *Peer) until(ctx context.Context, ok func() bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waitForLocked(ctx, &p.change, func() bool { return ok() || p.end.State == ending.Ended })
}

// waitForLocked waits until condition returns true. It calls condition with the lock held. It releases the lock while
// it waits, and holds it again when it returns. Every change that can make condition true must be followed by g.Pass.
// If ctx ends first, waitForLocked returns the error of ctx.
func (p *Peer) waitForLocked(ctx context.Context, g *wire.Gate, condition func() bool) error {
	for !condition() {
		if err := g.Await(ctx, &p.mu); err != nil {
			return err
		}
	}
	return nil
}
