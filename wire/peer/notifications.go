package peer

import (
	"context"
	"fmt"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// tellHandler passes the queued notifications to the handler, one after another, until none is
// left.
func (p *Peer) tellHandler() {
	defer wire.Guard()
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.notifications.Empty() && p.state < ended && p.ctx.Err() == nil {
		full := p.notifications.Full()
		in := p.notifications.Next()
		if full {
			p.change.pass()
		}
		p.mu.Unlock()
		p.tell(&in)
		p.mu.Lock()
	}
	p.notifications.Stop()
	p.change.pass()
}

// tell runs the handler of one notification.
func (p *Peer) tell(in *dialect.Inbound) {
	method := in.Msg.Method
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			p.note(Note{Kind: NotePanic, Method: method, Text: panicText(v)})
		}
	}()
	in.Emit = func(wire.Event) error { return nil }
	_, err := p.handler.Handle(ctx, in)
	switch {
	case err == nil:
	case string(wire.AsError(err).Code) == "-32601":
		p.mu.Lock()
		p.unhandledLocked(method)
		p.unlockAndTell()
	default:
		p.note(Note{Kind: NoteFailedNotification, Method: method, Text: fmt.Sprintf("handling the notification %s failed: %s", quoted(method), err)})
	}
}
