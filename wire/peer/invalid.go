package peer

import (
	"bytes"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// strayLocked handles an error that belongs to no call.
func (p *Peer) strayLocked(m *wire.Message) {
	if !p.incomingLocked(m) {
		p.noteLocked(Note{Kind: NoteStrayError, Text: "the far side says: " + m.Err.Error(), Err: m.Err.Clone()})
	}
}

// unclaimedLocked handles a message that belongs to no call of ours.
func (p *Peer) unclaimedLocked(m *wire.Message) {
	switch {
	case m.Kind == wire.Item && m.Beside: // it belongs to no call, and Incoming sees the message that it is about
		if ev, err := dialect.EventOf(p.codec, *m); err == nil && p.o.Incoming == nil {
			p.noteLocked(noteOf(ev))
		}
		return
	case m.Kind == wire.Item:
		m.Kind, m.Body, m.Final, m.Err = wire.Notification, m.Params, false, nil
		p.notificationLocked(m)
		return
	}
	if !p.passToAskerLocked(m) && !p.incomingLocked(m) {
		p.noteLocked(Note{Kind: NoteUnknownResponse, Text: "a response to no call of ours was dropped: " + excerpt(m.Raw)})
	}
}

// invalidLocked handles a malformed message. A malformed answer fails its call. A malformed message
// of a client is answered with an error; one of a server only if it has a method and an id, so that
// it waits for an answer: anything else may be an error, and errors must not be answered with
// errors.
func (p *Peer) invalidLocked(m *wire.Message, g *group, in *stream, seen bool) {
	asks := m.Method != "" && !m.Bare
	what := "a malformed message came"
	if m.Err != nil {
		what += ": " + m.Err.Message
		if why, ok := scan.Text(m.Err.Data); ok {
			what += " (" + why + ")"
		}
	}
	s := p.calls.find(m.ID)
	switch {
	case len(m.ID) > 0 && s != nil && !asks && s.op.Kind == dialect.Raw && s.waiting && !isParseError(m):
		p.answerUnshapedLocked(s, m) // the user has sent a message of his own
		return
	case len(m.ID) > 0 && s != nil && !asks:
		p.malformedLocked(s, what)
		return
	case !asks && !isParseError(m):
		if next := p.nextAnswerLocked(m, in); next != nil {
			p.answerUnshapedLocked(next, m)
			return
		}
	}
	switch {
	case m.Final: // it is an answer, which must not be answered
		p.noteLocked(Note{Kind: NoteMalformed, Text: what + ": " + excerpt(m.Raw)})
		return
	case in != nil:
		in.malformed = what
	case looksBroken(m):
		if calls := p.calls.refused(nil, true); len(calls) > 0 {
			for _, s := range calls {
				p.malformedLocked(s, what)
			}
			return
		}
	}
	if p.bareLocked(m) || seen || !isParseError(m) && p.incomingLocked(m) { // the peer does not speak this dialect, and Incoming handles the message
		return
	}
	p.noteLocked(Note{Kind: NoteMalformed, Text: what + ": " + excerpt(m.Raw)})
	if in != nil || p.o.Client && !(asks && len(m.ID) > 0) {
		return
	}
	p.answerInvalidLocked(m, g)
}

func (p *Peer) malformedLocked(s *stream, what string) {
	p.forgetLocked(s, &wire.Fault{Kind: wire.Protocol, Method: s.op.Method, Message: what + ", in answer to " + quoted(s.op.Method)})
}

// looksBroken reports whether m was probably meant as a message: it is no JSON, but begins like an
// object or an array. If exactly one call waits, m is taken for its answer.
func looksBroken(m *wire.Message) bool {
	t := bytes.TrimLeft(m.Raw, " \t\r\n")
	return isParseError(m) && m.Method == "" && len(t) > 0 && (t[0] == '{' || t[0] == '[')
}

func isParseError(m *wire.Message) bool { return m.Err != nil && string(m.Err.Code) == "-32700" }

// isUnshaped reports whether m, which the user has written, is no message of the dialect and has no
// id, so that its answer cannot be recognised.
func isUnshaped(m wire.Message) bool { return m.Kind == wire.Invalid && m.Err != nil && len(m.ID) == 0 }

// repliesLocked reports whether op, which expects no answer, gets a reply nevertheless: a Raw
// message over HTTP does.
func (p *Peer) repliesLocked(op dialect.Op) bool {
	return op.Kind == dialect.Raw && op.Answer == nil && p.exchanger != nil
}

// nextAnswerLocked returns the user's own message that m answers although no id says so: over HTTP
// the one of the same exchange, else the oldest that waits for any message. An m that names a call
// answers no other.
func (p *Peer) nextAnswerLocked(m *wire.Message, in *stream) *stream {
	candidates := p.calls.unshaped
	switch {
	case in != nil && in.op.Kind == dialect.Raw && in.waiting:
		return in
	case in != nil && in.batch != nil:
		candidates = in.batch.sent
	case in != nil:
		return nil
	}
	// A message with an id, an event, or anything but an object does not answer a message that has
	// an id itself.
	named := !noID(m.ID) || m.Kind == wire.Invalid && (m.Final || m.Bare && m.Method != "" || scan.Type(m.Raw) != 'o')
	for _, s := range candidates {
		if s.waiting && (s.isLoose() || in == nil && !named) {
			return s
		}
	}
	return nil
}

// answerUnshapedLocked delivers m to s as its answer. m counts as an error only if it has a code: a
// message that was no request may be answered by something that is no response.
func (p *Peer) answerUnshapedLocked(s *stream, m *wire.Message) {
	c := *m
	c.Final = true
	if m.Err == nil || m.Kind != wire.Response || m.Err.Code == nil {
		c.Err = nil
		c.Event = &wire.Event{Kind: wire.Data, Final: true, Data: bytes.Clone(m.Raw)}
	}
	p.calls.setWaiting(s, false)
	answer := p.restored(&c, s.own)
	p.answerToLocked(s.op.Answer, answer)
	p.deliverLocked(s, &c)
}

// nameBareLocked sets the method of a server's object that is no message of the dialect, so that
// watches and hooks can handle it as an event; its params are the whole object.
func (p *Peer) nameBareLocked(m *wire.Message) {
	if !p.o.Client || m.Kind != wire.Invalid || m.Method != "" || m.Final || isParseError(m) || scan.Type(m.Raw) != 'o' {
		return
	}
	m.Params, m.Body, m.Bare = m.Raw, m.Raw, true
	for _, member := range [...]string{"event", "notification", "type"} { // the most specific first
		if name, ok := scan.Text(scan.Get(m.Raw, member)); ok && name != "" {
			m.Method = name
			return
		}
	}
}

// bareLocked handles a server's event that is no message of the dialect as a notification, if a
// watch or hook exists for its name. It reports whether it did.
func (p *Peer) bareLocked(m *wire.Message) bool {
	if !m.Bare {
		return false
	}
	m.Kind, m.ID, m.Err = wire.Notification, nil, nil
	if m.Method == "" {
		return p.incomingLocked(m)
	}
	p.notificationLocked(m)
	return true
}
