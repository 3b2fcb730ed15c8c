package player

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/tape"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
)

// A Server plays the server of a tape on any number of connections. Connection n begins as connection n does on the tape, or as
// the last one if the tape has fewer. A Server looks for requests first on that track and then on the others.
type Server struct {
	t       *transcript.Transcript
	o       Options
	indexes []*index

	mu     sync.Mutex
	next   int     // the track for the next connection
	shared *engine // the engine for all POSTs
	count  int     // how many differences there are
	first  string  // a description of the first one
}

// NewServer returns a Server for t. If a line cannot be played, it returns a usage Fault with the line number.
func NewServer(t *transcript.Transcript, o Options) (*Server, error) {
	if err := check(t, wire.Recv, o.Set); err != nil {
		return nil, err
	}
	indexes := wire.Map(t.Tracks, func(track *transcript.Track) *index { return newIndex(track, wire.Recv) })
	return &Server{t: t, o: o, indexes: indexes, next: o.First}, nil
}

// Serve plays on one connection until the connection or ctx ends, and closes the connection. It is safe for concurrent use. All POSTs
// belong to one conversation.
func (s *Server) Serve(ctx context.Context, c wire.Conn) error {
	if _, ok := c.(wire.SingleExchange); ok {
		return s.post(ctx, c)
	}
	e := s.engine(ctx)
	s.mu.Lock()
	e.primary = min(s.next, max(len(s.t.Tracks)-1, 0))
	s.next++
	s.mu.Unlock()
	err := e.converse(ctx, c)
	if cerr := s.end(e, c); err == nil {
		err = cerr
	}
	return err
}

// Differences returns the number of differences, and a description of the first one. Messages that are not on the tape do not count.
func (s *Server) Differences() (n int, first string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count, s.first
}

func (s *Server) found(d match.Difference) {
	if d.Kind != match.Extra {
		s.mu.Lock()
		if s.count++; s.count == 1 {
			s.first = d.String()
		}
		s.mu.Unlock()
	}
	if s.o.Found != nil {
		s.o.Found(d)
	}
}

func (s *Server) engine(ctx context.Context) *engine {
	o := s.o
	o.ctx, o.Found = ctx, s.found
	e := newEngine(s.t, wire.Recv, s.indexes, o)
	e.policy = &serving{e: e}
	return e
}

// end closes c in the way in which the recorded server closed the connection, if it did so.
func (s *Server) end(e *engine, c wire.Conn) error {
	if len(s.t.Tracks) == 0 {
		return c.Close()
	}
	track := s.t.Tracks[e.primary]
	with, ok := c.(wire.CloserWith)
	if ok && track.Close != nil && track.Closer == wire.Recv && track.Close.Code >= 3000 {
		return with.CloseWith(track.Close.Code, track.Close.Reason)
	}
	return c.Close()
}

func (s *Server) post(ctx context.Context, c wire.Conn) error {
	s.mu.Lock()
	if s.shared == nil {
		s.shared = s.engine(ctx)
		go func() { _ = s.shared.run(ctx) }()
	}
	e := s.shared
	s.mu.Unlock()
	k := &conn{Conn: c, singleExchange: true}
	joined := e.hand(func() bool {
		e.join(k)
		return false
	})
	if !joined {
		return c.Close()
	}
	for {
		msg, err := c.Recv()
		if err != nil {
			return nil // the engine or the client closes the connection
		}
		if !e.handMessage(k, msg, nil) {
			return c.Close()
		}
	}
}

// serving is the policy for a Server.
type serving struct {
	e      *engine
	played int32 // all entries of the primary track before this one have been played
}

// choose searches the primary track first.
func (s *serving) choose(c *conn, parsed match.Parsed, msg []byte, json bool) (*play, int32) {
	if s.e.o.Strict {
		return s.strict(c, parsed, msg)
	}
	var again *play // the play whose only matching entry has already been used
	last := int32(transcript.None)
	for n := range s.e.t.Tracks {
		p := s.e.play((s.e.primary + n) % len(s.e.t.Tracks))
		i := p.find(parsed, msg, json)
		if i != transcript.None && (!c.singleExchange || p.seen(i) == 0) {
			return p, i
		}
		if i != transcript.None && again == nil {
			again, last = p, i
		}
	}
	if again != nil {
		return again, last
	}
	if !s.endStream(c, parsed, msg) {
		s.unknown(c, parsed, msg)
	}
	return nil, transcript.None
}

