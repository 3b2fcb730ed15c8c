package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"rpcx/wire"
)

// read is the reader's goroutine. It is the one place that decides that the
// connection has ended, and the last of p's goroutines.
func (p *Peer) read() {
	defer wire.Guard()
	defer close(p.done)
	err := p.receiveAll()
	p.wakeAll() // for what came with the end
	gone := p.gone(err)
	if err == io.EOF && p.asksInExchange() {
		p.mu.Lock()
		p.enterLocked(eof)
		p.mu.Unlock()
		p.drain(gone) // the answers to our calls come in other exchanges
		p.o.Exchanges.forget(p)
	}
	p.failAll(err)
	switch {
	case err == io.EOF:
		p.drain(gone)
	case isBroken(err): // what came before is answered
		p.settle(p.o.CloseTimeout, p.quietLocked)
		p.settle(p.o.CloseTimeout, func() bool { return !p.outbox.running })
	case isGoodbye(err):
		p.finishNotifications()
	}
	p.mu.Lock()
	p.enterLocked(ended)
	p.err = p.finalErrorLocked(err)
	p.mu.Unlock()
	close(p.closeAt)
	p.cancel()
	p.xcancel()
	_ = p.hangUp(closeCode(err))
	p.wg.Wait()
	p.mu.Lock()
	p.holdLocked(-p.held)
	if n := p.notifications.lost; n > 0 {
		p.noteLocked(Note{Kind: NoteDropped, Text: fmt.Sprintf("notifications that were lost, in all: %d", n)})
	}
	p.unlockAndTell()
	if p.handler != nil {
		_ = p.handler.Close()
	}
}

// gone returns a channel that is closed when the far side, which sends no more,
// does not read either; nil where that cannot be found out. If it is known at once,
// the far side's requests are given up first: their handlers must not hear that a
// call of ours failed and report that to it.
func (p *Peer) gone(err error) <-chan struct{} {
	g, ok := p.conn.(interface{ Gone() <-chan struct{} })
	if !ok || err != io.EOF {
		return nil
	}
	gone := g.Gone()
	select {
	case <-gone:
		p.mu.Lock()
		p.inflight.cancelAll()
		p.mu.Unlock()
	default:
	}
	return gone
}

// finalErrorLocked returns the error that Err reports.
func (p *Peer) finalErrorLocked(err error) error {
	switch {
	case p.ours || err == io.EOF:
		return nil
	case p.abort != nil:
		return closedFault(p.abort, "", "")
	case isGoodbye(err):
		return nil
	}
	return closedFault(err, "", "")
}

// failAll ends every call, stream and watch: nothing comes any more.
func (p *Peer) failAll(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == io.EOF || isBroken(err) {
		p.enterLocked(eof)
	} else {
		p.enterLocked(closing)
	}
	switch {
	case p.abort != nil && wire.AsFault(err) == nil:
		err = preferCause(err, p.abort)
	case p.ours:
		err = errOurs
	}
	p.closeErr = err
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
	p.wakeDirtyLocked()
}

// disconnectLocked ends s, which is in a table, because the connection ended with err.
func (p *Peer) disconnectLocked(s *stream, err error) {
	s.cut = true
	p.forgetLocked(s, callFault(err, s))
}

// preferCause returns the one of two reasons that says more: how a child ended
// or a connection was closed, else why it could not be written to.
func preferCause(read, write error) error {
	var ce *wire.CloseError
	if errors.As(read, &ce) && (ce.Child != nil || ce.Code != 0) {
		return read
	}
	return write
}

// drain answers, within bounds, what came before the far side said that it
// sends no more. gone is closed when it does not read either.
func (p *Peer) drain(gone <-chan struct{}) {
	ctx, cancel := p.drainContext()
	defer cancel()
	p.wg.Go(func() {
		select {
		case <-gone:
			cancel()
		case <-ctx.Done():
		}
	})
	if c, ok := p.conn.(wire.Prober); ok {
		p.wg.Go(func() { p.probe(ctx, c) })
	}
	p.mu.Lock()
	err := p.waitForLocked(ctx, &p.change, func() bool {
		return p.state != eof || p.abort != nil || p.quietLocked() && len(p.inflight.taken) == 0
	})
	p.mu.Unlock()
	if err != nil {
		select {
		case <-gone:
			p.finishNotifications()
		default:
		}
		return
	}
	p.settle(p.o.CloseTimeout, p.quietLocked) // where Close came in between
	p.settle(p.o.CloseTimeout, func() bool { return !p.outbox.running })
}

// How long an answer is owed to a far side that sends no more before it is found
// out whether it is still there, and how often after that.
const (
	probeFirst = time.Second
	probeNext  = 5 * time.Second
)

// probe keeps checking, until ctx ends, that the far side can still read an answer:
// if it has left, what is sent to it is refused, and the connection's Gone is
// closed.
func (p *Peer) probe(ctx context.Context, c wire.Prober) {
	for wait := probeFirst; ; wait = probeNext {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		if c.Probe() != nil {
			return // the next answer fails in the same way
		}
	}
}

// drainContext bounds drain, but for a oneShot: its answers are all it is for.
func (p *Peer) drainContext() (context.Context, context.CancelFunc) {
	if p.oneShot {
		return context.WithCancel(context.Background())
	}
	return context.WithTimeout(context.Background(), p.o.Drain)
}

// watchFarEnd ends the connection when the far side turns out to be gone before ctx
// ends. It is for times at which the reader does not read and so would not see it.
func (p *Peer) watchFarEnd(ctx context.Context) {
	c, ok := p.conn.(interface{ FarEnd() (silent, gone bool) })
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
		switch silent, gone := c.FarEnd(); {
		case gone:
			_ = p.writeFailed(errLeft)
			return
		case silent && prober != nil:
			_ = prober.Probe() // what comes of it is seen at the next look
		}
	}
}

// errLeft is the end of a far side that did not wait for its answers.
var errLeft = errors.New("the far side left before its answers")

// isGoodbye reports whether the far side left in good order.
func isGoodbye(err error) bool {
	var ce *wire.CloseError
	return errors.As(err, &ce) && ce.Clean && wire.AsFault(err) == nil
}

// isBroken reports whether the far side is there but has broken the framing, or has
// ended its direction inside a message: nothing more can be read of it, but it may
// still read.
func isBroken(err error) bool {
	f := wire.AsFault(err)
	return f != nil && f.Kind == wire.Protocol || errors.Is(err, wire.ErrCut)
}

// finishNotifications lets the handler take, within bounds, the notifications that came
// before the far side went: a peer that notifies need not wait for the effect.
// Requests cannot be answered any more, so their handlers are ended.
func (p *Peer) finishNotifications() {
	p.mu.Lock()
	p.inflight.cancelAll()
	p.mu.Unlock()
	p.settle(p.o.Drain, func() bool { return !p.notifications.running })
}

// closeCode returns the code and reason with which a WebSocket is closed after err.
func closeCode(err error) (code int, reason string) {
	f := wire.AsFault(err)
	switch {
	case f == nil || f.Kind != wire.Protocol:
		return 0, ""
	case f.Close != nil && f.Close.Code != 0:
		return f.Close.Code, f.Close.Reason
	}
	return 1002, strings.ToValidUTF8(f.Message[:min(len(f.Message), 120)], "")
}
