package peer

import (
	"slices"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/peer/early"
)

// calls is the part of a Peer that tracks local requests. It finds the call of a response, an item or an error.
//
// Its rules:
//   - byID contains a call from before its request is sent until its final message, its failure or its Cancel.
//   - byToken contains a stream after a response or an item has named the stream. When the stream has ended, endedStreams
//     contains its token, and the peer drops further items of the stream.
//   - abandoned contains a call, under its id, for which no caller waits any longer. The peer drops the call's response
//     without a note, and ends the stream that the response opens.
//   - leftOpen contains a cancelled stream, under its token, that no message could end before its first item. The first
//     item ends the stream.
//   - early contains the items of a stream that no response has named yet. The peer keeps them only while awaiting is not
//     0, because only then a response can name the stream.
//   - unshaped contains, in order, the user's messages that are neither requests nor have an id. The next message that
//     belongs to no other call is the response.
//   - pipeline, not byID, contains the calls of the pipeline until their promotion.
//   - No map contains the ids of the peer's own requests.
type calls struct {
	byID         map[string]*stream
	pipeline     *callPipeline      // for many calls at low cost; may be nil
	byToken      map[string]*stream // the streams of byID with a token, and the streams whose call has ended
	latest       *stream            // the stream of the latest item, or nil
	watches      []*stream          // streams without an id, which show messages of the peer
	dirty        []*stream          // streams with messages whose consumer has not been woken
	waiting      int                // calls without a response
	awaiting     int                // waiting calls whose response may open a stream
	overfull     int                // streams whose queue is too long
	behind       *stream            // the stream with so long a queue that the reader may wait briefly for its consumer, or nil
	unshaped     []*stream          // the user's messages, in order, whose responses may have no id
	loose        int                // the number of messages without an id so far
	early        early.Items
	endedStreams early.Recent
	abandoned    map[string]*stream
	leftOpen     map[string]*stream
	handshakes   []wire.Message // sent by the peer first; at most maxHandshakes
	unsolicited  bool           // the peer opens streams by itself
}

// maxAbandoned bounds the calls in abandoned and in leftOpen.
const maxAbandoned = 1024

// looseKey is the prefix of keys in byID for messages without an id.
const looseKey = "\x00"

// isLoose reports whether s is a message without an id.
func (s *stream) isLoose() bool { return strings.HasPrefix(s.id, looseKey) }

func newCalls() calls {
	return calls{byID: map[string]*stream{}, byToken: map[string]*stream{}, abandoned: map[string]*stream{}, leftOpen: map[string]*stream{}}
}

func (c *calls) add(s *stream, id wire.ID) {
	s.id = string(id)
	c.byID[s.id] = s
	c.setWaiting(s, true)
}

// addUnshaped stores s under a key that is not a JSON token, because the dialect does not know the form of its message.
// The peer's next message is its response.
func (c *calls) addUnshaped(s *stream) {
	c.loose++
	s.oneAnswer = true
	c.add(s, wire.ID(looseKey+strconv.Itoa(c.loose)))
	c.unshaped = append(c.unshaped, s)
}

// setWaiting records whether s waits for its first response.
func (c *calls) setWaiting(s *stream, on bool) {
	if s.waiting == on {
		return
	}
	s.waiting = on
	n := 1
	if !on {
		n = -1
	}
	c.waiting += n
	if !s.oneAnswer {
		c.awaiting += n
	}
}

// remove removes s, which has ended, from all tables.
func (c *calls) remove(s *stream) {
	c.setWaiting(s, false)
	c.setOverfull(s, false)
	if c.byID[s.id] == s {
		delete(c.byID, s.id)
	}
	if s.named {
		c.endedStreams.Add(s.token)
		if c.byToken[s.token] == s {
			delete(c.byToken, s.token)
		}
		if c.latest == s {
			c.latest = nil
		}
	}
	if len(c.unshaped) > 0 {
		c.unshaped = slices.DeleteFunc(c.unshaped, func(o *stream) bool { return o == s })
	}
	if s.isWatch() {
		c.watches = slices.DeleteFunc(c.watches, func(w *stream) bool { return w == s })
	}
}

// setOverfull records whether the queue of s is too long, and reports whether that has changed.
func (c *calls) setOverfull(s *stream, on bool) bool {
	if s.overfull == on {
		return false
	}
	s.overfull = on
	if on {
		c.overfull++
	} else {
		c.overfull--
	}
	return true
}

// abandon stores s by id. A late response to s is dropped, and a stream that it opens is unsubscribed.
func (c *calls) abandon(s *stream) {
	if s.id == "" || s.isLoose() {
		return
	}
	putBounded(c.abandoned, s.id, s)
}

// putBounded adds s to a table. At maxAbandoned entries, it removes one, because most are never used.
func putBounded(table map[string]*stream, key string, s *stream) {
	if len(table) >= maxAbandoned {
		for other := range table {
			delete(table, other)
			break
		}
	}
	table[key] = s
}

// taken reports whether a response with this id may still arrive.
func (c *calls) taken(id wire.ID) bool {
	return c.byID[string(id)] != nil || c.pipeline.slot(id) != nil || c.abandoned[string(id)] != nil
}

// promoteAllLocked creates a stream for each call of the pipeline. The caller holds the lock.
func (c *calls) promoteAllLocked() {
	l := c.pipeline
	if l == nil || l.open == 0 {
		return
	}
	for i := range l.ring {
		if at := &l.ring[i]; at.call != nil {
			l.promote(at)
		}
	}
}

// unclaimed removes and returns the early items if no pending response can name their streams.
func (c *calls) unclaimed() []wire.Message {
	if c.awaiting > 0 {
		return nil
	}
	return c.early.Clear()
}

// count returns the number of pending calls, including streams but not watches of all messages.
func (c *calls) count() int {
	n := len(c.byID)
	if c.pipeline != nil {
		n += c.pipeline.open
	}
	for _, s := range c.byToken {
		if c.byID[s.id] != s {
			n++
		}
	}
	for _, w := range c.watches {
		if w.follows {
			n++
		}
	}
	return n
}

// discard drops the current and future items of the stream with this token.
func (c *calls) discard(token wire.ID) {
	c.endedStreams.Add(string(token))
	c.early.Take(token)
}

func (c *calls) wake() {
	for _, s := range c.dirty {
		s.box.Release()
	}
	clear(c.dirty)
	c.dirty = c.dirty[:0]
}
