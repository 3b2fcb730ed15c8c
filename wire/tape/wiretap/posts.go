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

// Posts passes on messages that clients send by HTTP POST. All POSTs share one connection to the server.
type Posts struct {
	server wire.Conn
	rules  *match.Rules
	rec    *recorder.Conn
	lost   func()         // warns, once, about a message that arrives without an open POST
	heard  sync.WaitGroup // until the end of the server is on the tape

	mu   sync.Mutex
	wait map[string]*post // the POST of each unanswered request, by id
	last *post            // receives messages that belong to no request
	open map[string]*post // by stream that a response may have opened; nil after its client has disconnected
	left []*post          // POSTs that ended with pending responses or items, oldest first; at most maxLeft
	gone error            // how the server ended, or nil while it runs
}

// A post is one POST that waits for its responses.
type post struct {
	conn   wire.Conn
	record wire.Tap
	ids    []string           // the ids of its requests as sent to the server
	was    map[string]wire.ID // the client's own id by such an id, if another POST has the same
	owed   int                // the number of missing responses
	over   bool
	done   chan struct{} // closed after all responses
	stream string        // the stream that its response may have opened, as JSON, or ""
	begun  bool          // an item of the stream has arrived
	ended  bool          // the last item of the stream has arrived
}

// firstID is greater than the ids of clients that count from 1.
const firstID int64 = 1 << 32

// NewPosts returns a Posts that passes messages to server and records them. It calls warn with warnings for the user.
func NewPosts(server wire.Conn, shape dialect.Shape, rec *recorder.Conn, warn func(text string)) *Posts {
	p := &Posts{server: server, rules: match.NewRules(shape, nil), rec: rec, wait: map[string]*post{}, open: map[string]*post{}}
	p.lost = sync.OnceFunc(func() {
		if warn != nil {
			warn("the peer sent a message outside of a POST; it is recorded, but not forwarded")
		}
	})
	if _, ok := server.(wire.Exchanger); !ok {
		p.heard.Go(p.receive)
	}
	return p
}

// Pass forwards one POST, and closes it after the answer or when ctx ends. record receives its messages in both directions; if record is
// nil, they are recorded as messages without a POST. Pass returns the error of the server.
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
	var gone <-chan struct{}
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

// awaited ends t if the server has ended, because no response will arrive.
func (p *Posts) awaited(t *post) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone != nil {
		p.end(t)
	}
}

// expect records which responses msg needs. It returns msg with ids that no pending request has.
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

// free returns an unused id of the same JSON type.
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

// each returns msg with each of its messages replaced by the result of change.
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

// Wait returns when the server has ended and its end is on the tape.
func (p *Posts) Wait() { p.heard.Wait() }

// receive passes each message of the server to its POST.
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

// give passes msg to the POST that it answers or whose stream it belongs to, unless the POST has ended. It passes any other message to
// the latest pending POST.
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

// answered returns the POST that msg answers, msg with the client's ids, the number of answered requests, and the stream that msg may
// open. If msg answers no POST, it returns the latest pending POST.
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

// itemOf returns the POST of an item's stream, or to if the stream is unknown.
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

// mayOpen returns a response's result if it can be the id of a stream: a string or a number. Otherwise it returns "".
func mayOpen(msg []byte) string {
	if result := scan.Get(msg, "result"); scan.Type(result) == 's' || scan.Type(result) == 'n' {
		return string(result)
	}
	return ""
}

// isEnd reports whether an item is the last of its stream, in the format of rpcx's server.
func isEnd(msg []byte) bool { return string(scan.Get(scan.Get(msg, "params"), "done")) == "true" }

func takesStream(c wire.Conn) bool {
	o, ok := c.(wire.SingleResponse)
	return ok && !o.SingleResponse()
}
