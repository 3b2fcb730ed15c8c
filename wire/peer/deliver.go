package peer

import (
	"io"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// registerLocked enters s, whose request is msg, before that is sent.
func (p *Peer) registerLocked(s *stream, msg wire.Message) {
	s.oneAnswer = s.oneAnswer || msg.Final
	p.calls.add(s, msg.ID)
	p.change.pass() // the reader must not stop now
}

// forgetLocked takes s out of every table and ends it: after what is queued its
// consumer gets err.
func (p *Peer) forgetLocked(s *stream, err error) {
	if s.ended {
		return
	}
	if s.overfull {
		p.change.pass()
	}
	p.calls.remove(s)
	s.ended, s.err = true, err
	p.wakeLocked(s)
}

// deliverLocked queues m for s and wakes its consumer now or when the connection has
// nothing more at once.
func (p *Peer) deliverLocked(s *stream, m *wire.Message) {
	if s.ended {
		return
	}
	if s.op.Items != nil && m.Kind == wire.Item {
		s.op.Items(m.Clone())
		if m.Final {
			p.forgetLocked(s, io.EOF)
		}
		return
	}
	s.push(restored(m, s.own))
	if m.Final {
		p.forgetLocked(s, io.EOF)
		return
	}
	if s.size > p.o.StreamBuffer {
		p.overflowLocked(s)
	}
	switch {
	case !p.idler || s.size >= wakeBytes:
		p.wakeLocked(s)
	case !s.dirty:
		s.dirty = true
		p.calls.dirty = append(p.calls.dirty, s)
	}
}

// overflowLocked notes that s queues too much, and ends it when it queues a whole
// message too much, which happens only while the reader cannot stop.
//
// Where the reader never stops, the stream loses its oldest messages, or ends.
func (p *Peer) overflowLocked(s *stream) {
	why := "the output is too slow: too much waits to be read, and reading had to go on for an answer"
	switch {
	case !p.o.Lossy:
		p.calls.setOverfull(s, true)
		if s.size <= p.o.StreamBuffer+p.o.MaxMessage {
			return
		}
	case s.op.Kind == dialect.Subscribe || s.op.Kind == dialect.Watch:
		s.lost += s.shed(p.o.StreamBuffer)
		return
	default:
		why = "the output is too slow: too much waits to be read, and a session does not wait"
	}
	p.leaveStreamLocked(s, &wire.Fault{Kind: wire.IO, Method: s.op.Method, Message: why}, false)
}

// resumeReadingLocked lets the reader go on when s has room again.
func (p *Peer) resumeReadingLocked(s *stream) {
	if s.size <= p.o.StreamBuffer && p.calls.setOverfull(s, false) {
		p.change.pass()
	}
}

// wakeLocked wakes the consumer of s, if it waits.
func (p *Peer) wakeLocked(s *stream) {
	if !s.asks {
		return
	}
	s.asks = false
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// wakeAll wakes the consumers of what has been collected. The connection calls
// it when it is about to wait.
func (p *Peer) wakeAll() {
	p.mu.Lock()
	p.wakeDirtyLocked()
	p.mu.Unlock()
}

func (p *Peer) wakeDirtyLocked() {
	for _, s := range p.calls.dirty {
		s.dirty = false
		p.wakeLocked(s)
	}
	clear(p.calls.dirty)
	p.calls.dirty = p.calls.dirty[:0]
}
