package peer

import (
	"bytes"
	"math/bits"
	"slices"
	"strconv"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/peer/ending"
)

// callPipeline is the part of a Peer for many concurrent calls at low cost. Such a call has no stream, no goroutine and
// no entry in the table of calls.
//
// Its rules:
//   - ring contains a call, in the slot of the call's id, from before its request is sent until its response.
//     calls.waiting counts the call for the same time. If the slot is in use, the call gets a stream at once.
//   - A call that needs more than one plain response is promoted: it gets a stream in calls.byID.
//   - out collects requests until Flush. If no other goroutine is writing, Flush writes as much as the connection accepts
//     without blocking. The writer's goroutine writes the rest.
//   - The reader's goroutine calls ready, without holding the lock, before it waits for input.
//   - Only one goroutine at a time may call Send and Flush.
type callPipeline struct {
	p     *Peer
	calls *calls
	box   *outbox
	link  *link
	ready func()
	ring  []pipelineSlot
	open  int // how many calls are in ring
	out   []byte
	ends  []int   // the end of each message in out
	ids   []int64 // the id of the call for each message in out
	now   nowFlusher
}

// A pipelineSlot is a place in the ring. It is free if call is nil.
type pipelineSlot struct {
	id   int64
	op   *dialect.Op
	call dialect.PipelinedCall
}

// A nowFlusher is a wire.Batcher that can flush as much as the system accepts without blocking. done is true if
// everything was flushed.
type nowFlusher interface{ FlushNow() (done bool, err error) }

// pipelineBytes limits the requests that wait for Flush. Requests of that total size fit into a connection's buffer.
const pipelineBytes = 32 << 10

// Pipeline returns a CallPipeline for about most concurrent calls. It calls ready when responses have arrived. It
// returns nil if the dialect or the connection cannot pipeline calls, or if the Peer already has a pipeline.
func (p *Peer) Pipeline(most int, ready func()) dialect.CallPipeline {
	if p.can.AppendCall == nil || p.exchanger != nil || p.router != nil || p.singleExchange || p.batcher == nil || !p.idler {
		return nil
	}
	size := max(64, 1<<bits.Len(uint(2*most-1)))
	l := &callPipeline{p: p, calls: &p.calls, box: &p.outbox, link: &p.link, ready: ready, ring: make([]pipelineSlot, size)}
	l.now, _ = p.conn.(nowFlusher)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls.pipeline != nil {
		return nil
	}
	p.calls.pipeline = l
	return l
}

// place returns the slot for the call with this id.
func (l *callPipeline) place(id int64) *pipelineSlot { return &l.ring[id&int64(len(l.ring)-1)] }

// Send implements dialect.CallPipeline.
func (l *callPipeline) Send(op *dialect.Op, c dialect.PipelinedCall) bool {
	p := l.p
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.end.State != ending.Open || l.box.full() || len(l.out) > pipelineBytes {
		return false
	}
	start := len(l.out)
	out, id, ok := l.p.can.AppendCall(l.out, op)
	if !ok {
		return false
	}
	l.out = out
	at := l.place(id)
	if call := (pipelineSlot{id, op, c}); at.call != nil {
		l.stream(call)
	} else {
		*at = call
		l.open++
		l.calls.waiting++
	}
	if l.calls.waiting == 1 {
		p.change.Pass() // the reader must not stop from now on
	}
	l.ends, l.ids = append(l.ends, len(out)), append(l.ids, id)
	l.box.hold(len(out) - start)
	return true
}

// Flush implements dialect.CallPipeline.
func (l *callPipeline) Flush() {
	p := l.p
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.end.State == ending.Ended: // the calls have failed, and no goroutine may start
		l.clear()
		return
	case l.box.running || l.now == nil || len(l.ends) == 0:
		l.queueLocked()
		return
	}
	n := len(l.out)
	l.box.running, l.box.bytes = true, l.box.bytes+n
	p.mu.Unlock()
	done, err := l.write()
	p.mu.Lock()
	switch {
	case p.end.State == ending.Ended:
	case err == nil && done && len(l.box.queue) == 0:
		l.box.hold(-n)
		l.box.running, l.box.bytes = false, l.box.bytes-n
	default:
		p.wg.Go(func() { l.writeRest(n, err) })
	}
}

