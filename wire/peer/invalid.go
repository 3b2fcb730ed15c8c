package peer

import (
	"bytes"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// stray takes an error that belongs to no call.
func (p *Peer) stray(m *wire.Message) {
	if !p.incoming(m) {
		p.later(Note{Kind: NoteStrayError, Text: "the far side says: " + m.Err.Error(), Err: m.Err.Clone()})
	}
}

// blame remembers that an error without an id may come of m, a message of the
// user's own that is none, and then is no call's. The lock is held.
func (p *Peer) blame(m wire.Message) {
	if m.Kind == wire.Invalid && m.Err != nil {
		p.nameless++
	}
}

// refused are the calls that an error without id belongs to: what was sent in
// its exchange, else the only message that waits for an answer. That is one
// call, or a batch of which nothing is answered: a server that takes none says
// so once. alone says that the error was no member of an array, whose members
// answer those of the batch one by one.
func (p *Peer) refused(in *stream, alone bool) []*stream {
	switch {
	case in != nil && in.batch != nil:
		if alone && in.batch.unanswered() {
			return in.batch.sent
		}
		return nil
	case in != nil:
		if in.waiting {
			return []*stream{in}
		}
		return nil
	}
	for _, s := range p.calls {
		switch {
		case !s.waiting:
		case p.waiting == 1:
			return []*stream{s}
		case alone && s.batch != nil && len(s.batch.sent) == p.waiting && s.batch.unanswered():
			return s.batch.sent
		default:
			return nil
		}
	}
	return nil
}

// invalid takes a message that is none. A broken answer fails its call; what
// the far side may want an answer to gets one.
func (p *Peer) invalid(m *wire.Message, g *group, in *stream, seen bool) {
	what := "a malformed message came"
	if m.Err != nil {
		what += ": " + m.Err.Message
		if why, ok := scan.Text(m.Err.Data); ok {
			what += " (" + why + ")"
		}
	}
	s := p.calls[string(m.ID)]
	switch {
	case len(m.ID) > 0 && s != nil && m.Method == "":
		p.malformed(s, what)
		return
	case m.Final: // an answer, of which an answer would be no use
		p.later(Note{Kind: NoteMalformed, Text: what + ": " + excerpt(m.Raw)})
		return
	case in != nil:
		in.malformed = what
	case looksBroken(m):
		if calls := p.refused(nil, true); len(calls) > 0 {
			for _, s := range calls {
				p.malformed(s, what)
			}
			return
		}
	}
	if seen || !isParseError(m) && p.incoming(m) { // the far side does not speak this dialect, and somebody knows
		return
	}
	p.later(Note{Kind: NoteMalformed, Text: what + ": " + excerpt(m.Raw)})
	if in != nil {
		return
	}
	p.answerInvalid(m, g)
}

func (p *Peer) malformed(s *stream, what string) {
	p.forget(s, &wire.Fault{Kind: wire.Protocol, Method: s.op.Method, Message: what + ", in answer to " + quoted(s.op.Method)})
}

// looksBroken says that m was meant as a message: it is no JSON, but begins
// like an object or an array. With one call waiting it is taken for its answer.
func looksBroken(m *wire.Message) bool {
	t := bytes.TrimLeft(m.Raw, " \t\r\n")
	return isParseError(m) && m.Method == "" && len(t) > 0 && (t[0] == '{' || t[0] == '[')
}

func isParseError(m *wire.Message) bool { return m.Err != nil && string(m.Err.Code) == "-32700" }
