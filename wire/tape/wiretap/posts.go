package wiretap

import (
	"bytes"
	"context"
	"strconv"
	"sync"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/recorder"
)

// Posts passes on messages that clients send by HTTP POST. All exchanges share one connection to the server.
type Posts struct {
	server wire.Conn
	rules  *match.Rules
	rec    *recorder.Conn
	lost   func()         // warns, once, that a message arrived without an open POST
	heard  sync.WaitGroup // until the server has ended and its end is on the tape

	mu   sync.Mutex
	wait map[string]*post // by the id of an unanswered request
	last *post            // gets the messages that belong to no request
	open map[string]*post // by the stream that a response may have opened; nil: its client has disconnected
	left []*post          // ended with pending responses or items, oldest first; at most maxLeft
	gone error            // how the server ended; nil: it has not ended
}

// post is one POST that waits for its responses.
type post struct {
	conn   wire.Conn
	record wire.Tap
	ids    []string           // of its requests, as sent to the server
	was    map[string]wire.ID // by such an id: the client's own id, if another POST has the same
	owed   int                // the number of responses that have not arrived
	over   bool
	done   chan struct{} // closed when all responses have arrived
	stream string        // the stream that its response may have opened, as JSON, or ""
	begun  bool          // an item of the stream has arrived
	ended  bool          // the last item of the stream has arrived
}

// firstID is greater than the ids of clients that count from 1.
const firstID int64 = 1 << 32

// NewPosts returns a Posts that passes messages on to server and records them. It calls warn with warnings for the user.
func NewPosts(server wire.Conn, shape dialect.Shape, rec *recorder.Conn, warn func(text string)) *Posts {
	p := &Posts{server: server, rules: match.NewRules(shape, nil), rec: rec, wait: map[string]*post{}, open: map[string]*post{}}
	p.lost = sync.OnceFunc(func() {
		if warn != nil {
			warn("the peer sent a message outside of a POST: it is only on the tape")
		}
	})
	if _, ok := server.(wire.Exchanger); !ok {
		p.heard.Go(p.receive)
	}
	return p
}

// Pass forwards one POST, and closes it when it is answered or ctx ends. record gets its messages in both directions; nil records them as
// messages outside of POSTs. The error is the server's.
func (p *Posts) Pass(ctx context.Context, client wire.Conn, record wire.Tap) error {
	defer client.Close()
	msg, err := client.Recv()
	if err != nil {
		return nil
	}
	msg = bytes.Clone(msg)
	if record == nil {
		record = p.rec.Message
	}
	record(wire.Send, msg)
	if x, ok := p.server.(wire.Exchanger); ok {
		return x.Exchange(ctx, msg, func(reply []byte) {
			record(wire.Recv, reply)
			_ = client.Send(reply)
		})
	}
	t, msg := p.expect(client, msg, record)
	if err := p.server.Send(msg); err != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.forget(t)
		p.end(t)
		return err
	}
	p.awaited(t)
	var gone <-chan struct{} // closed when the client disconnects
	if g, ok := client.(wire.PeerWatcher); ok {
		gone = g.PeerClosed()
	}
	select {
	case <-t.done:
	case <-gone:
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end(t)
	if t.owed > 0 {
		return p.gone
	}
	return nil
}

// awaited ends t, which was sent, if the server has ended: no response will arrive.
func (p *Posts) awaited(t *post) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone != nil {
		p.end(t)
	}
}