// endStream responds to a request that ends a stream earlier than recorded. The engine then sends no more items of that stream.
func (s *serving) endStream(c *conn, parsed match.Parsed, msg []byte) bool {
	shape := s.e.t.Rules.Shape()
	if parsed.Kind != wire.Request || shape.Ended == "" {
		return false
	}
	for n := range s.e.t.Tracks {
		p := s.e.play((s.e.primary + n) % len(s.e.t.Tracks))
		if stream := p.rules.EndsStream(parsed.Method, msg, p.values); stream != nil && !p.endsDifferently(parsed.Method, msg, stream) {
			p.ended[string(stream)] = true
			s.e.refuse(c, parsed.ID, []byte(strings.Replace(shape.Ended, "$id", parsed.ID.String(), 1)))
			return true
		}
	}
	return false
}

// strict requires that msg is the next message on the primary track.
func (s *serving) strict(c *conn, parsed match.Parsed, msg []byte) (*play, int32) {
	if len(s.e.t.Tracks) == 0 {
		s.unknown(c, parsed, msg)
		return nil, transcript.None
	}
	p := s.e.play(s.e.primary)
	next := p.nextExpected()
	if next == transcript.None {
		s.refuse(c, parsed, msg, match.Difference{Kind: match.Unknown, Text: "the tape has ended"})
		return nil, transcript.None
	}
	e, called := p.track.Entry(next), parsed.Method == p.track.Method(int(next))
	if (called || e.Handwritten) && p.is(next, msg) {
		return p, next
	}
	f := match.Difference{Kind: match.Unknown, Line: int(e.Line)}
	if want := p.wanted(next); want != nil && called {
		s.refuse(c, parsed, msg, f, p.compare(next, want, msg)...)
		return nil, transcript.None
	}
	f.Text = fmt.Sprintf("the next request on the tape is %s, line %d", p.track.Method(int(next)), f.Line)
	s.refuse(c, parsed, msg, f)
	return nil, transcript.None
}

// nextExpected returns the first entry of the other side that has not arrived. Responses do not count.
func (p *play) nextExpected() int32 {
	for ; p.strict < int32(p.track.Len()); p.strict++ {
		e := p.track.Entry(p.strict)
		if e.Dir != p.side && e.Own == transcript.None && p.seen(p.strict) == 0 {
			return p.strict
		}
	}
	return transcript.None
}

// answered compares the client's response to a local call with the recorded response.
func (s *serving) answered(p *play, i int32, msg []byte) int32 {
	for own := p.track.Entry(i).Answer; own != transcript.None; own = p.track.Entry(own).More {
		if p.seen(own) >= p.seen(i) {
			continue
		}
		if !p.track.Entry(own).Handwritten {
			found, _ := p.differences(own, msg)
			for _, d := range found {
				s.e.o.Found(d)
			}
		}
		return own
	}
	return transcript.None
}

// silence is how long a response waits, at least, for messages that were recorded before it and have not arrived.
const silence = 250 * time.Millisecond

// idle sends a pending response when the messages that were recorded before it have not arrived for some time, because the client may
// never send them.
func (s *serving) idle(since time.Duration) (again time.Duration, over bool) {
	if s.closes() {
		return 0, true
	}
	last := s.e.allEnded()
	for _, p := range s.e.plays {
		if p == nil || len(p.queue) == 0 {
			continue
		}
		i := p.queue[0]
		patience := max(silence, p.track.At(int(i))-p.track.At(int(p.track.Entry(i).Own)))
		if since >= patience || last {
			s.e.release()
			return time.Nanosecond, false
		}
		return patience - since, false
	}
	return 0, last
}

// closes reports whether the recorded server closed the connection and everything before that has been played.
func (s *serving) closes() bool {
	if c := s.e.current; c == nil || c.singleExchange || len(s.e.t.Tracks) == 0 {
		return false
	}
	p := s.e.play(s.e.primary)
	if p.track.Close == nil || p.track.Closer != wire.Recv || p.track.Len() == 0 && unreached(p.track.Close) {
		return false
	}
	for ; s.played < int32(p.track.Len()); s.played++ {
		if p.seen(s.played) == 0 && !p.track.Optional(s.played) {
			return false
		}
	}
	return true
}

// unreached reports whether c, the end of a recorded connection without messages, means that connecting failed.
func unreached(c *tape.Close) bool { return c.Error != "" && c.Code == 0 && c.Child == nil }

// allEnded reports whether no connection of the conversation can receive messages.
func (e *engine) allEnded() bool {
	for c := range e.conns {
		if !c.ended {
			return false
		}
	}
	return len(e.conns) > 0
}

// lost ends the conversation when its connection has ended in both directions. A client that only stops sending still receives its
// responses (see idle).
func (s *serving) lost(c *conn, err error) bool {
	return !c.singleExchange && !errors.Is(err, io.EOF)
}
