package peer

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// CloseWith ends the connection with a code and a reason for the far side,
// where its transport has them, after what waits to be sent. It does not wait
// for handlers; Done is closed when all is over.
func (p *Peer) CloseWith(code int, reason string) error {
	p.mu.Lock()
	p.enter(closing)
	p.ours = true
	p.mu.Unlock()
	p.settle(p.o.CloseTimeout, func() bool { return !p.writing })
	return p.hangUp(code, reason)
}

// Close says goodbye where the dialect does, lets handlers end and answers get
// out, and closes the connection; each step is bounded. Contexts of handlers
// end at once. Nothing of p runs after it returns, so it must not be called by
// a handler.
func (p *Peer) Close() error {
	var err error
	p.once.Do(func() { err = p.shutDown() })
	<-p.done
	return err
}

func (p *Peer) shutDown() error {
	p.leave()
	p.mu.Lock()
	if p.state < ended {
		p.ours = true
	}
	p.enter(closing)
	p.mu.Unlock()
	p.cancel()
	p.settle(p.patience(), p.quiet)
	p.settle(p.patience(), func() bool { return !p.writing })
	p.xcancel()
	return p.conn.Close()
}

// hurryBound is what each step of Close may take in a hurry.
const hurryBound = 200 * time.Millisecond

// patience is what a step of Close may take.
func (p *Peer) patience() time.Duration {
	if p.o.Hurry != nil && p.o.Hurry.Err() != nil {
		return min(p.o.CloseTimeout, hurryBound)
	}
	return p.o.CloseTimeout
}

// leave runs the dialect's goodbye.
func (p *Peer) leave() {
	l, ok := p.codec.(dialect.Leaver)
	p.mu.Lock()
	alive := p.state == open
	p.mu.Unlock()
	if !ok || !alive {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), p.o.CloseTimeout)
	defer cancel()
	if p.o.Hurry != nil {
		defer context.AfterFunc(p.o.Hurry, func() { time.AfterFunc(hurryBound, cancel) })()
	}
	_ = l.Leave(ctx, p) // the far side may be past hearing it
}

// quiet says that no handler runs and all they said is on its way. The lock is
// held.
func (p *Peer) quiet() bool { return len(p.active) == 0 && !p.notifying }

// enter moves to a later state. The lock is held.
func (p *Peer) enter(s state) {
	p.state = max(p.state, s)
	p.change.pass()
	p.room.pass()
}

// settle waits until ok holds, at most for d, and no longer than until the
// connection has ended.
func (p *Peer) settle(d time.Duration, ok func() bool) {
	t := time.NewTimer(d)
	defer t.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for !ok() && p.state < ended {
		c := p.change.wait()
		p.mu.Unlock()
		select {
		case <-c:
		case <-t.C:
			p.mu.Lock()
			return
		}
		p.mu.Lock()
	}
}

// Settle waits until no handler runs and all they said is on its way, no longer
// than until ctx or the connection ends.
func (p *Peer) Settle(ctx context.Context) error {
	return p.until(ctx, func() bool { return p.quiet() && !p.writing })
}

// Told waits until every notification that has come was handled, no longer than
// until ctx or the connection ends.
func (p *Peer) Told(ctx context.Context) error {
	return p.until(ctx, func() bool { return !p.notifying })
}

// until waits for ok, which is called under the lock.
func (p *Peer) until(ctx context.Context, ok func() bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !ok() && p.state < ended {
		c := p.change.wait()
		p.mu.Unlock()
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

// hangUp closes the connection with a code, where it has them.
func (p *Peer) hangUp(code int, reason string) error {
	if c, ok := p.conn.(wire.CloserWith); ok && code != 0 {
		return c.CloseWith(code, reason)
	}
	return p.conn.Close()
}

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

// Answer sends raw, a whole response message, for a request that Incoming took;
// of several with that id, the oldest.
func (p *Peer) Answer(id wire.ID, raw []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.taken[string(id)]) == 0 {
		return &wire.Fault{Kind: wire.Usage, Message: "no request with id " + string(id) + " is open"}
	}
	in := p.taken[string(id)][0]
	p.untake(in)
	if p.state == ended {
		return p.noMore(nil, nil)
	}
	p.replyRaw(in, bytes.Clone(raw))
	return nil
}

// Answered says that a Raw message has answered the requests with these ids that
// Incoming took; of several with one id, the oldest.
func (p *Peer) Answered(ids ...wire.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range ids {
		if ins := p.taken[string(id)]; len(ins) > 0 {
			in := ins[0]
			p.untake(in)
			p.owesNothing(in)
		}
	}
}

// RejectOpen answers the requests that are still open by Incoming with e: all of
// them, or those with the ids that are given.
func (p *Peer) RejectOpen(e *wire.Error, ids ...wire.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, ins := range p.taken {
		if len(ids) > 0 && !slices.ContainsFunc(ids, func(w wire.ID) bool { return string(w) == id }) {
			continue
		}
		for _, in := range ins {
			_ = p.reply(in, failure(e))
			p.owesNothing(in)
			p.letGo(in)
		}
		delete(p.taken, id)
	}
	p.change.pass()
}

// Pending is how many calls of ours, streams included, and how many requests of
// the far side are under way.
func (p *Peer) Pending() (ours, theirs int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ours = len(p.calls)
	for _, s := range p.streams {
		if p.calls[s.id] != s {
			ours++
		}
	}
	for _, w := range p.watches {
		if w.follows {
			ours++
		}
	}
	return ours, p.held
}
