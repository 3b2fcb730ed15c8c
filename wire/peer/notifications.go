package peer

import (
	"context"
	"fmt"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// The limits of the notifications that wait for the handler.
const (
	maxQueued          = 1024      // so many may wait before the reader stops
	maxQueuedBytes     = 8 << 20   // the same in bytes
	maxUnreadable      = 8 * 1024  // so many may wait if the reader must not stop; beyond, the oldest are lost
	maxUnreadableBytes = 128 << 20 // the same in bytes
)

// answering holds the handler of the far side's requests and notifications.
type answering struct {
	handler dialect.Handler // without Handle: nobody
}

// notifications is the part of a Peer that holds the notifications which wait
// for the handler.
//
// Its rules:
//   - They are handled one after another, in the order in which they came, by
//     one goroutine that runs only while there are any (running).
//   - The reader stops while full reports true, unless a call waits for an answer
//     that is still to be read. Then the queue grows up to further limits, beyond
//     which the oldest are dropped, with a note to the user.
type notifications struct {
	queue   []dialect.Inbound
	bytes   int
	running bool
	lost    int64 // in all
}

// put queues a copy of m; order is its number among all that came. It reports whether it has
// dropped notifications for the first time on this connection.
func (n *notifications) put(m *wire.Message, order uint64) (losing bool) {
	before := n.lost
	n.queue = append(n.queue, dialect.Inbound{Msg: m.Clone(), Order: order})
	n.bytes += len(m.Raw)
	for len(n.queue) > maxUnreadable || n.bytes > maxUnreadableBytes && len(n.queue) > 1 {
		n.next()
		n.lost++
	}
	return before == 0 && n.lost > 0
}

// full reports whether the reader should stop.
func (n *notifications) full() bool { return len(n.queue) >= maxQueued || n.bytes >= maxQueuedBytes }

// next removes and returns the oldest notification; there must be one.
func (n *notifications) next() dialect.Inbound {
	in := n.queue[0]
	n.queue[0] = dialect.Inbound{}
	n.queue = n.queue[1:]
	n.bytes -= len(in.Msg.Raw)
	return in
}

// stop drops the queue, as the goroutine that handles it ends.
func (n *notifications) stop() { *n = notifications{lost: n.lost} }

// notificationLocked queues a notification for the handler. If the queue is full the reader stops;
// if it must not stop, the queue grows up to further limits, beyond which the oldest are dropped,
// with a note.
func (p *Peer) notificationLocked(m *wire.Message) {
	if p.incomingLocked(m) {
		return
	}
	if p.handler.Handle == nil {
		p.unhandledLocked(m.Method)
		return
	}
	if p.state >= closing {
		return
	}
	if p.handler.Ignores != nil && !p.notifications.running && p.handler.Ignores(m.Method) {
		p.unhandledLocked(m.Method)
		return
	}
	if p.notifications.put(m, p.inflight.arrive()) {
		p.noteLocked(Note{Kind: NoteDropped, Method: m.Method, Text: "notifications are lost, the oldest first: they come faster than they are handled"})
	}
	if !p.notifications.running {
		p.notifications.running = true
		p.wg.Go(p.tellHandler)
	}
}

// tellHandler passes the queued notifications to the handler, one after another, until none is
// left.
func (p *Peer) tellHandler() {
	defer wire.Guard()
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.notifications.queue) > 0 && p.state < ended && p.ctx.Err() == nil {
		full := p.notifications.full()
		in := p.notifications.next()
		if full {
			p.change.pass()
		}
		p.mu.Unlock()
		p.tell(&in)
		p.mu.Lock()
	}
	p.notifications.stop()
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

// unhandledLocked tells the user that nothing handled a notification, unless a watch shows its
// method.
func (p *Peer) unhandledLocked(method string) {
	if p.calls.watchesFor(method) {
		return
	}
	p.noteLocked(Note{Kind: NoteUnhandledNotification, Method: method, Text: "nothing takes the notification " + quoted(method)})
}
