package player

import (
	"bytes"
	"errors"
	"slices"
	"time"
	"unicode/utf8"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
)

// A batch collects the responses to the requests in one array.
type batch struct {
	owed    int
	replies [][]byte
}

// sendNext sends the next line of the cursor that is due first. wait is the time until a cursor is due, or 0 if no cursor is
// waiting.
func (e *engine) sendNext() (sent bool, wait time.Duration) {
	var best *cursor
	for n := 0; n < len(e.cursors); n++ {
		k := e.cursors[n]
		if !e.skip(k) {
			e.cursors = slices.Delete(e.cursors, n, n+1)
			n--
			if k.conn != nil {
				e.finishShot(k.conn)
			}
			continue
		}
		if due := e.due(k); due > 0 {
			if wait == 0 || due < wait {
				wait = due
			}
			continue
		}
		if best == nil || (k.stream || best.stream) && k.p == best.p && k.next < best.next {
			best = k
		}
	}
	if best == nil {
		return false, wait
	}
	e.sendEntry(best)
	return true, 0
}

// skip moves k to the next line that has to be sent. It returns false if the block has ended.
func (e *engine) skip(k *cursor) bool {
	for ; int(k.next) < k.p.track.Len(); k.next++ {
		i := k.next
		entry := k.p.track.Entry(i)
		own := entry.Own
		switch {
		case k.stream:
			if k.p.track.Opener(i) == k.opener && !k.p.over(i) {
				return true
			}
		case entry.Dir != e.side:
			return false
		case e.side == wire.Recv && k.p.track.Opener(i) != transcript.None: // see streams.go
		case own == transcript.None:
			if !k.p.over(i) {
				return true
			}
		case k.p.track.Entry(own).Answer != i: // a further response, such as an item of a stream
			if k.p.seen(own) > 0 {
				return true
			}
		case len(k.p.owed[own]) == 0: // the request has not arrived
		case !k.p.unblocked(i):
			if !slices.Contains(k.p.queue, i) {
				k.p.queue = append(k.p.queue, i)
			}
		default:
			return true
		}
	}
	return false
}

// The server sends lines separately if they were recorded separately. If no pace is set, it keeps the recorded gap up to maxApart,
// because a client that reads a response together with earlier notifications may process the response first. Only the first lines of a
// block are delayed, so that long streams stay fast.
const (
	minApart   = 2 * time.Millisecond
	maxApart   = 20 * time.Millisecond
	apartLines = 20
)

// due returns how long the next line of k still has to wait.
func (e *engine) due(k *cursor) time.Duration {
	if left := e.o.turn.left(k.next); left > 0 {
		return left
	}
	if k.stream && !k.p.itemReady(k) {
		if left := silence - time.Since(e.lastActive); left > 0 {
			return left
		}
		k.past = k.p.track.Entry(k.next).Need
	}
	if e.o.Speed <= 0 {
		if e.side == wire.Send || k.sent == 0 || k.sent > apartLines {
			return 0
		}
		gap := k.p.track.Gap(int(k.next))
		if gap < minApart {
			return 0
		}
		return time.Until(k.last.Add(min(gap, maxApart)))
	}
	return time.Until(k.live.Add(e.o.paced(k.p.track.At(int(k.next)) - k.from)))
}

// sendEntry sends the line at k, together with the other messages of its batch.
func (e *engine) sendEntry(k *cursor) {
	p, i := k.p, k.next
	entry := p.track.Entry(i)
	k.next++
	k.sent++
	k.last = time.Now()
	if entry.Own != transcript.None {
		e.sendAnswer(p, i)
		return
	}
	msg, err := e.mark(p, i)
	if entry.Batched() {
		group := [][]byte{msg}
		for ; int(k.next) < p.track.Len() && err == nil && p.track.Entry(k.next).Line == entry.Line; k.next++ {
			if p.track.Entry(k.next).Own == transcript.None {
				msg, err = e.mark(p, k.next)
				group = append(group, msg)
			}
		}
		msg = join(group)
	}
	e.carry(k.conn, p, i, msg)
	e.send(k.conn, msg, p.track.Binary(i), err)
}

// carry stores the header lines that the recorded client sent with entry i.
func (e *engine) carry(c *conn, p *play, i int32, msg []byte) {
	if head := p.track.Head(i); head != nil && c != nil && c.session != nil {
		c.session.carry(msg, head)
	}
}

