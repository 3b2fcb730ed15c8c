package peer

import (
	"bytes"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// strayLocked takes an error that belongs to no call.
func (p *Peer) strayLocked(m *wire.Message) {
	if !p.incomingLocked(m) {
		p.noteLocked(Note{Kind: NoteStrayError, Text: "the far side says: " + m.Err.Error(), Err: m.Err.Clone()})
	}
}

// blameLocked remembers that an error without an id may come of m, a message of the
// user's own that is none, and then is no call's.
func (p *Peer) blameLocked(m wire.Message) {
	if m.Kind == wire.Invalid && m.Err != nil {
		p.calls.idless++
	}
}

// invalidLocked takes a message that is none. A broken answer fails its call; what
// the far side may want an answer to gets one.
func (p *Peer) invalidLocked(m *wire.Message, g *group, in *stream, seen bool) {
	what := "a malformed message came"
	if m.Err != nil {
		what += ": " + m.Err.Message
		if why, ok := scan.Text(m.Err.Data); ok {
			what += " (" + why + ")"
		}
	}
	s := p.calls.byID[string(m.ID)]
	switch {
	case len(m.ID) > 0 && s != nil && m.Method == "":
		p.malformedLocked(s, what)
		return
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
	if seen || !isParseError(m) && p.incomingLocked(m) { // the far side does not speak this dialect, and somebody knows
		return
	}
	p.noteLocked(Note{Kind: NoteMalformed, Text: what + ": " + excerpt(m.Raw)})
	if in != nil {
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
