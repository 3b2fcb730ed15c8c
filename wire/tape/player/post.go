package player

import (
	"bytes"
	"context"
	"sync"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// maxPosts bounds the POSTs of answers and notifications that are under way at once. Where
// there are more, nothing that the server says is read.
const maxPosts = 64

// post makes one HTTP exchange of msg. If msg wants no answer the exchange is
// awaited, as the next message could overtake it.
func (e *engine) post(c *conn, msg []byte) {
	shape := e.t.Rules.Shape()
	waits := scan.Get(msg, shape.Method) == nil || scan.Get(msg, shape.ID) == nil
	if shape.Own != nil {
		waits = shape.Own.Read(msg).Kind != wire.Request
	}
	if waits {
		e.busy++
		e.posts.add(1)
	}
	go func() {
		defer wire.Guard()
		err := c.exchanger.Exchange(context.Background(), msg, func(reply []byte) {
			e.posts.room()
			e.hand(arrival{conn: c, msg: bytes.Clone(reply)})
		})
		if waits {
			e.posts.add(-1)
			e.hand(arrival{kind: posted, err: err})
		} else if err != nil {
			e.hand(arrival{conn: c, err: err})
		}
	}()
}

// posts counts the POSTs that are awaited.
type posts struct {
	mu    sync.Mutex
	n     int
	over  bool       // nobody waits any more
	fewer *sync.Cond // of mu
}

func newPosts() *posts {
	p := &posts{}
	p.fewer = sync.NewCond(&p.mu)
	return p
}

func (p *posts) add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n += n
	p.fewer.Broadcast()
}

// room waits until there are fewer than maxPosts.
func (p *posts) room() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.n >= maxPosts && !p.over {
		p.fewer.Wait()
	}
}

// end lets all go on that wait.
func (p *posts) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	p.fewer.Broadcast()
}
