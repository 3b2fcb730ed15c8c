package peer

import (
	"io"
	"slices"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// register puts s into the table of calls. The lock is held.
func (p *Peer) register(s *stream, msg wire.Message) {
	s.id = string(msg.ID)
	s.single = s.single || msg.Final
	p.calls[s.id] = s
	p.wait(s, true)
	p.change.pass() // the reader must not stop now
}

// wait notes that s waits for its first response, or does no more.
func (p *Peer) wait(s *stream, on bool) {
	if s.waiting == on {
		return
	}
	s.waiting = on
	n := 1
	if !on {
		n = -1
	}
	p.waiting += n
	if !s.single {
		p.awaiting += n
	}
}

// forget takes s out of every table and ends it: after what is queued its
// consumer gets err. The lock is held.
func (p *Peer) forget(s *stream, err error) {
	if s.ended {
		return
	}
	p.wait(s, false)
	if p.calls[s.id] == s {
		delete(p.calls, s.id)
	}
	if s.named {
		p.late.add(s.token)
		if p.streams[s.token] == s {
			delete(p.streams, s.token)
		}
	}
	if s.isWatch() {
		p.watches = slices.DeleteFunc(p.watches, func(w *stream) bool { return w == s })
	}
	s.ended, s.err = true, err
	if s.over {
		s.over = false
		p.over--
		p.change.pass()
	}
	p.rouse(s)
}

// leaveBehind keeps s, which nobody waits for, under its id: its response, if it
// still comes, is no surprise, and a stream that it opens must be ended.
func (p *Peer) leaveBehind(s *stream) {
	if s.id == "" {
		return
	}
	if len(p.left) >= recentMost {
		for id := range p.left { // any: most will never be answered
			delete(p.left, id)
			break
		}
	}
	p.left[s.id] = s
}

// name enters s in the table of streams under token.
func (p *Peer) name(s *stream, token wire.ID) {
	s.token, s.named = string(token), true
	p.streams[s.token] = s
}

// deliver queues m for s and wakes its consumer now or when the connection has
// nothing more at once. The lock is held.
func (p *Peer) deliver(s *stream, m *wire.Message) {
	if s.ended {
		return
	}
	if s.op.Items != nil && m.Kind == wire.Item {
		s.op.Items(m.Clone())
		if m.Final {
			p.forget(s, io.EOF)
		}
		return
	}
	s.push(restored(m, s.own))
	if m.Final {
		p.forget(s, io.EOF)
		return
	}
	if s.size > p.o.StreamBuffer {
		p.overflow(s)
	}
	switch {
	case !p.idler || s.size >= wakeBytes:
		p.rouse(s)
	case !s.dirty:
		s.dirty = true
		p.dirty = append(p.dirty, s)
	}
}

// overflow notes that s queues too much, and ends it when it queues a whole
// message too much, which happens only while the reader cannot stop.
//
// Where the reader never stops, the stream loses its oldest messages, or ends.
func (p *Peer) overflow(s *stream) {
	why := "the output is too slow: too much waits to be read, and reading had to go on for an answer"
	switch {
	case !p.o.Lossy:
		if !s.over {
			s.over = true
			p.over++
		}
		if s.size <= p.o.StreamBuffer+p.o.MaxMessage {
			return
		}
	case s.op.Kind == dialect.Subscribe || s.op.Kind == dialect.Watch:
		s.lost += s.shed(p.o.StreamBuffer)
		return
	default:
		why = "the output is too slow: too much waits to be read, and a session does not wait"
	}
	p.leaveStream(s, &wire.Fault{Kind: wire.IO, Method: s.op.Method, Message: why}, false)
}

// relieve lets the reader go on when s has room again. The lock is held.
func (p *Peer) relieve(s *stream) {
	if s.over && s.size <= p.o.StreamBuffer {
		s.over = false
		p.over--
		p.change.pass()
	}
}

// rouse wakes the consumer of s, if it waits. The lock is held.
func (p *Peer) rouse(s *stream) {
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
	p.wakeDirty()
	p.mu.Unlock()
}

func (p *Peer) wakeDirty() {
	for _, s := range p.dirty {
		s.dirty = false
		p.rouse(s)
	}
	clear(p.dirty)
	p.dirty = p.dirty[:0]
}
