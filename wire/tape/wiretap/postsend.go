package wiretap

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"rpcx/wire"
)

// itemTimeout is how long a POST waits for a first item after a response that may have opened a stream. It applies only to
// clients that accept event streams. After the first item, the POST remains open until the stream ends.
const itemTimeout = time.Second

// maxLeft is how many POSTs are remembered after their clients have disconnected. Messages for such a POST are not sent
// to any other client.
const maxLeft = 1 << 10

// deliver sends the messages for t to its client until t or the client ends.
func (t *post) deliver(ctx context.Context, p *Posts) {
	var gone <-chan struct{}
	if g, ok := t.conn.(wire.PeerWatcher); ok {
		gone = g.PeerClosed()
	}
	for {
		p.mu.Lock()
		var msg []byte
		if len(t.queue) > 0 {
			msg = t.queue[0]
		}
		over := t.over
		p.mu.Unlock()
		if msg != nil {
			if t.conn.Send(msg) != nil {
				return
			}
			p.mu.Lock()
			p.drop(t, 1)
			p.mu.Unlock()
			continue
		}
		if over {
			return
		}
		select {
		case <-t.wake:
		case <-gone:
			return
		case <-ctx.Done():
			return
		}
	}
}

// drop removes the first n messages, or as many as there are, from the queue of t.
func (p *Posts) drop(t *post, n int) {
	for i := range min(n, len(t.queue)) {
		p.queued -= len(t.queue[i])
		t.queue[i] = nil
	}
	t.queue = t.queue[min(n, len(t.queue)):]
}

func (p *Posts) linger(t *post, stream string) {
	t.stream = stream
	p.open[stream] = t
	time.AfterFunc(itemTimeout, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if !t.begun {
			p.end(t)
		}
	})
}

func (p *Posts) end(t *post) {
	if !t.over {
		t.over = true
		wire.Wake(t.wake)
		if t.owed > 0 || t.begun && !t.ended {
			p.retain(t)
		}
	}
	switch {
	case p.open[t.stream] != t:
	case t.begun && !t.ended:
		p.open[t.stream] = nil // the server may still send items
	default:
		delete(p.open, t.stream)
	}
	if p.last == t {
		p.last = nil
	}
}

// retain stores t, for which messages may still arrive. If there are more than maxLeft such POSTs, it drops the oldest.
func (p *Posts) retain(t *post) {
	if len(p.left) == maxLeft {
		p.forget(p.left[0])
		p.left = slices.Delete(p.left, 0, 1)
	}
	p.left = append(p.left, t)
}

func (p *Posts) forget(t *post) {
	for _, id := range t.ids {
		if p.wait[id] == t {
			delete(p.wait, id)
		}
	}
	t.owed = 0
	if o := p.open[t.stream]; o == nil || o == t {
		delete(p.open, t.stream)
	}
}

// abandon ends all pending POSTs when the server has ended with err.
func (p *Posts) abandon(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.serverErr = err; errors.Is(err, io.EOF) {
		p.serverErr = &wire.CloseError{Clean: true}
	}
	for id, t := range p.wait {
		delete(p.wait, id)
		p.end(t)
	}
	for _, t := range p.open {
		if t != nil {
			p.end(t)
		}
	}
}
