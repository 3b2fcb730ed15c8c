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
//   - The keys of byID and abandoned are those of ids (see wire.ID), so that the peer may return an id in another spelling.
//   - byID contains a call from before its request is sent until its final message, its failure or its Cancel.
//   - byToken contains a stream once a response or an item has named it. When the stream has ended, endedStreams contains
//     its token, and further items of the stream are dropped.
//   - abandoned contains, by id, the calls whose callers no longer wait. A response to such a call is dropped without a
//     note, and a stream that the response opens is ended.
//   - leftOpen contains, by token, the cancelled streams that no message can end before their first item. The first item
//     ends the stream.
//   - early contains items of streams that no response has named yet. They are kept only while awaiting is not 0, because
//     only then can a response name their streams.
//   - unshaped contains, in order, the user's messages that are not requests and have no id. The next message that
//     belongs to no other call is the response.
//   - pipeline, not byID, contains the calls of the pipeline until their promotion.
//   - No map contains the ids of the peer's own requests.
type calls struct {
	byID         map[string]*stream
	pipeline     *callPipeline      // for many calls at low cost; may be nil
	byToken      map[string]*stream // streams whose token is known; they include streams whose call has ended
	watches      []*stream          // streams of the peer's messages, which have no request id
	dirty        []*stream          // streams whose consumer has not been woken for queued messages
	waiting      int                // calls without a response
	awaiting     int                // waiting calls whose response can open a stream
	overfull     int                // streams whose queue is too long
	behind       *stream            // a stream with a long queue, for whose consumer the reader may wait briefly; nil if there is none
	unshaped     []*stream          // the user's messages, in order, whose responses may lack an id
	loose        int                // how many messages without an id have been sent
	early        early.Items
	endedStreams early.Recent
	abandoned    map[string]*stream
	leftOpen     map[string]*stream
	handshakes   []wire.Message // received from the peer; at most maxHandshakes
	unsolicited  bool           // whether the peer opens streams that no call requested
}

// maxAbandoned is the maximum number of calls in each of abandoned and leftOpen.
const maxAbandoned = 1024

// looseKey is the prefix of the byID keys of messages without an id.
const looseKey = "\x00"

// isLoose reports whether the message of s has no id.
func (s *stream) isLoose() bool { return strings.HasPrefix(s.id, looseKey) }

// setID sets the id of s and its key.
func (s *stream) setID(id wire.ID) {
	s.id = string(id)
	s.key = s.id
	if key := id.Key(); string(key) != s.id {
		s.key = string(key)
	}
}

func newCalls() calls {
	return calls{byID: map[string]*stream{}, byToken: map[string]*stream{}, abandoned: map[string]*stream{}, leftOpen: map[string]*stream{}}
}

func (c *calls) add(s *stream, id wire.ID) {
	s.setID(id)
	c.byID[s.key] = s
	c.setWaiting(s, true)
}

// addUnshaped stores s under a key that cannot be an id, because the dialect cannot parse the message of s. The next
// message from the peer counts as its response.
func (c *calls) addUnshaped(s *stream) {
	c.loose++
	s.oneAnswer = true
	c.add(s, wire.ID(looseKey+strconv.Itoa(c.loose)))
	c.unshaped = append(c.unshaped, s)
}

// setWaiting sets whether s is waiting for its first response.
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
	if c.byID[s.key] == s {
		delete(c.byID, s.key)
	}
	if s.named {
		c.endedStreams.Add(s.token)
		if c.byToken[s.token] == s {
			delete(c.byToken, s.token)
		}
	}
	if len(c.unshaped) > 0 {
		c.unshaped = slices.DeleteFunc(c.unshaped, func(o *stream) bool { return o == s })
	}
	if s.isWatch() {
		c.watches = slices.DeleteFunc(c.watches, func(w *stream) bool { return w == s })
	}
}

// setOverfull sets whether the queue of s is too long, and reports whether the value has changed.
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

// abandon adds s to abandoned. A late response to s is then dropped, and a stream that it opens is unsubscribed.
func (c *calls) abandon(s *stream) {
	if s.id == "" || s.isLoose() {
		return
	}
	putBounded(c.abandoned, s.key, s)
}

// putBounded adds s to a table. If the table already has maxAbandoned entries, putBounded first removes an arbitrary
// one; most of them are never used.
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
	id = id.Key()
	return c.byID[string(id)] != nil || c.pipeline.slot(id) != nil || c.abandoned[string(id)] != nil
}

// repeated reports whether id is only that of an earlier message of the kind of s, to which no call waits for a response.
func (c *calls) repeated(s *stream, id wire.ID) bool {
	id = id.Key()
	last := c.abandoned[string(id)]
	return s.repeats && last != nil && last.repeats && c.byID[string(id)] == nil && c.pipeline.slot(id) == nil
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

// unclaimed removes and returns the early items if no pending response can name their streams any longer.
func (c *calls) unclaimed() []wire.Message {
	if c.awaiting > 0 {
		return nil
	}
	return c.early.Clear()
}

// count returns the number of pending calls. Streams count, but watches of all messages do not.
func (c *calls) count() int {
	n := len(c.byID)
	if c.pipeline != nil {
		n += c.pipeline.open
	}
	for _, s := range c.byToken {
		if c.byID[s.key] != s {
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

// discard drops the queued and future items of the stream with this token.
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
