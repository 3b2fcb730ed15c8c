package peer

import (
	"context"
	"io"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// registerLocked adds s to the tables before its request, msg, is sent. The caller holds the lock.
func (p *Peer) registerLocked(s *stream, msg wire.Message) {
	if s.oneAnswer = s.oneAnswer || msg.Final; len(msg.ID) > 0 {
		p.calls.add(s, msg.ID)
	} else {
		p.calls.addUnshaped(s)
	}
	p.change.Pass() // the reader must not stop from now on
}

// forgetLocked removes s from all tables and ends it. Its consumer receives the queued messages and then err. The
// caller holds the lock.
func (p *Peer) forgetLocked(s *stream, err error) {
	if s.ended() {
		return
	}
	if s.overfull {
		p.change.Pass()
	}
	p.calls.remove(s)
	s.box.End(err)
}

// respondLocked delivers m, which has the id of s: to the Answer function of a Raw operation or to Incoming, and to the
// consumer. s then no longer waits for its response, unless m is only a part of another message. The caller holds the
// lock.
func (p *Peer) respondLocked(s *stream, m *wire.Message) {
	if !m.Beside {
		p.calls.setWaiting(s, false)
	}
	p.passLocked(s, m)
	p.deliverLocked(s, m)
}

// deliverLocked queues m for s. It wakes the consumer at once if the queue is long, and otherwise before the reader
// waits for more input. The caller holds the lock.
func (p *Peer) deliverLocked(s *stream, m *wire.Message) {
	if s.ended() {
		return
	}
	s.streamed = s.streamed || m.Kind == wire.Item
	if s.op.Items != nil && m.Kind == wire.Item {
		s.op.Items(m.Clone())
		if m.Final {
			p.forgetLocked(s, io.EOF)
		}
		return
	}
	s.box.Put(s.restored(m))
	if m.Final {
		p.forgetLocked(s, io.EOF)
		return
	}
	if s.box.Size() > easeBytes && !s.stuck {
		p.calls.behind = s
	}
	if s.box.Size() > p.o.StreamBuffer {
		p.overflowLocked(s)
	}
	switch {
	case !p.idler || s.box.Full():
		s.box.Wake()
	case s.box.Hold():
		p.calls.dirty = append(p.calls.dirty, s)
	}
}

// restored returns the response m with the user's original id.
func (s *stream) restored(m *wire.Message) *wire.Message {
	if s.restore == nil {
		return m
	}
	return s.restore(*m)
}

// passLocked passes a response to a Raw operation to the operation's Answer function, or to Incoming if there is none.
// The order of all messages is kept. The caller holds the lock.
func (p *Peer) passLocked(s *stream, m *wire.Message) {
	if s.op.Kind != dialect.Raw {
		return
	}
	m = s.restored(m)
	if s.op.Answer == nil {
		p.incomingLocked(m)
		return
	}
	c := m.Clone()
	p.calls.wake()
	p.mu.Unlock()
	defer p.mu.Lock()
	s.op.Answer(c)
}

// overflowLocked handles a stream whose queue is too long. It ends the stream if the queue exceeds the limit by more
// than MaxMessage, which can happen only while the reader must not stop. The caller holds the lock.
//
// With Options.Lossy, the reader never stops. The stream then loses its oldest messages, or ends.
func (p *Peer) overflowLocked(s *stream) {
	why := "the output is too slow: its queue is full, and other calls wait for responses"
	switch {
	case !p.o.Lossy:
		p.calls.setOverfull(s, true)
		if s.box.Size() <= p.o.StreamBuffer+p.o.MaxMessage {
			return
		}
	case s.op.Kind == dialect.Subscribe || s.op.Kind == dialect.Watch:
		s.box.Shed(p.o.StreamBuffer)
		return
	default:
		why = "the output is too slow: too many messages are unread, and a session does not wait"
	}
	p.leaveStreamLocked(s, &wire.Fault{Kind: wire.IO, Method: s.op.Method, Message: why}, false)
}

// resumeReadingLocked lets the reader continue if the queue of s has room again. The caller holds the lock.
func (p *Peer) resumeReadingLocked(s *stream) {
	s.stuck = false
	if p.calls.behind == s && s.box.Size() <= easeBytes/2 {
		p.calls.behind = nil
		p.change.Pass()
	}
	if s.box.Size() <= p.o.StreamBuffer && p.calls.setOverfull(s, false) {
		p.change.Pass()
	}
}

// throttleLocked makes the reader wait while further messages would only fill memory. The reader never waits while a
// call or a handler needs a response that the reader has not read yet. The caller holds the lock, which the wait
// releases.
func (p *Peer) throttleLocked(in *stream) {
	if in == nil && p.calls.behind != nil {
		p.easeLocked()
	}
	if !p.mustStopLocked(in) {
		return
	}
	p.pipelineReadyLocked()
	if p.exchanger == nil {
		stopped, reads := context.WithCancel(context.Background())
		defer reads()
		p.wg.Go(func() { p.watchCloseState(stopped) })
	}
	_ = p.waitForLocked(context.Background(), &p.change, func() bool {
		if !p.mustStopLocked(in) {
			return true
		}
		p.calls.wake()
		return false
	})
}

// The reader waits for a consumer with more than easeBytes in its queue, for at most easeFor. This keeps queues short
// enough to fit into the processor's caches. The reader does not wait for the same consumer again until that consumer
// has taken messages.
const (
	easeBytes = 512 << 10
	easeFor   = 5 * time.Millisecond
)

// easeLocked makes the reader wait for the consumer of calls.behind, unless a call or a handler needs a response that
// the reader has not read yet. The caller holds the lock, which the wait releases.
func (p *Peer) easeLocked() {
	s := p.calls.behind
	p.calls.wake()
	p.pipelineReadyLocked()
	ctx, cancel := context.WithTimeout(context.Background(), easeFor)
	defer cancel()
	err := p.waitForLocked(ctx, &p.change, func() bool {
		return p.calls.behind != s || s.ended() || p.o.Lossy || !p.end.Live() || p.neededLocked()
	})
	s.stuck = err != nil
	p.calls.behind = nil
}

// neededLocked reports whether a local call or a handler may need a response that the reader has not read yet. The
// caller holds the lock.
func (p *Peer) neededLocked() bool { return p.calls.waiting > 0 || p.requests.Unanswered() }

func (p *Peer) mustStopLocked(in *stream) bool {
	switch {
	case !p.end.Live() || p.end.Abort != nil:
		return false
	case p.outbox.bytes > floodBytes: // answers that the peer does not read
		return true
	case in != nil: // an exchange is read separately and delays no other
		return in.overfull || p.crowdedLocked() && !in.exchange.answers
	case p.calls.waiting == 0 && p.requests.Crowded():
		return true
	}
	return (p.calls.overfull > 0 || p.notifications.Full()) && !p.neededLocked()
}

// wakeAll wakes all consumers that have messages. The connection calls it before it waits for input.
func (p *Peer) wakeAll() {
	p.mu.Lock()
	p.calls.wake()
	p.pipelineReadyLocked()
	p.mu.Unlock()
}

// pipelineReadyLocked calls the ready function of the pipeline, because responses may have arrived. It releases the
// lock during the call.
func (p *Peer) pipelineReadyLocked() {
	if l := p.calls.pipeline; l != nil {
		p.mu.Unlock()
		l.ready()
		p.mu.Lock()
	}
}
