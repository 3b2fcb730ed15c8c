package peer

import (
	"bytes"
	"slices"
	"strconv"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// lane is the part of a Peer that makes many calls with little for each: no stream, no
// goroutine, no entry in a table.
//
// Its rules:
//   - A call is in ring, at the place of its id's number, from before its request is sent
//     until it is answered, and counts in calls.waiting meanwhile. A call whose place is
//     taken, as an earlier one is not answered yet, is made as others are.
//   - Whatever needs more of it than its one plain answer makes it a call like others: a
//     stream in byID, which is given to whoever made the call.
//   - Requests collect in out until Flush. If nobody writes, whoever flushes does, as far
//     as that goes without waiting; the rest is the writer's.
//   - ready is called without the lock, on the reader's goroutine before it waits.
//   - Send and Flush belong to one goroutine at a time.
type lane struct {
	p     *Peer
	codec dialect.CallAppender
	ready func()
	ring  []laneCall
	open  int // calls in ring
	out   []byte
	ends  []int   // of the messages in out
	ids   []int64 // theirs
	now   nowFlusher
	runs  runSender // nil: messages are sent one by one
}

// laneCall is a place in the ring; call is nil where it is free.
type laneCall struct {
	id   int64
	op   *dialect.Op
	call dialect.LaneCall
}

// A nowFlusher is a wire.Batcher that can flush as far as that goes without waiting.
type nowFlusher interface{ FlushNow() (done bool, err error) }

// A runSender is a wire.Batcher that takes many messages at once, as far as it can.
type runSender interface {
	SendRun(all []byte, start int, ends []int) (taken int, err error)
}

// laneBytes bounds what is written by whoever flushes: a connection's buffer takes it.
const laneBytes = 32 << 10

// Lane returns a way to make many calls, most of them at once. ready is called when
// answers have come. It is nil where the dialect or the connection has none; there is one
// at most.
func (p *Peer) Lane(most int, ready func()) dialect.Lane {
	codec, ok := p.codec.(dialect.CallAppender)
	if !ok || p.exchanger != nil || p.router != nil || p.oneShot || p.batcher == nil || !p.idler {
		return nil
	}
	size := 64
	for size < 2*most {
		size *= 2
	}
	l := &lane{p: p, codec: codec, ready: ready, ring: make([]laneCall, size)}
	l.now, _ = p.conn.(nowFlusher)
	if p.o.Tap == nil && p.o.Record == nil { // each of which sees every message
		l.runs, _ = p.conn.(runSender)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls.lane != nil {
		return nil
	}
	p.calls.lane = l
	return l
}

// place returns where a call with that number is, or would be.
func (l *lane) place(id int64) *laneCall { return &l.ring[id&int64(len(l.ring)-1)] }

// Send implements dialect.Lane.
func (l *lane) Send(op *dialect.Op, c dialect.LaneCall) bool {
	p := l.p
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state != open || p.outbox.full() || len(l.out) > laneBytes {
		return false
	}
	start := len(l.out)
	out, id, ok := l.codec.AppendCall(l.out, op)
	if !ok {
		return false
	}
	l.out = out
	at := l.place(id)
	if at.call != nil {
		s := newStream(p, *op)
		p.registerLocked(s, wire.Message{ID: strconv.AppendInt(nil, id, 10), Final: true})
		c.Opened(s)
	} else {
		*at = laneCall{id, op, c}
		l.open++
		p.calls.waiting++
		if p.calls.waiting == 1 {
			p.change.pass() // the reader must not stop now
		}
	}
	l.ends, l.ids = append(l.ends, len(out)), append(l.ids, id)
	p.holdLocked(len(out) - start)
	return true
}

// Flush implements dialect.Lane.
func (l *lane) Flush() {
	p := l.p
	p.mu.Lock()
	if p.outbox.running || l.now == nil || len(l.ends) == 0 {
		l.queueLocked()
		p.mu.Unlock()
		return
	}
	p.outbox.running = true
	n := len(l.out)
	p.outbox.bytes += n
	p.mu.Unlock()
	done, err := l.write()
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil && done && len(p.outbox.queue) == 0 {
		p.outbox.bytes -= n
		p.holdLocked(-n)
		p.outbox.running = false
		return
	}
	p.wg.Go(func() { p.writeRest(n, err) })
}

// write writes what is in out, as far as that goes without waiting.
func (l *lane) write() (done bool, err error) {
	defer l.clear()
	for i, start := 0, 0; i < len(l.ends); i++ {
		if l.runs != nil {
			n, err := l.runs.SendRun(l.out, start, l.ends[i:])
			if err != nil {
				return false, err
			}
			if i += n; i == len(l.ends) {
				break
			}
			if n > 0 {
				start = l.ends[i-1]
			}
		}
		err := l.p.writeOne(&outgoing{msg: l.out[start:l.ends[i]]})
		start = l.ends[i]
		switch {
		case err == nil:
		case !l.p.onlyThis(err):
			return false, err
		default:
			l.fail(l.ids[i], err)
		}
	}
	return l.now.FlushNow()
}

// fail ends one call, whose message was not taken.
func (l *lane) fail(id int64, err error) {
	p := l.p
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.calls.find(strconv.AppendInt(nil, id, 10)); s != nil {
		p.forgetLocked(s, err)
	}
}

// clear forgets what was in out, of which little memory is kept.
func (l *lane) clear() {
	l.ends, l.ids = l.ends[:0], l.ids[:0]
	if l.out = l.out[:0]; cap(l.out) > 2*laneBytes {
		l.out = nil
	}
}

// queueLocked hands what is in out to the writer.
func (l *lane) queueLocked() {
	p, start := l.p, 0
	all := bytes.Clone(l.out)
	for i, end := range l.ends {
		o := outgoing{msg: all[start:end:end], call: p.calls.byID[strconv.FormatInt(l.ids[i], 10)]}
		if p.outbox.put(o) {
			p.wg.Go(p.write)
		}
		start = end
	}
	l.clear()
}

// writeRest goes on where Flush would have had to wait, or has failed: n bytes are on
// their way.
func (p *Peer) writeRest(n int, err error) {
	defer wire.Guard()
	if err == nil {
		err = p.batcher.Flush()
	}
	if err != nil {
		_ = p.writeFailed(err)
	}
	p.mu.Lock()
	p.outbox.written(nil, n)
	p.holdLocked(-n)
	p.change.pass()
	p.mu.Unlock()
	p.write()
}

// Take implements dialect.Lane.
func (l *lane) Take(c dialect.LaneCall) {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	if c == nil {
		l.p.calls.takeAllLocked()
		return
	}
	if i := slices.IndexFunc(l.ring, func(at laneCall) bool { return at.call == c }); i >= 0 {
		l.becomesLocked(&l.ring[i])
	}
}

// becomesLocked makes the call at a place one like others: it has a stream.
func (l *lane) becomesLocked(at *laneCall) *stream {
	was := *at
	*at = laneCall{}
	l.open--
	l.p.calls.waiting--
	s := newStream(l.p, *was.op)
	s.oneAnswer = true
	l.p.calls.add(s, strconv.AppendInt(nil, was.id, 10))
	was.call.Opened(s)
	return s
}

// plainLocked gives the plain answer m to its call; false: it is of none, or not plain.
func (l *lane) plainLocked(m *wire.Message) bool {
	if l == nil || m.Kind != wire.Response || !l.has(m.ID) {
		return false
	}
	id, _ := number(m.ID)
	at, was := l.place(id), m.Final
	m.Final = true
	if !at.call.Answered(m) {
		m.Final = was
		l.becomesLocked(at)
		return false
	}
	*at = laneCall{}
	l.open--
	l.p.calls.waiting--
	return true
}

// has reports whether a call with that id is in the ring.
func (l *lane) has(id wire.ID) bool {
	if l == nil || l.open == 0 {
		return false
	}
	n, ok := number(id)
	at := l.place(n)
	return ok && at.call != nil && at.id == n
}

// laneLocked tells whoever uses the lane that answers may have come. The mutex is
// released meanwhile.
func (p *Peer) laneLocked() {
	if l := p.calls.lane; l != nil {
		p.mu.Unlock()
		l.ready()
		p.mu.Lock()
	}
}

// number reads an id that AppendCall can have written.
func number(id wire.ID) (n int64, ok bool) {
	if len(id) == 0 || len(id) > 18 || id[0] == '0' {
		return 0, false
	}
	for _, c := range id {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return n, true
}
