package player

import (
	"context"
	"sync"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
)

// maxPosts is the maximum number of simultaneous POSTs with responses and notifications. At that number, the engine
// stops reading from the server.
const maxPosts = 64

// post sends msg in one HTTP exchange. If msg needs no response, post waits until the exchange has ended, because otherwise the
// next message could overtake msg.
func (e *engine) post(c *conn, msg []byte) {
	shape := e.t.Rules.Shape()
	waits := scan.Get(msg, shape.Method) == nil || scan.Get(msg, shape.ID) == nil
	if shape.Own != nil {
		waits = shape.Own.Read(msg).Kind != wire.Request
	}
	if waits {
		e.posting++
	}
	go func() {
		defer wire.Guard()
		err := c.exchanger.Exchange(context.Background(), msg, func(reply []byte) {
			var to wire.ID
			if !waits && string(match.IDOf(shape, reply)) == "null" { // this is an error: the server could not read the id
				to = match.IDOf(shape, msg)
			}
			e.handMessage(c, reply, to)
		})
		if waits {
			select {
			case e.posted <- err:
			case <-e.done:
			}
		} else if f := wire.AsFault(err); f != nil && f.HTTP != nil && f.HTTP.Status >= 400 {
			e.handMessage(c, []byte(f.HTTP.Body), match.IDOf(shape, msg))
		} else if err != nil {
			e.hand(func() bool { return e.lost(c, err) })
		}
	}()
}

// postEnded handles the end of a POST that blocked others.
func (e *engine) postEnded(err error) (over bool) {
	e.posting--
	e.ignored = min(e.ignored, e.posting)
	e.failure = err
	return err != nil
}

// A session plays what the recorded client sent over HTTP in addition to its messages: header lines, the request for an event
// stream, and the DELETE at the end.
type session struct {
	wire.HTTPSession
	listens bool  // whether the event stream has been requested
	played  int32 // the first entry before the event stream that has neither been sent nor received

	mu    sync.Mutex
	heads map[string][][2]string // by message
}

// newSession returns the session of c, or nil if c has none.
func newSession(c wire.Conn) *session {
	h, ok := c.(wire.HTTPSession)
	if !ok {
		return nil
	}
	s := &session{HTTPSession: h, heads: map[string][][2]string{}}
	h.Mirror(s.mirrored)
	return s
}

// carry stores the header lines for msg, which is about to be sent.
func (s *session) carry(msg []byte, head [][2]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heads[string(msg)] = head
}

// mirrored returns the header lines for msg and removes them.
func (s *session) mirrored(msg []byte) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]string{}
	for _, line := range s.heads[string(msg)] {
		all[line[0]] = line[1]
	}
	delete(s.heads, string(msg))
	return all
}

// listen requests the event stream if that is the next step on the tape. It returns true if it has done so.
func (e *engine) listen() bool {
	c := e.current
	if e.side != wire.Send || c == nil || c.session == nil || c.session.listens {
		return false
	}
	p := e.play(e.primary)
	if p.track.Deletes {
		c.session.EndByDelete()
	}
	if p.track.Events == transcript.None {
		return false
	}
	for s := c.session; s.played < p.track.Events; s.played++ {
		if p.seen(s.played) == 0 && !p.track.Optional(s.played) {
			return false
		}
	}
	c.session.listens = true
	c.session.ReadEvents(func() {})
	return true
}