// expect records the responses that msg expects, and returns msg with ids that no pending request has.
func (p *Posts) expect(client wire.Conn, msg []byte, record wire.Tap) (*post, []byte) {
	t := &post{conn: client, record: record, done: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	msg = p.each(msg, func(part []byte) []byte {
		parsed := match.Parse(p.rules.Shape(), part, true)
		if parsed.Kind != wire.Request {
			return part
		}
		id := parsed.ID.String()
		if p.wait[id] != nil {
			free := p.free(parsed.ID)
			if t.was == nil {
				t.was = map[string]wire.ID{}
			}
			id = free.String()
			t.was[id] = bytes.Clone(parsed.ID)
			part = match.SetID(p.rules.Shape(), part, free)
		}
		p.wait[id] = t
		t.ids = append(t.ids, id)
		t.owed++
		return part
	})
	if t.owed == 0 {
		p.end(t)
	} else {
		p.last = t
	}
	return t, msg
}

// free returns an id of the same JSON type that no pending request has.
func (p *Posts) free(id wire.ID) wire.ID {
	for n := firstID + int64(len(p.wait)); ; n++ {
		free := strconv.AppendInt(nil, n, 10)
		if scan.Type(id) == 's' {
			free = scan.AppendQuoted(nil, "post-"+string(free))
		}
		if p.wait[wire.ID(free).String()] == nil {
			return free
		}
	}
}

// each returns msg with each message in it replaced by the result of change.
func (p *Posts) each(msg []byte, change func(part []byte) []byte) []byte {
	parts, batch := match.Elements(p.rules.Shape(), msg)
	for i, part := range parts {
		switch changed := change(part); {
		case string(changed) == string(part):
		case batch:
			msg = scan.Splice(msg, strconv.Itoa(i), changed)
		default:
			msg = changed
		}
	}
	return msg
}

// Wait returns when the server has ended or was closed, and its end is on the tape.
func (p *Posts) Wait() { p.heard.Wait() }

// receive passes each message of the server to the POST that waits for it.
func (p *Posts) receive() {
	for {
		msg, err := p.server.Recv()
		if err != nil {
			p.rec.Ended(wire.Recv, err)
			p.abandon(err)
			return
		}
		p.give(msg)
	}
}

// give passes msg only to the POST that it answers or whose stream it belongs to, unless that POST has ended. Any other message goes to
// the latest POST that still waits.
func (p *Posts) give(msg []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	to, msg, answered, opened := p.answered(msg)
	if stream := p.rules.StreamOf(msg); stream != nil {
		to = p.itemOf(string(stream), to, msg)
	}
	if to == nil {
		p.rec.Message(wire.Recv, msg)
		p.lost()
		return
	}
	to.record(wire.Recv, msg)
	err := to.conn.Send(msg)
	to.owed -= answered
	last := to.begun && isEnd(msg)
	switch {
	case err != nil && to.begun: // its client has disconnected
		p.end(to)
	case to.owed > 0, answered == 0 && !last:
	case answered > 0 && opened != "" && len(p.rules.Shape().Streams) > 0 && takesStream(to.conn):
		p.linger(to, opened)
	default:
		to.ended = last
		p.end(to)
	}
}

// answered returns the POST that msg answers, msg with the ids of its requests, the number of requests that it answers, and the stream
// that it may open. If msg answers no POST, it returns the latest POST that still waits.
func (p *Posts) answered(msg []byte) (to *post, own []byte, answered int, opened string) {
	to = p.last
	own = p.each(msg, func(part []byte) []byte {
		parsed := match.Parse(p.rules.Shape(), part, false)
		id := parsed.ID.String()
		t := p.wait[id]
		if parsed.Kind != wire.Response || t == nil {
			return part
		}
		to, opened = t, mayOpen(part)
		answered++
		delete(p.wait, id)
		if was := t.was[id]; was != nil {
			return match.SetID(p.rules.Shape(), part, was)
		}
		return part
	})
	return to, own, answered, opened
}

// itemOf returns the POST that gets an item of a stream: the POST of the stream, or to if it is unknown.
func (p *Posts) itemOf(stream string, to *post, item []byte) *post {
	of, known := p.open[stream]
	if known {
		to = of
	}
	switch {
	case to != nil && to == of:
		to.begun = true
	case isEnd(item):
		delete(p.open, stream)
	}
	return to
}

// mayOpen returns the result of a response if it can be the id of a stream, a string or a number; else "".
func mayOpen(msg []byte) string {
	if result := scan.Get(msg, "result"); scan.Type(result) == 's' || scan.Type(result) == 'n' {
		return string(result)
	}
	return ""
}

// isEnd reports whether an item is the last of its stream, in the format of rpcx's server.
func isEnd(msg []byte) bool { return string(scan.Get(scan.Get(msg, "params"), "done")) == "true" }

// takesStream reports whether the client of a POST accepts an event stream.
func takesStream(c wire.Conn) bool {
	o, ok := c.(wire.SingleResponse)
	return ok && !o.SingleResponse()
}
