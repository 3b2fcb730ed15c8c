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

// Posts forwards messages that clients send in HTTP POSTs. All POSTs share one connection to the server.
type Posts struct {
	server         wire.Conn
	rules          *match.Rules
	rec            *recorder.Conn
	warnUnexpected func()         // warns about a message from the server for which there is no open POST, but only once
	receiving      sync.WaitGroup // waits until the end of the server's messages is on the tape

	mu        sync.Mutex
	wait      map[string]*post // the POST of each request that has no response yet, by the key of the id
	last      *post            // receives messages that do not belong to any request
	open      map[string]*post // by the stream that a response may have opened; nil if the client has disconnected
	left      []*post          // POSTs that ended before all their responses or items arrived, oldest first; at most maxLeft
	queued    int              // the total size, in bytes, of the messages that POSTs have not sent yet
	serverErr error            // how the server ended; nil while it has not
}

// A post is a POST that is waiting for its responses.
type post struct {
	conn   wire.Conn
	record wire.Tap
	ids    []string           // the ids of its requests, in the form in which they were sent to the server
	was    map[string]wire.ID // the id that the client used, by the key of the id that replaced it because another POST already had the same
	owed   int                // how many responses are missing
	over   bool
	queue  [][]byte      // messages that have not been sent yet, or whose sending has not ended
	wake   chan struct{} // has a value if queue or over has changed, for deliver
	stream string        // the name, as JSON, of the stream that a response may have opened, or ""
	begun  bool          // an item of that stream has arrived
	ended  bool          // the last item of that stream has arrived
}

// firstID is larger than any id of a client that counts from 1.
const firstID int64 = 1 << 32

// NewPosts returns a Posts that forwards messages to server and records them. It calls warn with warnings for the user.
func NewPosts(server wire.Conn, shape dialect.Shape, rec *recorder.Conn, warn func(text string)) *Posts {
	p := &Posts{server: server, rules: match.NewRules(shape, nil), rec: rec, wait: map[string]*post{}, open: map[string]*post{}}
	p.warnUnexpected = sync.OnceFunc(func() {
		if warn != nil {
			warn("the peer sent a message outside of a POST; it is recorded, but not forwarded")
		}
	})
	if _, ok := server.(wire.Exchanger); !ok {
		p.receiving.Go(p.receive)
	}
	return p
}

// Pass forwards one POST, and closes its connection when all responses have arrived or when ctx ends. record receives its messages in
// both directions. If record is nil, they are recorded without a POST. If the server has ended before all responses, Pass returns the
// server's error.
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
	if err = p.server.Send(msg); err == nil {
		t.deliver(ctx, p)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.forget(t)
	} else if t.owed > 0 {
		err = p.serverErr
	}
	p.end(t)
	p.drop(t, len(t.queue))
	return err
}

// expect records which responses msg requires. It returns msg with an id that no other pending request has.
func (p *Posts) expect(client wire.Conn, msg []byte, record wire.Tap) (*post, []byte) {
	t := &post{conn: client, record: record, wake: make(chan struct{}, 1)}
	p.mu.Lock()
	defer p.mu.Unlock()
	msg = p.each(msg, func(part []byte) []byte {
		parsed := match.Parse(p.rules.Shape(), part, true)
		if parsed.Kind != wire.Request {
			return part
		}
		id := parsed.ID.Key().String()
		if p.wait[id] != nil {
			free := p.free(parsed.ID)
			id = free.String()
			wire.Put(&t.was, id, wire.ID(bytes.Clone(parsed.ID)))
			part = match.SetID(p.rules.Shape(), part, free)
		}
		p.wait[id] = t
		t.ids = append(t.ids, id)
		t.owed++
		return part
	})
	if t.owed == 0 || p.serverErr != nil {
		p.end(t) // no responses will arrive
	} else {
		p.last = t
	}
	return t, msg
}

// free returns an unused id that has the same JSON type.
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

// each returns msg in which each of its messages is replaced by what change returns.
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

// Wait waits until the server has ended and its end is on the tape.
func (p *Posts) Wait() { p.receiving.Wait() }

// receive passes each message from the server to a POST.
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

// maxQueued is the maximum of Posts.queued. If it is exceeded, a POST ends when it gets a message while another one is queued, because
// its client does not read.
const maxQueued = 2 * wire.DefaultMaxMessage

// give queues msg for the response to the POST that it answers or to whose stream it belongs. If that POST has ended, msg is only
// recorded. It queues any other message for the response to the latest pending POST.
func (p *Posts) give(msg []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	to, msg, answered, opened := p.answered(msg)
	if stream := p.rules.StreamOf(msg); stream != nil {
		to = p.itemOf(string(stream), to, msg)
	}
	if to == nil {
		p.rec.Message(wire.Recv, msg)
		p.warnUnexpected()
		return
	}
	to.record(wire.Recv, msg)
	if !to.over {
		to.queue = append(to.queue, bytes.Clone(msg))
		p.queued += len(msg)
		wire.Wake(to.wake)
	}
	to.owed -= answered
	last := to.begun && isEnd(msg)
	switch {
	case p.queued > maxQueued && len(to.queue) > 1:
		p.drop(to, len(to.queue))
		p.end(to)
	case to.owed > 0, answered == 0 && !last:
	case answered > 0 && opened != "" && len(p.rules.Shape().Streams) > 0 && takesStream(to.conn):
		p.linger(to, opened)
	default:
		to.ended = last
		p.end(to)
	}
}

// answered returns the POST to which msg is a response, msg with the ids that the client used, the number of requests to which it
// responds, and the name of the stream that it may open. If msg is not a response to any POST, it returns the latest pending POST.
func (p *Posts) answered(msg []byte) (to *post, own []byte, answered int, opened string) {
	to = p.last
	own = p.each(msg, func(part []byte) []byte {
		parsed := match.Parse(p.rules.Shape(), part, false)
		id := parsed.ID.Key().String()
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

// itemOf returns the POST that opened an item's stream. If the stream is unknown, it returns to.
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

// mayOpen returns the result of a response if it can be the name of a stream, which is a string or a number. Otherwise
// it returns "".
func mayOpen(msg []byte) string {
	if result := scan.Get(msg, "result"); scan.Type(result) == 's' || scan.Type(result) == 'n' {
		return string(result)
	}
	return ""
}

// isEnd reports whether an item is the last one of its stream. It recognizes the form that rpcx's own server uses.
func isEnd(msg []byte) bool { return string(scan.Get(scan.Get(msg, "params"), "done")) == "true" }

func takesStream(c wire.Conn) bool {
	o, ok := c.(wire.SingleResponse)
	return ok && !o.SingleResponse()
}
