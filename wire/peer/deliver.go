package peer

import (
	"context"
	"io"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// registerLocked puts s into the tables before its request msg is sent.
func (p *Peer) registerLocked(s *stream, msg wire.Message) {
	s.oneAnswer = s.oneAnswer || msg.Final
	p.calls.add(s, msg.ID)
	p.change.pass() // the reader must not stop now
}

// forgetLocked takes s out of every table and ends it: its consumer gets the messages that are
// queued and then err.
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

// deliverLocked queues m for s. It wakes the consumer at once, or when the connection has no
// further message ready.
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
	s.push(p.restored(m, s.own))
	if m.Final {
		p.forgetLocked(s, io.EOF)
		return
	}
	if s.size > easeBytes && !s.stuck {
		p.calls.behind = s
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

// overflowLocked handles a stream that queues too much. It ends the stream if it is over the limit
// by a whole message, which happens only while the reader must not stop.
//
// If the reader never stops (Options.Lossy), the stream loses its oldest messages or ends.
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

// resumeReadingLocked lets the reader go on if s has room again.
func (p *Peer) resumeReadingLocked(s *stream) {
	s.stuck = false
	if p.calls.behind == s && s.size <= easeBytes/2 {
		p.calls.behind = nil
		p.change.pass()
	}
	if s.size <= p.o.StreamBuffer && p.calls.setOverfull(s, false) {
		p.change.pass()
	}
}

// throttleLocked makes the reader wait while reading on would only fill memory. It never waits
// while a call or a handler needs an answer that is still to be read. The mutex is released while
// it waits.
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
		p.wg.Go(func() { p.watchFarEnd(stopped) })
	}
	_ = p.waitForLocked(context.Background(), &p.change, func() bool {
		if !p.mustStopLocked(in) {
			return true
		}
		p.wakeDirtyLocked()
		return false
	})
}

// The reader waits for a consumer that queues more than easeBytes, but no longer than easeFor: then
// little is queued, and it stays in the processor's caches. It waits for the same consumer again
// only when that has taken something.
const (
	easeBytes = 512 << 10
	easeFor   = 5 * time.Millisecond
)

// easeLocked makes the reader wait for the consumer of calls.behind, unless somebody needs an
// answer that is still to be read. The mutex is released while it waits.
func (p *Peer) easeLocked() {
	s := p.calls.behind
	p.wakeDirtyLocked()
	p.pipelineReadyLocked()
	late := time.NewTimer(easeFor)
	defer late.Stop()
	for p.calls.behind == s && !s.ended && !p.o.Lossy && p.state < closing && p.calls.waiting == 0 && p.inflight.unanswered == 0 {
		c := p.change.wait()
		p.unlockAndTell()
		stuck := false
		select {
		case <-c:
		case <-late.C:
			stuck = true
		}
		p.mu.Lock()
		if stuck {
			s.stuck = true
			break
		}
	}
	p.calls.behind = nil
}

func (p *Peer) mustStopLocked(in *stream) bool {
	switch {
	case p.state >= closing || p.abort != nil:
		return false
	case p.outbox.bytes > floodBytes: // answers that the far side does not read
		return true
	case in != nil: // an exchange is read on its own: nobody else waits for it
		return in.overfull || p.crowdedLocked() && !in.answers
	case p.calls.waiting == 0 && p.inflight.crowded(p.o.MaxInbound):
		return true
	}
	return (p.calls.overfull > 0 || p.notifications.full()) && p.calls.waiting == 0 && p.inflight.unanswered == 0
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

// wakeAll wakes the consumers that have messages. The connection calls it before it waits for
// input.
func (p *Peer) wakeAll() {
	p.mu.Lock()
	p.wakeDirtyLocked()
	p.pipelineReadyLocked()
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

// watch opens a stream of the peer's messages: all of them, or those that op takes. Its first
// messages are the greetings of that method that have come already.
func (p *Peer) watch(op dialect.Op) (dialect.Stream, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := newStream(p, op)
	if p.state != open {
		why := p.closeErr
		if p.state == eof {
			why = io.EOF
		}
		return nil, closedFault(why, op.Method, "")
	}
	p.calls.watches = append(p.calls.watches, s)
	for i := range p.calls.greetings {
		if m := p.calls.greetings[i]; op.Method != "" && op.Takes(m.Method) {
			m.Final = false
			p.deliverLocked(s, &m)
			p.wakeDirtyLocked() // the reader may be waiting already
		}
	}
	return s, nil
}

// followLocked makes s a watch of a single stream: nothing was sent for it, and it ends with that
// stream.
func (p *Peer) followLocked(s *stream, token wire.ID) (dialect.Stream, error) {
	switch {
	case p.exchanger != nil:
		return nil, &wire.Fault{Kind: wire.Usage, Method: s.op.Method, Message: "over HTTP nothing comes that was not asked for"}
	case p.state == eof:
		return nil, closedFault(io.EOF, s.op.Method, "")
	}
	s.token, s.follows = string(token), true
	p.calls.watches = append(p.calls.watches, s)
	null := []byte("null")
	p.deliverLocked(s, &wire.Message{Kind: wire.Response, Raw: null, Body: null}) // as if it had been answered
	p.wakeDirtyLocked()
	return s, nil
}

// isWatch reports whether s only shows messages and has no request of its own.
func (s *stream) isWatch() bool { return s.follows || s.op.Kind == dialect.Watch }

// sees reports whether a watch shows m. An item with Beside set is not shown again: the message
// that it belongs to is.
func (s *stream) sees(m *wire.Message) bool {
	switch {
	case m.Kind == wire.Item && m.Beside:
		return false
	case s.follows:
		return m.Kind == wire.Item && s.token == string(m.Stream)
	}
	return s.op.Takes(m.Method)
}

// watchedLocked delivers m to the watches and reports whether one of them showed it.
func (p *Peer) watchedLocked(m *wire.Message) (seen bool) {
	if m.Kind == wire.Invalid && isParseError(m) { // no JSON: nobody could read it
		return false
	}
	for i := len(p.calls.watches) - 1; i >= 0; i-- { // backwards, as a watch that queues too much is removed
		w := p.calls.watches[i]
		if !w.sees(m) {
			continue
		}
		seen = true
		final := m.Final // of its stream, which is not the watch's unless it follows that
		m.Final = final && w.follows
		p.deliverLocked(w, m)
		m.Final = final
	}
	return seen
}

// takenWholeLocked delivers an array that holds no message of the dialect to the watches and to
// Incoming as a whole, and reports whether any of them took it: a dialect other than JSON-RPC has
// no batches.
func (p *Peer) takenWholeLocked(msgs []wire.Message, raw []byte, in *stream) bool {
	for i := range msgs {
		if msgs[i].Kind != wire.Invalid || len(msgs[i].ID) > 0 || isParseError(&msgs[i]) {
			return false
		}
	}
	whole := &wire.Message{Kind: wire.Invalid, Raw: raw}
	if next := p.nextAnswerLocked(whole, in); next != nil {
		p.watchedLocked(whole)
		p.answerUnshapedLocked(next, whole)
		return true
	}
	if p.o.Client {
		whole.Kind, whole.Params, whole.Body = wire.Notification, raw, raw
	}
	return p.watchedLocked(whole) || p.incomingLocked(whole)
}
