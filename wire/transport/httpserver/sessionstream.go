package httpserver

import (
	"bytes"
	"slices"
	"strconv"
	"time"

	"rpcx/wire"
)

const (
	// keptBytes is how many bytes of events a session stores for its client while there are few sessions (see
	// sessions.share). If a reader falls further behind, senders wait.
	keptBytes   = 1 << 20
	keptEvents  = 1024                   // the maximum number of stored events
	plainWithin = 100 * time.Millisecond // how long a response can still become plain JSON; after that, an event stream starts
)

// An eventLog is one stream to the client of a session. It contains the stored messages and has at most one reader. The
// session's lock guards it.
type eventLog struct {
	number  int             // 0 means the standing stream
	carries bool            // the client reads a stream of events and not just one response
	owes    map[string]bool // the requests that have no response yet

	events []loggedEvent
	last   int // the number of the latest event, starting from 1
	sent   int // the number of the latest event that has been sent
	unsent int // the size, in bytes, of the events that have not been sent

	reader *answerer // may be nil
	change wire.Gate // opens when any of these fields changes
}

// A loggedEvent is a message with its number in the stream.
type loggedEvent struct {
	number int
	msg    []byte
}

func newEventLog(number int, owes []string, carries bool) *eventLog {
	return &eventLog{number: number, carries: carries, owes: wire.SetOf(owes)}
}

// done reports whether the stream will have no more messages.
func (s *eventLog) done() bool { return s.number > 0 && len(s.owes) == 0 }

// full reports whether the stream has a reader that is more than that many bytes behind.
func (s *eventLog) full(most int64) bool { return s.reader != nil && int64(s.unsent) > most }

func (s *eventLog) add(msg []byte) {
	s.last++
	s.events = append(s.events, loggedEvent{s.last, bytes.Clone(msg)})
	s.unsent += len(msg)
	s.change.Pass()
}

// settle records that a request has been answered, or will never be.
func (s *eventLog) settle(request string) {
	delete(s.owes, request)
	s.change.Pass()
}

// after returns the stored events whose numbers are higher than number.
func (s *eventLog) after(number int) []loggedEvent {
	i := slices.IndexFunc(s.events, func(ev loggedEvent) bool { return ev.number > number })
	if i < 0 {
		return nil
	}
	return s.events[i:]
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

// trim drops the oldest events beyond the limits, and streams that have ended. It keeps the events that a reader still
// needs. The caller holds the session's lock.
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
			s.events = s.events[1:] // readers may still use the underlying array
			size, count = size-len(ev.msg), count-1
		}
	}
	kept := slices.DeleteFunc(c.streams[1:], func(s *eventLog) bool {
		return s.done() && s.reader == nil && !(s.carries && len(s.events) > 0)
	})
	c.streams = c.streams[:1+len(kept)]
	c.count()
}

// count reports changes in the number of unsent bytes to hold. The caller holds the session's lock.
func (c *sessionConn) count() {
	held := 0
	for _, s := range c.streams {
		held += s.unsent
	}
	if c.ctx.Err() == nil {
		c.hold(held - c.held)
		c.held = held
	}
}

// keepLess drops the events that exceed the new limit.
func (c *sessionConn) keepLess() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trim()
	for _, s := range c.streams {
		s.events = slices.Clone(s.events) // frees the memory of the events that were dropped
	}
}

// event returns the id for an event of the stream.
func (s *eventLog) event(number int) string {
	return strconv.Itoa(s.number) + "-" + strconv.Itoa(number)
}
