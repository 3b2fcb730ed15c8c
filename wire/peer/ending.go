package peer

import (
	"context"
	"fmt"
	"io"
	"time"

	"rpcx/wire"
	"rpcx/wire/peer/ending"
)

// PeerEnd returns how the peer ended the connection. It returns nil before Done is closed, and if a local close began
// before the peer ended the connection.
func (p *Peer) PeerEnd() error {
	if !wire.IsClosed(p.done) {
		return nil
	}
	p.mu.Lock() // a handler may still call CloseWith
	defer p.mu.Unlock()
	return p.end.Remote()
}

// read is the reader's goroutine, the last goroutine of p to end. Only read decides that the connection has ended.
func (p *Peer) read() {
	defer wire.Guard()
	defer close(p.done)
	err := p.receiveAll()
	p.wakeAll() // for messages that arrived just before the connection ended
	gone := p.peerClosed(err)
	if err == io.EOF && p.asksInExchange() {
		p.mu.Lock()
		p.enterLocked(ending.EOF)
		p.mu.Unlock()
		p.drain(gone) // responses to local calls can still arrive in other exchanges
		p.o.Exchanges.forget(p)
	}
	p.failAll(err)
	switch {
	case err == io.EOF:
		p.drain(gone)
	case ending.Broken(err): // earlier requests are still answered
		p.flush()
	case ending.Goodbye(err):
		p.finishNotifications()
	}
	p.mu.Lock()
	p.enterLocked(ending.Ended)
	p.end.Finish(err)
	p.mu.Unlock()
	p.cancel()
	p.exchanges.cancel()
	code, reason := ending.Code(err)
	_ = wire.CloseWith(p.conn, code, reason)
	p.wg.Wait()
	p.mu.Lock()
	p.outbox.hold(-p.outbox.held)
	if n := p.notifications.Lost; n > 0 {
		p.noteLocked(Note{Kind: NoteDropped, Text: fmt.Sprintf("notifications lost in total: %d", n)})
	}
	p.mu.Unlock()
	if p.handler.Close != nil {
		_ = p.handler.Close()
	}
}

// peerClosed returns a channel that is closed when the peer, which has stopped sending, also stops reading. It returns
// nil if the connection does not report this. If the peer has already stopped reading, peerClosed cancels the contexts
// of the peer's requests. Otherwise their handlers would see a local call fail and try to report that to the peer.
func (p *Peer) peerClosed(err error) <-chan struct{} {
	g, ok := p.conn.(wire.PeerWatcher)
	if !ok || err != io.EOF {
		return nil
	}
	gone := g.PeerClosed()
	select {
	case <-gone:
		p.mu.Lock()
		p.requests.EndAll()
		p.mu.Unlock()
	default:
	}
	return gone
}

// failAll ends every call, stream and watch after its last message.
func (p *Peer) failAll(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	err = p.end.Stop(err)
	p.enterLocked(p.end.State)
	p.calls.promoteAllLocked()
	for _, s := range p.calls.byID {
		p.disconnectLocked(s, err)
	}
	for _, s := range p.calls.byToken {
		p.disconnectLocked(s, err)
	}
	for len(p.calls.watches) > 0 {
		p.disconnectLocked(p.calls.watches[0], err)
	}
	p.calls.wake()
}

// disconnectLocked ends s because the connection ended with err. The caller holds the lock.
func (p *Peer) disconnectLocked(s *stream, err error) {
	s.cut = true
	p.forgetLocked(s, s.fault(err))
}

// drain lets the handlers of requests finish, within limits, after the peer has closed its sending direction. The
// channel gone is closed when the peer also stops reading.
func (p *Peer) drain(gone <-chan struct{}) {
	ctx, cancel := p.drainContext()
	defer cancel()
	p.wg.Go(func() {
		wire.Either(gone, ctx.Done())
		cancel()
	})
	if c, ok := p.conn.(wire.Prober); ok {
		p.wg.Go(func() { p.probe(ctx, c) })
	}
	p.mu.Lock()
	err := p.waitForLocked(ctx, &p.change, func() bool {
		return p.end.State != ending.EOF || p.end.Abort != nil || !p.notifications.Running && p.requests.Len() == 0
	})
	p.mu.Unlock()
	if err != nil {
		if wire.IsClosed(gone) {
			p.finishNotifications()
		}
		return
	}
	p.flush() // Close may have been called while drain waited
}

// While a peer sends nothing more, rpcx checks whether the peer is still connected: first after probeFirst, and then
// every probeNext.
const (
	probeFirst = time.Second
	probeNext  = 5 * time.Second
)

// probe checks repeatedly, until ctx ends, whether the peer can still read a response. If it cannot, its operating
// system rejects a probe, and the connection closes the PeerClosed channel.
func (p *Peer) probe(ctx context.Context, c wire.Prober) {
	for wait := probeFirst; wire.Sleep(ctx, wait); wait = probeNext {
		if c.Probe() != nil {
			return // sending the next response would fail in the same way
		}
	}
}

// drainContext returns a context that ends after Options.Drain. For a single exchange there is no limit, because the
// connection exists only for its responses.
func (p *Peer) drainContext() (context.Context, context.CancelFunc) {
	if p.singleExchange {
		return context.WithCancel(context.Background())
	}
	return context.WithTimeout(context.Background(), p.o.Drain)
}

// watchCloseState ends the connection if the peer disconnects before ctx ends. It notices this even while the reader is not
// reading.
func (p *Peer) watchCloseState(ctx context.Context) {
	c, ok := p.conn.(wire.PeerState)
	if !ok {
		return
	}
	prober, _ := p.conn.(wire.Prober)
	tick := time.NewTicker(probeFirst)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		switch halfClosed, closed := c.CloseState(); {
		case closed:
			_ = p.writeFailed(ending.ErrLeft)
			return
		case halfClosed && prober != nil:
			_ = prober.Probe() // its result shows in the next CloseState
		}
	}
}

// finishNotifications waits, within limits, until the handler has processed the notifications that preceded the peer's
// disconnect: a peer that only sends notifications need not stay until they take effect. It cancels the contexts of
// requests, because their responses can no longer be sent.
func (p *Peer) finishNotifications() {
	p.mu.Lock()
	p.requests.EndAll()
	p.mu.Unlock()
	p.settle(p.o.Drain, func() bool { return !p.notifications.Running })
}