// write writes as many of the requests in out as the connection accepts without blocking. done is true if it has
// written all of them.
func (l *callPipeline) write() (done bool, err error) {
	defer l.clear()
	start := 0
	for i, end := range l.ends {
		err := l.p.writeOne(&outgoing{msg: l.out[start:end]})
		start = end
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

// fail ends one call whose request was not accepted by the connection.
func (l *callPipeline) fail(id int64, err error) {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	if s := l.calls.find(strconv.AppendInt(nil, id, 10)); s != nil {
		l.p.forgetLocked(s, err)
	}
}

// clear empties out. It keeps the memory of a small buffer.
func (l *callPipeline) clear() {
	l.ends, l.ids = l.ends[:0], l.ids[:0]
	if l.out = l.out[:0]; cap(l.out) > 2*pipelineBytes {
		l.out = nil
	}
}

// queueLocked moves the requests in out to the outbox, whose goroutine writes them. The caller holds the lock.
func (l *callPipeline) queueLocked() {
	p, start := l.p, 0
	all := bytes.Clone(l.out)
	for i, end := range l.ends {
		o := outgoing{msg: all[start:end:end], call: l.calls.byID[strconv.FormatInt(l.ids[i], 10)]}
		if l.box.put(o) {
			p.wg.Go(p.write)
		}
		start = end
	}
	l.clear()
}

// writeRest takes over when Flush would block or has failed with err. n is the number of bytes that Flush counted as
// being written.
func (l *callPipeline) writeRest(n int, err error) {
	p := l.p
	defer wire.Guard()
	if err == nil {
		err = l.link.batcher.Flush()
	}
	if err != nil {
		_ = p.writeFailed(err)
	}
	p.mu.Lock()
	l.box.written(nil, n)
	p.change.Pass()
	p.mu.Unlock()
	p.write()
}

// Promote implements dialect.CallPipeline.
func (l *callPipeline) Promote(c dialect.PipelinedCall) {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	if c == nil {
		l.calls.promoteAllLocked()
		return
	}
	if i := slices.IndexFunc(l.ring, func(at pipelineSlot) bool { return at.call == c }); i >= 0 {
		l.promote(&l.ring[i])
	}
}

// promote creates the stream of the call in a slot and returns it. If at is nil, it returns nil.
func (l *callPipeline) promote(at *pipelineSlot) *stream {
	if at == nil {
		return nil
	}
	return l.stream(l.free(at))
}

// stream creates the stream of a call outside the ring.
func (l *callPipeline) stream(call pipelineSlot) *stream {
	s := newStream(l.p, *call.op)
	s.oneAnswer = true
	l.calls.add(s, strconv.AppendInt(nil, call.id, 10))
	call.call.Opened(s)
	return s
}

// answered passes the response m to its call, and reports whether that is enough. Otherwise the call gets a stream.
func (l *callPipeline) answered(m *wire.Message) bool {
	at := l.slot(m.ID)
	if at == nil {
		return false
	}
	call, final := l.free(at), m.Final
	m.Final = true
	answered := call.call.Answered(m)
	if !answered {
		m.Final = final
		l.stream(call)
	}
	return answered
}

// free empties a slot and returns its call.
func (l *callPipeline) free(at *pipelineSlot) pipelineSlot {
	was := *at
	*at = pipelineSlot{}
	l.open--
	l.calls.waiting--
	return was
}

// slot returns the slot of the call with this id, or nil.
func (l *callPipeline) slot(id wire.ID) *pipelineSlot {
	if l == nil || l.open == 0 {
		return nil
	}
	n, ok := number(id)
	if !ok {
		n, ok = number(id.Key())
	}
	if at := l.place(n); ok && at.call != nil && at.id == n {
		return at
	}
	return nil
}

// number returns the numeric value of an id. ok is false if AppendCall cannot have written that id.
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
