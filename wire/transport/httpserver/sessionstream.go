package httpserver

import (
	"bytes"
	"slices"
	"strconv"
	"time"

	"rpcx/wire/transport"
)

const (
	// keptBytes is how many bytes of events a session keeps that its client may request again, or has not read yet, if there
	// are few sessions; see sessions.share. If a reader is further behind, senders wait.
	keptBytes   = 1 << 20
	keptEvents  = 1024                   // how many events, as for keptBytes
	plainWithin = 100 * time.Millisecond // in which an answer may come as plain JSON, before an event stream begins
)

// An eventLog is one stream to the client of a session: its kept messages, and its reader. The session's lock guards it.
type eventLog struct {
	number  int             // 0 means the standing stream
	carries bool            // the client reads events there, and not one answer alone
	owes    map[string]bool // requests whose answers are still to come

	events []loggedEvent
	last   int // the number of the last event, from 1
	sent   int // that of the last that was written
	unsent int // bytes behind that

	reader *answerer     // nil means no reader
	change chan struct{} // closed at the next change of any of these
}

// A loggedEvent is a message with its number on its stream.
type loggedEvent struct {
	number int
	msg    []byte
}

func newEventLog(number int, owes []string, carries bool) *eventLog {
	s := &eventLog{number: number, carries: carries, change: make(chan struct{}), owes: map[string]bool{}}
	for _, id := range owes {
		s.owes[id] = true
	}
	return s
}

// changed wakes all who wait for that.
func (s *eventLog) changed() {
	close(s.change)
	s.change = make(chan struct{})
}

// done reports whether nothing more will be said.
func (s *eventLog) done() bool { return s.number > 0 && len(s.owes) == 0 }

// full reports whether a reader has more than so many bytes to catch up with.
func (s *eventLog) full(most int64) bool { return s.reader != nil && int64(s.unsent) > most }

// room is closed when full may not hold any more.
func (s *eventLog) room() <-chan struct{} { return s.change }

func (s *eventLog) add(msg []byte) {
	s.last++
	s.events = append(s.events, loggedEvent{s.last, bytes.Clone(msg)})
	s.unsent += len(msg)
	s.changed()
}

// settle notes that a request was answered, or will not be.
func (s *eventLog) settle(request string) {
	delete(s.owes, request)
	s.changed()
}

// after returns the kept events after the one with that number.
func (s *eventLog) after(number int) []loggedEvent {
	for i, ev := range s.events {
		if ev.number > number {
			return s.events[i:]
		}
	}
	return nil
}

// wrote notes that the events up to that number are written.
func (s *eventLog) wrote(number int) {
	for _, ev := range s.after(s.sent) {
		if ev.number <= number {
			s.unsent -= len(ev.msg)
		}
	}
	s.sent = max(s.sent, number)
	s.changed()
}

// trim drops the oldest events beyond the bounds, except those that a reader still needs, and streams that have ended. The
// caller holds the session's lock.
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
			s.events = s.events[1:] // and not changed: a reader may have them
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

// count has hold told how many bytes wait to be written. The session's lock is held.
func (c *sessionConn) count() {
	held := 0
	for _, s := range c.streams {
		held += s.unsent
	}
	if !transport.IsClosed(c.over) {
		c.hold(held - c.held)
		c.held = held
	}
}

// keepLess drops what is more than may be kept now.
func (c *sessionConn) keepLess() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trim()
	for _, s := range c.streams {
		s.events = slices.Clone(s.events) // releases the memory of dropped events
	}
}

// event is the id of an event of the stream.
func (s *eventLog) event(number int) string {
	return strconv.Itoa(s.number) + "-" + strconv.Itoa(number)
}
