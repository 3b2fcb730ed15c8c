package httpserver

import (
	"bytes"
	"slices"
	"strconv"
	"time"

	"rpcx/wire"
)

const (
	// keptBytes bounds the events, in bytes, that a session stores for a client while there are few sessions (see
	// sessions.share). If a reader is further behind, senders wait.
	keptBytes   = 1 << 20
	keptEvents  = 1024                   // bounds the number of stored events
	plainWithin = 100 * time.Millisecond // bounds how long a response may wait to be plain JSON before an event stream starts
)

// An eventLog is one stream to a session's client: its stored messages and its reader. The session's lock guards it.
type eventLog struct {
	number  int             // 0 for the standing stream
	carries bool            // the client reads events there, not only one response
	owes    map[string]bool // requests without a response

	events []loggedEvent
	last   int // the number of the last event, from 1
	sent   int // the number of the last written event
	unsent int // the number of bytes after the last sent event

	reader *answerer // may be nil
	change wire.Gate // opens at a change of any of these
}

// A loggedEvent is a message with its number in its stream.
type loggedEvent struct {
	number int
	msg    []byte
}

func newEventLog(number int, owes []string, carries bool) *eventLog {
	s := &eventLog{number: number, carries: carries, owes: map[string]bool{}}
	for _, id := range owes {
		s.owes[id] = true
	}
	return s
}

// done reports whether no more messages follow.
func (s *eventLog) done() bool { return s.number > 0 && len(s.owes) == 0 }

// full reports whether a reader is more than that many bytes behind.
func (s *eventLog) full(most int64) bool { return s.reader != nil && int64(s.unsent) > most }

func (s *eventLog) add(msg []byte) {
	s.last++
	s.events = append(s.events, loggedEvent{s.last, bytes.Clone(msg)})
	s.unsent += len(msg)
	s.change.Pass()
}

// settle records that a request has a response, or will have none.
func (s *eventLog) settle(request string) {
	delete(s.owes, request)
	s.change.Pass()
}

// after returns the stored events after the one with that number.
func (s *eventLog) after(number int) []loggedEvent {
	for i, ev := range s.events {
		if ev.number > number {
			return s.events[i:]
		}
	}
	return nil
}

func (s *eventLog) wrote(number int) {
	for _, ev := range s.after(s.sent) {
		if ev.number <= number {
			s.unsent -= len(ev.msg)
		}
	}
	s.sent = max(s.sent, number)
	s.change.Pass()
}

// trim drops the oldest events beyond the bounds, and ended streams. It keeps events that a reader needs. The caller holds
// the session's lock.
func (c *sessionConn) trim() {
	size, count, most := 0, 0, int(c.in.share.Load())
	for _, s := range c.streams {
		for _, ev := range s.events {
			size += len(ev.msg)
		}
		count += len(s.events)
	}
	for _, s := range c.streams {
		for (size > most || count > keptEvents) && len(s.events) > 0 && (s.reader == nil || s.events[0].number <= s.sent) {
			ev := s.events[0]
			if ev.number > s.sent {
				s.unsent -= len(ev.msg)
			}
			s.events = s.events[1:] // without changing the array, which readers may use
			size, count = size-len(ev.msg), count-1
		}
	}
	kept := c.streams[:1]
	for _, s := range c.streams[1:] {
		if !s.done() || s.reader != nil || s.carries && len(s.events) > 0 {
			kept = append(kept, s)
		}
	}
	clear(c.streams[len(kept):])
	c.streams = kept
	c.count()
}

// count reports the number of bytes to write to hold. The caller holds the session's lock.
func (c *sessionConn) count() {
	held := 0
	for _, s := range c.streams {
		held += s.unsent
	}
	if !wire.IsClosed(c.over) {
		c.hold(held - c.held)
		c.held = held
	}
}

// keepLess drops the events beyond the new limit.
func (c *sessionConn) keepLess() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trim()
	for _, s := range c.streams {
		s.events = slices.Clone(s.events) // releases the memory of dropped events
	}
}

// event returns the id of an event of the stream.
func (s *eventLog) event(number int) string {
	return strconv.Itoa(s.number) + "-" + strconv.Itoa(number)
}
