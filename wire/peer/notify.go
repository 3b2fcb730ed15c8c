package peer

import (
	"context"
	"fmt"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// notification queues a notification for the handler. The lock is held. The
// reader stops while 1,024 (or 8 MiB) wait, but never while somebody waits for
// an answer; then up to 8,192 (or 128 MiB) are kept, and beyond these the oldest
// are lost, with a note.
func (p *Peer) notification(m *wire.Message) {
	if p.incoming(m) {
		return
	}
	if p.handler == nil {
		p.unhandled(m.Method)
		return
	}
	if p.state >= closing {
		return
	}
	p.news = append(p.news, m.Clone())
	p.newsBytes += len(m.Raw)
	lost := 0
	for len(p.news) > newsMost || p.newsBytes > newsLimit && len(p.news) > 1 {
		p.nextNews()
		lost++
	}
	if lost > 0 {
		p.later(Note{Kind: NoteDropped, Method: m.Method, Text: fmt.Sprintf("%d notifications were lost: they come faster than they are handled", lost)})
	}
	if !p.notifying {
		p.notifying = true
		p.wg.Go(p.tellHandler)
	}
}

func (p *Peer) newsFull() bool { return len(p.news) >= newsCount || p.newsBytes >= newsBytes }

func (p *Peer) nextNews() wire.Message {
	m := p.news[0]
	p.news[0] = wire.Message{}
	p.news = p.news[1:]
	p.newsBytes -= len(m.Raw)
	return m
}

// tellHandler hands the notifications to the handler, one after another, until
// none is left.
func (p *Peer) tellHandler() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.news) > 0 && p.state < ended && p.ctx.Err() == nil {
		full := p.newsFull()
		m := p.nextNews()
		if full {
			p.change.pass()
		}
		p.mu.Unlock()
		p.tell(m)
		p.mu.Lock()
	}
	p.notifying = false
	p.news = nil
	p.newsBytes = 0
	p.change.pass()
}

// tell runs the handler of one notification.
func (p *Peer) tell(m wire.Message) {
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			p.note(Note{Kind: NotePanic, Method: m.Method, Text: panicText(v)})
		}
	}()
	in := &dialect.Inbound{Msg: m, Emit: func(wire.Event) error { return nil }}
	_, err := p.handler.Handle(ctx, in)
	switch {
	case err == nil:
	case string(wire.AsError(err).Code) == "-32601":
		p.mu.Lock()
		p.unhandled(m.Method)
		p.unlockAndTell()
	default:
		p.note(Note{Kind: NoteFailedNotification, Method: m.Method, Text: fmt.Sprintf("handling the notification %s failed: %s", quoted(m.Method), err)})
	}
}

// unhandled notes that nothing took a notification, unless a watch waits for
// its method. The lock is held.
func (p *Peer) unhandled(method string) {
	for _, w := range p.watches {
		if w.op.Kind == dialect.Watch && w.op.Method == method {
			return
		}
	}
	p.later(Note{Kind: NoteUnhandledNotification, Method: method, Text: "nothing takes the notification " + quoted(method)})
}
