package wiretap

import (
	"bytes"
	"context"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/recorder"
)

// Posts passes on what clients send by HTTP POST. All their exchanges share one
// connection to the server.
type Posts struct {
	server wire.Conn
	shape  dialect.Shape
	rules  *match.Rules
	rec    *recorder.Conn

	mu   sync.Mutex
	wait map[string]*post // by the id of a request without an answer
	last *post            // gets what belongs to no request
	open map[string]*post // by the stream that an answer may have opened
	told bool             // the user was warned of a message for which no POST is open
	warn func(text string)
}

// post is one POST that waits for its answers.
type post struct {
	conn   wire.Conn
	record wire.Tap
	owed   int
	over   bool
	done   chan struct{} // closed when all answers have come
	stream string        // the stream that its answer may have opened, as JSON; "": none
	begun  bool          // an item of the stream has come
}

// itemPatience is how long a POST whose client accepts an event stream is kept
// open after an answer that may have opened a stream, until its first item
// comes. Then it stays open to the stream's end.
const itemPatience = time.Second

// NewPosts returns a Posts that passes messages on to server and records them.
// warn is called with texts for the user.
func NewPosts(server wire.Conn, shape dialect.Shape, rec *recorder.Conn, warn func(text string)) *Posts {
	p := &Posts{server: server, shape: shape, rules: match.NewRules(shape, nil), rec: rec, warn: warn, wait: map[string]*post{}, open: map[string]*post{}}
	if _, ok := server.(wire.Exchanger); !ok {
		go p.receive()
	}
	return p
}

// Pass passes on one POST, and closes it when it is answered or ctx ends. record
// is told of its messages, in both directions; nil: they are recorded as those that
// belong to no POST. The error is the server's.
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
	t := p.expect(client, msg, record)
	if err := p.server.Send(msg); err != nil {
		return err
	}
	var gone <-chan struct{} // closed when the client hangs up
	if g, ok := client.(interface{ Gone() <-chan struct{} }); ok {
		gone = g.Gone()
	}
	select {
	case <-t.done:
	case <-gone:
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end(t)
	return nil
}

// expect records which answers msg wants.
func (p *Posts) expect(client wire.Conn, msg []byte, record wire.Tap) *post {
	t := &post{conn: client, record: record, done: make(chan struct{})}
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
		p.end(t)
	} else {
		p.last = t
	}
	return t
}

// receive passes each message of the server to the POST that waits for it.
func (p *Posts) receive() {
	for {
		msg, err := p.server.Recv()
		if err != nil {
			p.rec.Ended(wire.Recv, err)
			p.abandon()
			return
		}
		p.give(msg)
	}
}

// give passes msg to the POST that it answers, or to whose stream it belongs; a
// message that is neither goes to the latest POST that still waits.
func (p *Posts) give(msg []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	answered, to := 0, p.last
	var opened string
	parts, _ := match.Elements(msg)
	for _, part := range parts {
		parsed := match.Parse(&p.shape, part, false)
		if t := p.wait[parsed.ID.String()]; parsed.Kind == wire.Response && t != nil {
			to, opened = t, mayOpen(part)
			answered++
			delete(p.wait, parsed.ID.String())
		}
	}
	if stream := p.rules.StreamOf(msg); stream != nil && p.open[string(stream)] != nil {
		to = p.open[string(stream)]
		to.begun = true
	}
	if to == nil {
		p.rec.Message(wire.Recv, msg)
		p.lost()
		return
	}
	to.record(wire.Recv, msg)
	_ = to.conn.Send(msg)
	to.owed -= answered
	switch {
	case to.owed > 0:
	case answered > 0 && opened != "" && len(p.shape.Streams) > 0 && takesStream(to.conn):
		p.linger(to, opened)
	case answered > 0, to.begun && isEnd(msg):
		p.end(to)
	}
}

// mayOpen returns the result of an answer if it could be the id of a stream, a
// string or a number; else "".
func mayOpen(msg []byte) string {
	if result := scan.Get(msg, "result"); scan.Type(result) == 's' || scan.Type(result) == 'n' {
		return string(result)
	}
	return ""
}

// isEnd reports whether an item is the last of its stream, in the form that our
// server writes.
func isEnd(msg []byte) bool { return string(scan.Get(scan.Get(msg, "params"), "done")) == "true" }

// takesStream reports whether the client of a POST accepts an event stream.
func takesStream(c wire.Conn) bool {
	o, ok := c.(interface{ OneAnswer() bool })
	return ok && !o.OneAnswer()
}

// linger keeps t open for the items of a stream.
func (p *Posts) linger(t *post, stream string) {
	t.stream = stream
	p.open[stream] = t
	time.AfterFunc(itemPatience, func() {
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
	}
	if p.open[t.stream] == t {
		delete(p.open, t.stream)
	}
	if p.last == t {
		p.last = nil
	}
}

// lost warns, once, that a message came for which no POST is open.
func (p *Posts) lost() {
	if !p.told && p.warn != nil {
		p.told = true
		p.warn("the peer says something while no POST is open: that is on the tape alone")
	}
}

// abandon ends all POSTs that wait.
func (p *Posts) abandon() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, t := range p.wait {
		delete(p.wait, id)
		p.end(t)
	}
	for _, t := range p.open {
		p.end(t)
	}
}
