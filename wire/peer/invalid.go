package peer

import (
	"bytes"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// strayLocked takes an error that belongs to no call.
func (p *Peer) strayLocked(m *wire.Message) {
	if !p.incomingLocked(m) {
		p.noteLocked(Note{Kind: NoteStrayError, Text: "the far side says: " + m.Err.Error(), Err: m.Err.Clone()})
	}
}

// unclaimedLocked takes a message that belongs to no call of ours.
func (p *Peer) unclaimedLocked(m *wire.Message) {
	switch {
	case m.Kind == wire.Item && m.Beside: // of no call; Incoming sees the message itself
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

// invalidLocked takes a message that is malformed. A malformed answer fails its
// call. A client's message gets an error response; a server's only if it has a
// method and an id, and so waits for one: a malformed error has neither, and errors
// must not be answered with errors.
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
		p.answerUnshapedLocked(s, m) // the user asked in his own words
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
	case m.Final: // an answer, of which an answer would be no use
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
	if p.bareLocked(m) || seen || !isParseError(m) && p.incomingLocked(m) { // the far side does not speak this dialect, and somebody knows
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

// looksBroken reports whether m was meant as a message: it is no JSON, but
// begins like an object or an array. With one call waiting it is taken for its
// answer.
func looksBroken(m *wire.Message) bool {
	t := bytes.TrimLeft(m.Raw, " \t\r\n")
	return isParseError(m) && m.Method == "" && len(t) > 0 && (t[0] == '{' || t[0] == '[')
}

func isParseError(m *wire.Message) bool { return m.Err != nil && string(m.Err.Code) == "-32700" }

// isUnshaped reports whether m, a message of the user's own, is no message of the
// dialect and has no id: nothing in it says what its answer will look like.
func isUnshaped(m wire.Message) bool { return m.Kind == wire.Invalid && m.Err != nil && len(m.ID) == 0 }

// repliesLocked reports whether op, which asks for no answer, gets a reply all the
// same: over HTTP a message of the user's own does.
func (p *Peer) repliesLocked(op dialect.Op) bool {
	return op.Kind == dialect.Raw && op.Answer == nil && p.exchanger != nil
}

// nextAnswerLocked returns the message of the user's own that m answers though no id
// says so: over HTTP that of the same exchange; elsewhere the oldest that waits for
// whatever comes next. A message that names a call answers no other.
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
	// What has an id, perhaps a strange one, or is an event, or no object, does not
	// answer what has an id itself.
	named := !noID(m.ID) || m.Kind == wire.Invalid && (m.Final || m.Bare && m.Method != "" || scan.Type(m.Raw) != 'o')
	for _, s := range candidates {
		if s.waiting && (s.isLoose() || in == nil && !named) {
			return s
		}
	}
	return nil
}

// answerUnshapedLocked gives m to s, which is answered by it. Only an error that has a
// code is one: what was no request need not be answered by a response.
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

// nameBareLocked gives an object of a server that is no message of the dialect its
// name, by which watches and hooks know it as an event; its params are all of it.
func (p *Peer) nameBareLocked(m *wire.Message) {
	if !p.o.Client || m.Kind != wire.Invalid || m.Method != "" || m.Final || isParseError(m) || scan.Type(m.Raw) != 'o' {
		return
	}
	m.Params, m.Body, m.Bare = m.Raw, m.Raw, true
	for _, member := range [...]string{"event", "notification", "type"} { // the more telling first
		if name, ok := scan.Text(scan.Get(m.Raw, member)); ok && name != "" {
			m.Method = name
			return
		}
	}
}

// bareLocked treats a server's event that is no message of the dialect as a
// notification, if something watches for its name. It reports whether it was taken.
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
