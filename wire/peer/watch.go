package peer

import (
	"io"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// watch opens a stream of what comes in: every message, or those of op.Method.
// A greeting of that method that has come already is its first message.
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
		if m := p.calls.greetings[i]; op.Method != "" && m.Method == op.Method {
			m.Final = false
			p.deliverLocked(s, &m)
			p.wakeDirtyLocked() // the reader may be waiting already
		}
	}
	return s, nil
}

// followLocked makes s a watch of one stream, which nothing was sent for and which ends
// with the stream.
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

// isWatch says that s only looks on.
func (s *stream) isWatch() bool { return s.follows || s.op.Kind == dialect.Watch }

// sees says whether a watch takes m. What stands beside another message is that
// message once more.
func (s *stream) sees(m *wire.Message) bool {
	switch {
	case m.Kind == wire.Item && m.Beside:
		return false
	case s.follows:
		return m.Kind == wire.Item && s.token == string(m.Stream)
	}
	return s.op.Method == "" || s.op.Method == m.Method
}

// watchedLocked gives m to the watches and says whether one of them took it.
func (p *Peer) watchedLocked(m *wire.Message) (seen bool) {
	if m.Kind == wire.Invalid && isParseError(m) { // no JSON: nobody could read it
		return false
	}
	for i := len(p.calls.watches) - 1; i >= 0; i-- { // from behind: one that queues too much is taken out
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

// takenWholeLocked gives an array that holds no message to the watches and to Incoming
// as one, and says whether somebody took it: what speaks no JSON-RPC has no
// batches.
func (p *Peer) takenWholeLocked(msgs []wire.Message, raw []byte) bool {
	for i := range msgs {
		if msgs[i].Kind != wire.Invalid || len(msgs[i].ID) > 0 || isParseError(&msgs[i]) {
			return false
		}
	}
	whole := &wire.Message{Kind: wire.Invalid, Raw: raw}
	return p.watchedLocked(whole) || p.incomingLocked(whole)
}
