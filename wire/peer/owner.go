package peer

import (
	"bytes"
	"strconv"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// An owner is the local call that a message belongs to, and the role that the message has in it.
type owner struct {
	as    role
	call  *stream
	whole bool // the message is the response to the whole batch
}

// others returns the other calls of the batch if the message is the response to the whole batch.
func (o *owner) others() []*stream {
	if !o.whole {
		return nil
	}
	return o.call.batch.sent[1:]
}

// A role is the relation of a message to a call.
type role uint8

const (
	noOwner    role = iota // m belongs to no call
	answer                 // m is the first response
	unshaped               // m is the response to a user's message of unknown form; it need not have the form of a response
	item                   // m has the id of its call
	streamed               // m is an item of the call's stream
	unnamed                // m is an item of a stream that no response has named yet; call is the call of the same exchange
	broken                 // m is malformed, and its call must fail
	lateAnswer             // m is a response to an abandoned call
	misspelled             // m belongs to no call, but its id is that of call with another type
	leftOpen               // m is the first item of a stream that has been cancelled
	dropped                // its call or stream has ended
)

// owner returns the owner of m. in is the call whose exchange carried m, or nil if the connection carries messages in
// both directions. alone is set if m was not an element of an array. Requests and notifications have no owner.
func (c *calls) owner(m *wire.Message, in *stream, alone bool) owner {
	switch m.Kind {
	case wire.Response:
		return c.ofResponse(m, in, alone)
	case wire.Item:
		return c.ofItem(m, in)
	case wire.Invalid:
		return c.ofInvalid(m, in)
	}
	return owner{}
}

func (c *calls) ofResponse(m *wire.Message, in *stream, alone bool) owner {
	id := m.ID.Key()
	s := c.byID[string(id)]
	switch {
	case s != nil && s.waiting:
		return owner{as: answer, call: s}
	case s != nil: // items of this dialect have the id of their request
		m.Kind, m.Stream = wire.Item, nil
		m.Final = m.Final || m.Err != nil
		return owner{as: streamed, call: s}
	case noID(m.ID):
		return c.ofAnonymous(m, in, alone)
	case c.abandoned[string(id)] != nil: // no further response can arrive
		late := c.abandoned[string(id)]
		delete(c.abandoned, late.key)
		return owner{as: lateAnswer, call: late}
	case in != nil && in.box.Dropped() && in.key == string(id): // its exchange is about to be cancelled
		return owner{as: dropped}
	}
	if o := c.ofShapeless(m, in); o.call != nil {
		return o
	}
	return c.ofMisspelled(m.ID)
}

// ofMisspelled returns the waiting call whose id is the same number as id, but as a string, or the reverse.
func (c *calls) ofMisspelled(id wire.ID) owner {
	number, err := strconv.ParseFloat(string(bytes.Trim(id, `"`)), 64)
	if err != nil {
		return owner{}
	}
	plain := strconv.FormatFloat(number, 'f', -1, 64)
	for _, id := range []string{plain, `"` + plain + `"`} {
		if s := c.find(wire.ID(id)); s != nil && s.waiting {
			return owner{as: misspelled, call: s}
		}
	}
	return owner{}
}

// ofAnonymous returns the owner of a response without an id: the call that was sent without an id or, for an error, the
// only call or batch that it can belong to.
func (c *calls) ofAnonymous(m *wire.Message, in *stream, alone bool) owner {
	var o owner
	if m.Err != nil {
		o = c.refused(in, alone)
	}
	if next := c.ofShapeless(m, in); next.call != nil && !o.whole {
		return next
	}
	return o
}

// ofItem returns the owner of an item: the call with its id, the call of its exchange, or its stream. An item of an
// unknown stream belongs to the call of its exchange if that exchange is still open.
func (c *calls) ofItem(m *wire.Message, in *stream) owner {
	id := m.ID
	if len(id) == 0 && m.Beside {
		if in != nil && !in.ended() && !in.exchange.answers {
			return owner{as: item, call: in}
		}
		id = m.Target
	}
	switch s := c.find(id); {
	case s != nil:
		return owner{as: item, call: s}
	case m.Stream != nil:
		return c.ofStream(m, in)
	case len(m.ID) > 0 && c.abandoned[string(m.ID.Key())] != nil:
		return owner{as: dropped}
	}
	return owner{}
}

func (c *calls) ofStream(m *wire.Message, in *stream) owner {
	if in != nil && !in.ended() { // other exchanges may use the same tokens
		if o := c.ofExchange(m, in); o.call != nil {
			return o
		}
	}
	if s := c.byToken[string(m.Stream)]; s != nil {
		return owner{as: streamed, call: s}
	}
	if s := c.leftOpen[string(m.Stream)]; s != nil {
		delete(c.leftOpen, s.token)
		return owner{as: leftOpen, call: s}
	}
	switch {
	case len(m.ID) > 0 && c.abandoned[string(m.ID.Key())] != nil, c.endedStreams.Has(m.Stream):
		return owner{as: dropped}
	case c.awaiting > 0:
		return owner{as: unnamed}
	}
	return owner{}
}

// ofExchange returns the owner of an item in the exchange of in. If the exchange does not determine the owner, it
// returns an owner without a call.
func (c *calls) ofExchange(m *wire.Message, in *stream) owner {
	switch {
	case c.unsolicited && !in.waiting && !in.named && !in.exchange.answers:
		c.name(in, m.Stream)
		return owner{as: streamed, call: in}
	case in.named && in.token == string(m.Stream):
		return owner{as: streamed, call: in}
	case in.waiting && !in.oneAnswer:
		return owner{as: unnamed, call: in}
	}
	return owner{}
}

// ofInvalid returns the owner of a malformed message: the call that it was meant to answer.
func (c *calls) ofInvalid(m *wire.Message, in *stream) owner {
	if m.Method != "" && !m.Bare { // such a message is not a response
		return owner{}
	}
	s, bad := c.find(m.ID), isParseError(m)
	switch {
	case s != nil && s.op.Kind == dialect.Raw && s.waiting && !bad: // the user has sent a message of his own
		return owner{as: unshaped, call: s}
	case s != nil:
		return owner{as: broken, call: s}
	case !bad:
		return c.ofShapeless(m, in)
	case m.Final || in != nil || !looksBroken(m):
		return owner{}
	}
	o := c.refused(nil, true)
	if o.call != nil {
		o.as = broken
	}
	return o
}

func isParseError(m *wire.Message) bool { return m.Err != nil && string(m.Err.Code) == "-32700" }

// looksBroken reports whether m, which is invalid JSON, begins like an object or an array, and was therefore probably
// meant as a message. If exactly one call is waiting, m then counts as its response.
func looksBroken(m *wire.Message) bool {
	t := bytes.TrimLeft(m.Raw, " \t\r\n")
	return len(t) > 0 && (t[0] == '{' || t[0] == '[')
}

// ofShapeless returns the user's message whose response is m, which has no id. Over HTTP, it is the message of the same
// exchange. Otherwise it is the oldest message whose response may have any form, unless m belongs to another call.
func (c *calls) ofShapeless(m *wire.Message, in *stream) owner {
	candidates := c.unshaped
	switch {
	case in != nil && in.op.Kind == dialect.Raw && in.waiting:
		return owner{as: unshaped, call: in}
	case in != nil && in.batch != nil:
		candidates = in.batch.sent
	case in != nil:
		return owner{}
	}
	for _, s := range candidates {
		if s.waiting && (s.isLoose() || in == nil && !refers(m)) {
			return owner{as: unshaped, call: s}
		}
	}
	return owner{}
}

// refers reports whether m cannot be the response to a message with another id, because m has an id, is an event, or is
// not an object.
func refers(m *wire.Message) bool {
	if !noID(m.ID) || m.Kind != wire.Invalid {
		return !noID(m.ID)
	}
	return m.Final || m.Bare && m.Method != "" || !bytes.HasPrefix(m.Raw, []byte("{"))
}

// refused returns the calls that fail because of an error without an id: the call of the exchange, or else the calls of
// the only message that has no response. That message is a single call, or a batch without any responses, because a
// server that does not support batches answers a whole batch with one error. alone is set if the error was not an
// element of an array. An error inside an array answers only one call of the batch.
func (c *calls) refused(in *stream, alone bool) owner {
	if in != nil {
		switch {
		case in.batch != nil && alone && in.batch.unanswered():
			return in.batch.owner()
		case in.batch == nil && in.waiting:
			return owner{as: answer, call: in}
		}
		return owner{}
	}
	c.promoteAllLocked()
	for _, s := range c.byID {
		switch {
		case !s.waiting:
		case c.waiting == 1:
			return owner{as: answer, call: s}
		case alone && s.batch != nil && len(s.batch.sent) == c.waiting && s.batch.unanswered():
			return s.batch.owner()
		default:
			return owner{}
		}
	}
	return owner{}
}

// find returns the call with that id, or nil.
func (c *calls) find(id wire.ID) *stream {
	if len(id) == 0 {
		return nil
	}
	id = id.Key()
	if s := c.byID[string(id)]; s != nil {
		return s
	}
	at := c.pipeline.slot(id)
	return c.pipeline.promote(at)
}

// name stores s in byToken under the stream's token.
func (c *calls) name(s *stream, token wire.ID) {
	s.token, s.named = string(token), true
	delete(c.leftOpen, s.token)
	c.byToken[s.token] = s
}

// onlyOpen returns a waiting call whose response may be a stream, or nil. The caller must know that there is only one.
func (c *calls) onlyOpen() *stream { // pipelined calls cannot be answered with a stream
	for _, s := range c.byID {
		if s.waiting && !s.oneAnswer {
			return s
		}
	}
	return nil
}

func noID(id wire.ID) bool { return len(id) == 0 || string(id) == "null" }
