package peer

import (
	"context"
	"errors"
	"io"
	"strings"

	"rpcx/wire"
)

// read is the reader's goroutine. It is the one place that decides that the
// connection has ended, and the last of p's goroutines.
func (p *Peer) read() {
	defer close(p.done)
	err := p.receiveAll()
	p.failAll(err)
	switch {
	case err == io.EOF:
		p.drain()
	case isGoodbye(err):
		p.finishNews()
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
	if p.handler != nil {
		_ = p.handler.Close()
	}
}

// finalErrorLocked returns what Err says.
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
	if err == io.EOF {
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
// sends no more.
func (p *Peer) drain() {
	ctx, cancel := p.drainContext()
	defer cancel()
	var gone <-chan struct{}
	if g, ok := p.conn.(interface{ Gone() <-chan struct{} }); ok {
		gone = g.Gone()
		p.wg.Go(func() {
			select {
			case <-gone:
				cancel()
			case <-ctx.Done():
			}
		})
	}
	p.mu.Lock()
	err := p.waitForLocked(ctx, &p.change, func() bool {
		return p.state != eof || p.abort != nil || p.quietLocked() && len(p.inflight.taken) == 0
	})
	p.mu.Unlock()
	if err != nil {
		select {
		case <-gone:
			p.finishNews()
		default:
		}
		return
	}
	p.settle(p.o.CloseTimeout, p.quietLocked) // where Close came in between
	p.settle(p.o.CloseTimeout, func() bool { return !p.outbox.running })
}

// drainContext bounds drain, but for a oneShot: its answers are all it is for.
func (p *Peer) drainContext() (context.Context, context.CancelFunc) {
	if p.oneShot {
		return context.WithCancel(context.Background())
	}
	return context.WithTimeout(context.Background(), p.o.Drain)
}

// isGoodbye reports whether the far side left in good order.
func isGoodbye(err error) bool {
	var ce *wire.CloseError
	return errors.As(err, &ce) && ce.Clean && wire.AsFault(err) == nil
}

// finishNews lets the handler see, within bounds, the notifications that came
// before the far side was gone: whoever sends one need not wait for what comes
// of it. Nobody would get the answers to requests, so their handlers are ended.
func (p *Peer) finishNews() {
	p.mu.Lock()
	p.inflight.cancelAll()
	p.mu.Unlock()
	p.settle(p.o.Drain, func() bool { return !p.notifications.running })
}

// closeCode returns what a WebSocket is closed with after err.
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