func join(group [][]byte) []byte {
	return append(append([]byte("["), bytes.Join(group, []byte(","))...), ']')
}

// mark returns the message of entry i, which is not a response, and records that it has been sent.
func (e *engine) mark(p *play, i int32) ([]byte, error) {
	msg, err := p.outgoing(i, nil)
	if err != nil {
		return nil, err
	}
	p.see(i)
	if p.track.Entry(i).Kind == wire.Request {
		at := asked{p: p, i: i}
		id := match.IDOf(p.rules.Shape(), msg)
		for times := 1; e.pending(id); times++ { // the POSTs of several clients may have the same ids
			msg = at.renumbered(msg, times)
			id = match.IDOf(p.rules.Shape(), msg)
		}
		e.asked[string(id.Key())] = at
		p.asked[i] = true
	}
	return msg, nil
}

// sendAnswer sends entry i. It is the first response to the oldest pending request, or a further response to the latest
// request.
func (e *engine) sendAnswer(p *play, i int32) {
	entry := p.track.Entry(i)
	own := entry.Own
	live := p.latest[own]
	first := p.track.Entry(own).Answer == i
	if first && len(p.owed[own]) > 0 {
		live = p.owed[own][0]
		if p.owed[own] = p.owed[own][1:]; len(p.owed[own]) == 0 {
			delete(p.owed, own)
		}
	}
	msg, err := p.outgoing(i, &live)
	p.see(i)
	if status := p.track.Refused(own); status != 0 && scan.Valid(msg, wire.DefaultMaxDepth) != nil {
		msg = p.refusal(live.id, status, msg)
	}
	if p.track.Opens(i) {
		e.startStream(p, i, live.conn)
	}
	if entry.More == transcript.None {
		delete(p.latest, own) // this was the last response
	}
	e.carry(live.conn, p, i, msg)
	live.binary = p.track.Binary(i)
	if !first {
		e.send(live.conn, msg, p.track.Binary(i), err)
		return
	}
	e.reply(live, msg, err)
}

// refuse responds with an error to a request that is not on the tape.
func (e *engine) refuse(c *conn, id wire.ID, msg []byte) {
	e.reply(request{id: id, conn: c, batch: e.batch}, msg, nil)
}

// reply sends a response to the request live, or adds it to the responses of its batch. If msg is nil, the request has no
// response.
func (e *engine) reply(live request, msg []byte, err error) {
	live.conn.owed--
	if b := live.batch; b != nil {
		if msg != nil {
			b.replies = append(b.replies, msg)
		}
		if b.owed--; b.owed > 0 {
			return
		}
		if msg = nil; len(b.replies) > 0 {
			msg = join(b.replies)
		}
	}
	if msg != nil || err != nil {
		e.send(live.conn, msg, live.binary, err)
	}
	e.finishShot(live.conn)
}

// send sends msg over c. If c has ended, it uses another connection of the same conversation.
func (e *engine) send(c *conn, msg []byte, binary bool, err error) {
	e.lastActive = time.Now()
	if err != nil {
		e.failure = err
		return
	}
	if !e.conns[c] {
		if c = e.current; !e.conns[c] {
			return
		}
	}
	if e.o.Tap != nil {
		e.o.Tap(wire.Send, msg)
	}
	if c.exchanger != nil {
		e.post(c, msg)
		return
	}
	if e.side == wire.Send { // if the server does not read, it counts as not responding
		defer time.AfterFunc(e.o.AnswerTimeout, func() { _ = c.Close() }).Stop()
	}
	send := c.Send
	if b, ok := c.Conn.(wire.BinarySender); ok && (binary || !utf8.Valid(msg)) {
		send = b.SendBinary
	}
	if err := send(msg); err != nil {
		if _, closed := errors.AsType[*wire.CloseError](err); !closed && !c.singleExchange {
			e.failure = err
		}
	}
}

// finishShot closes the connection of a client's POST after its last response.
func (e *engine) finishShot(c *conn) {
	if !c.singleExchange || !c.received || c.owed > 0 || !e.conns[c] {
		return
	}
	for _, k := range e.cursors {
		if k.conn == c && e.skip(k) {
			return
		}
	}
	delete(e.conns, c)
	_ = c.Close()
}
