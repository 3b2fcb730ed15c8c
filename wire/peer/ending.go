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
	p.enter(ended)
	p.err = p.verdict(err)
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

// verdict is what Err says. The lock is held.
func (p *Peer) verdict(err error) error {
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
		p.enter(eof)
	} else {
		p.enter(closing)
	}
	switch {
	case p.abort != nil && wire.AsFault(err) == nil:
		err = betterOf(err, p.abort)
	case p.ours:
		err = errOurs
	}
	p.lost = err
	for _, s := range p.calls {
		p.sever(s, err)
	}
	for _, s := range p.streams {
		p.sever(s, err)
	}
	for len(p.watches) > 0 {
		p.sever(p.watches[0], err)
	}
	p.wakeDirty()
}

// sever ends s, which is in a table, because the connection ended with err. The
// lock is held.
func (p *Peer) sever(s *stream, err error) {
	s.cut = true
	p.forget(s, callFault(err, s))
}

// betterOf is the one of two reasons that says more: how a child ended or a
// connection was closed, else why it could not be written to.
func betterOf(read, write error) error {
	var ce *wire.CloseError
	if errors.As(read, &ce) && (ce.Child != nil || ce.Code != 0) {
		return read
	}
	return write
}

// drain answers, within bounds, what came before the far side said that it
// sends no more.
func (p *Peer) drain() {
	var limit, gone <-chan struct{}
	ctx, cancel := context.WithTimeout(context.Background(), p.o.Drain)
	defer cancel()
	if !p.oneShot {
		limit = ctx.Done()
	}
	if g, ok := p.conn.(interface{ Gone() <-chan struct{} }); ok {
		gone = g.Gone()
	}
	p.mu.Lock()
	for p.state == eof && p.abort == nil && (!p.quiet() || len(p.taken) > 0) {
		c := p.change.wait()
		p.mu.Unlock()
		select {
		case <-c:
		case <-limit:
			return
		case <-gone:
			p.finishNews()
			return
		}
		p.mu.Lock()
	}
	p.mu.Unlock()
	p.settle(p.o.CloseTimeout, p.quiet) // where Close came in between
	p.settle(p.o.CloseTimeout, func() bool { return !p.writing })
}

// isGoodbye says that the far side left in good order.
func isGoodbye(err error) bool {
	var ce *wire.CloseError
	return errors.As(err, &ce) && ce.Clean && wire.AsFault(err) == nil
}

// finishNews lets the handler see, within bounds, the notifications that came
// before the far side was gone: whoever sends one need not wait for what comes
// of it. Nobody would get the answers to requests, so their handlers are ended.
func (p *Peer) finishNews() {
	p.mu.Lock()
	for in := range p.active {
		in.cancel()
	}
	p.mu.Unlock()
	p.settle(p.o.Drain, func() bool { return !p.notifying })
}

// closeCode is what a WebSocket is closed with after err.
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
