package player

import (
	"context"
	"math"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/tape/transcript"
)

// Clients plays the client of every connection of t. Connections that overlap on the tape overlap here, and their messages are sent in the
// order of the tape. A connection that began after the end of another connection also begins after that end here. one opens connection n
// and calls Client with the options that it gets. If apart is true, only one connection is open at a time. results has the differences of
// each connection. After an error the remaining connections are not played.
func Clients(ctx context.Context, t *transcript.Transcript, o Options, apart bool, one func(ctx context.Context, n int, o Options) ([]*Found, error)) (results [][]*Found, err error) {
	results = make([][]*Found, len(t.Tracks))
	if len(t.Tracks) == 1 {
		results[0], err = one(ctx, 0, o)
		return results, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	all := newTurns(t, apart)
	var wg sync.WaitGroup
	for n := range t.Tracks {
		late := all.await(ctx, n)
		if ctx.Err() != nil {
			break
		}
		if !apart {
			o.order = &turn{of: all, track: n, late: late}
		}
		wg.Go(func() {
			defer wire.Guard()
			defer all.end(n)
			var failed error
			if results[n], failed = one(ctx, n, o); failed != nil {
				cancel(failed)
			}
		})
	}
	wg.Wait()
	return results, context.Cause(ctx)
}

// turns keep the order of the tape between its connections.
type turns struct {
	t     *transcript.Transcript
	apart bool

	mu      sync.Mutex
	passed  []uint32      // by track: every earlier line was sent, or arrived, or is not awaited
	ended   []bool        // by track
	changed chan struct{} // closed when any of these changes
}

func newTurns(t *transcript.Transcript, apart bool) *turns {
	s := &turns{t: t, apart: apart, ended: make([]bool, len(t.Tracks)), changed: make(chan struct{})}
	for _, k := range t.Tracks {
		first, _ := span(k)
		s.passed = append(s.passed, first)
	}
	return s
}

// maxTurn bounds the time that a message waits for earlier messages of other connections, in addition to its recorded time.
const maxTurn = time.Second

// pass records that a track has passed the lines before line.
func (s *turns) pass(track int, line uint32, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.passed[track] == line && s.ended[track] == ended {
		return
	}
	s.passed[track], s.ended[track] = line, ended
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *turns) end(track int) { s.pass(track, math.MaxUint32, true) }

// await waits until connection n may begin. late has the places of the others if it waited long enough: see turn.
func (s *turns) await(ctx context.Context, n int) (late []uint32) {
	late = make([]uint32, len(s.passed))
	first, at := span(s.t.Tracks[n])
	patience := maxTurn
	if n > 0 {
		_, before := span(s.t.Tracks[n-1])
		patience += max(at-before, 0)
	}
	enough := time.After(patience)
	for overdue := false; ; {
		s.mu.Lock()
		waits, changed := false, s.changed
		for m := range n {
			last := uint32(0)
			if k := s.t.Tracks[m]; k.Len() > 0 {
				last = k.Entry(int32(k.Len() - 1)).Line
			}
			waits = waits || !s.ended[m] && (s.apart || last < first || s.passed[m] < first && !overdue)
		}
		if overdue {
			copy(late, s.passed)
		}
		s.mu.Unlock()
		if !waits {
			return late
		}
		select {
		case <-changed:
		case <-enough:
			overdue = true
		case <-ctx.Done():
			return late
		}
	}
}

// span returns the line and the time of the first message of k. Without a message, span returns a line after all others.
func span(k *transcript.Track) (first uint32, at time.Duration) {
	if k.Len() == 0 {
		return math.MaxUint32, 0
	}
	if line, err := k.Line(0); err == nil {
		at = line.Time
	}
	return k.Entry(0).Line, at
}

// An order keeps a connection in the order of the tape's other connections.
type order interface {
	attach(p *play, awaited func() int32) // awaited is pairing.awaited
	publish()                             // records the place of the connection
	left(i int32) time.Duration           // how long entry i has to wait for other connections at most
	woken() <-chan struct{}               // closed when that may have decreased, or nil if no entry waits
}

// unordered is the order of the only connection.
type unordered struct{}

func (unordered) attach(*play, func() int32) {}
func (unordered) publish()                   {}
func (unordered) left(int32) time.Duration   { return 0 }
func (unordered) woken() <-chan struct{}     { return nil }

// A turn is the order of one connection among several.
type turn struct {
	of      *turns
	track   int
	p       *play
	awaited func() int32    // see pairing.awaited
	unsent  int32           // no earlier request or notification of the client is unsent
	waits   uint32          // the line that waits
	since   time.Time       // when waits began to wait
	changed <-chan struct{} // closed when the line may have its turn, or nil if no line waits
	late    []uint32        // by track: no line waits for the track until the track passes another line
}

func (t *turn) attach(p *play, awaited func() int32) { t.p, t.awaited = p, awaited }

func (t *turn) left(i int32) time.Duration {
	line := t.p.track.Entry(i).Line
	if t.waits != line {
		t.waits, t.since = line, time.Now()
	}
	s := t.of
	s.mu.Lock()
	defer s.mu.Unlock()
	t.changed = nil
	for m, passed := range s.passed {
		if m != t.track && passed < line && passed != t.late[m] {
			t.changed = s.changed
		}
	}
	if t.changed == nil {
		return 0
	}
	if left := maxTurn + t.p.track.Gap(int(i)) - time.Since(t.since); left > 0 {
		return left
	}
	t.changed = nil
	copy(t.late, s.passed)
	return 0
}

func (t *turn) woken() <-chan struct{} { return t.changed }

func (t *turn) publish() {
	p := t.p
	for ; int(t.unsent) < p.track.Len(); t.unsent++ {
		if e := p.track.Entry(t.unsent); e.Dir == p.side && e.Own == transcript.None && p.seen(t.unsent) == 0 && !p.over(t.unsent) {
			break
		}
	}
	next := uint32(math.MaxUint32)
	for _, i := range []int32{t.unsent, t.awaited()} {
		if i != transcript.None && int(i) < p.track.Len() {
			next = min(next, p.track.Entry(i).Line)
		}
	}
	t.of.pass(t.track, next, false)
}
