package wiretap

import (
	"bytes"
	"context"
	"sync"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/recorder"
)

// Posts passes on what comes by HTTP POST, which together is one connection to the
// server.
type Posts struct {
	server wire.Conn
	shape  dialect.Shape
	rec    *recorder.Conn

	mu   sync.Mutex
	wait map[string]*post // by the id of a request that is not answered yet
	last *post            // what belongs to no request goes here
}

// post is one POST that waits for its answers.
type post struct {
	conn wire.Conn
	owed int
	done chan struct{} // closed when all have come
}

// NewPosts returns a Posts that passes on to server, and records it.
func NewPosts(server wire.Conn, shape dialect.Shape, rec *recorder.Conn) *Posts {
	p := &Posts{server: server, shape: shape, rec: rec, wait: map[string]*post{}}
	if _, ok := server.(wire.Exchanger); !ok {
		go p.receive()
	}
	return p
}

// Pass passes on one POST, and closes it when it is answered or ctx ends. The error
// is the server's.
func (p *Posts) Pass(ctx context.Context, client wire.Conn) error {
	defer client.Close()
	msg, err := client.Recv()
	if err != nil {
		return nil
	}
	msg = bytes.Clone(msg)
	p.rec.Message(wire.Send, msg)
	if x, ok := p.server.(wire.Exchanger); ok {
		return x.Exchange(ctx, msg, func(reply []byte) {
			p.rec.Message(wire.Recv, reply)
			_ = client.Send(reply)
		})
	}
	t := p.expect(client, msg)
	if err := p.server.Send(msg); err != nil {
		return err
	}
	select {
	case <-t.done:
	case <-ctx.Done():
	}
	return nil
}

// expect notes which answers msg wants.
func (p *Posts) expect(client wire.Conn, msg []byte) *post {
	t := &post{conn: client, done: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	parts, _ := match.Elements(msg)
	for _, part := range parts {
		if parsed := match.Parse(&p.shape, part, true); parsed.Kind == wire.Request {
			p.wait[parsed.ID.String()] = t
			t.owed++
		}
	}
	if t.owed == 0 {
		close(t.done)
	} else {
		p.last = t
	}
	return t
}

// receive gives what the server says to the POST that waits for it.
func (p *Posts) receive() {
	for {
		msg, err := p.server.Recv()
		if err != nil {
			p.rec.Ended(wire.Recv, err)
			p.abandon()
			return
		}
		p.rec.Message(wire.Recv, msg)
		p.give(msg)
	}
}

func (p *Posts) give(msg []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	answered, to := 0, p.last
	parts, _ := match.Elements(msg)
	for _, part := range parts {
		if parsed := match.Parse(&p.shape, part, false); parsed.Kind == wire.Response {
			if t := p.wait[parsed.ID.String()]; t != nil {
				to = t
				answered++
				delete(p.wait, parsed.ID.String())
			}
		}
	}
	if to == nil {
		return
	}
	_ = to.conn.Send(msg)
	if to.owed -= answered; answered > 0 && to.owed <= 0 {
		close(to.done)
		if p.last == to {
			p.last = nil
		}
	}
}

// abandon ends all that waits.
func (p *Posts) abandon() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, t := range p.wait {
		delete(p.wait, id)
		if t.owed > 0 {
			t.owed = 0
			close(t.done)
		}
	}
}
