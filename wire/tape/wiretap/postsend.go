package wiretap

import (
	"errors"
	"io"
	"slices"
	"time"

	"rpcx/wire"
)

// itemTimeout is how long a POST whose client accepts an event stream is kept
// open after an answer that may have opened a stream, until its first item
// comes. Then it stays open to the stream's end.
const itemTimeout = time.Second

// maxLeft bounds how many POSTs of disconnected clients are remembered, so that late messages for one are recorded as its
// own, and reach no other client.
const maxLeft = 1 << 10

// linger keeps t open for the items of a stream.
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

// end ends t.
func (p *Posts) end(t *post) {
	if !t.over {
		t.over = true
		close(t.done)
		if t.owed > 0 || t.begun && !t.ended {
			p.leave(t)
		}
	}
	switch {
	case p.open[t.stream] != t:
	case t.begun && !t.ended:
		p.open[t.stream] = nil // the server may go on
	default:
		delete(p.open, t.stream)
	}
	if p.last == t {
		p.last = nil
	}
}

// leave remembers t, which may still get messages, and forgets the oldest of too many.
func (p *Posts) leave(t *post) {
	if len(p.left) == maxLeft {
		p.forget(p.left[0])
		p.left = slices.Delete(p.left, 0, 1)
	}
	p.left = append(p.left, t)
}

// forget removes t from the pending POSTs.
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

// abandon ends all POSTs that wait, as the server has ended with err.
func (p *Posts) abandon(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone = err; errors.Is(err, io.EOF) {
		p.gone = &wire.CloseError{Clean: true}
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
