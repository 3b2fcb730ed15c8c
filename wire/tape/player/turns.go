package player

import (
	"context"
	"math"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/tape/transcript"
)

// Clients plays the client of every connection on t. Connections that overlap on the tape are also open at the same time when they are
// played, and their messages are sent in the order of the tape. A connection that began after another one had ended waits until that one
// has ended. one opens connection n and calls Client with the options that it receives. If apart is set, only one connection is open at a
// time. results contains the differences for each connection. After an error, the remaining connections are not played.
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

// turns keeps messages of different connections in the order of the tape.
type turns struct {
	t     *transcript.Transcript
	apart bool

	mu      sync.Mutex
	passed  []uint32      // for each track, all earlier lines have been sent, have arrived, or are no longer awaited
	ended   []bool        // for each track
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

// maxTurn is how long a message waits for earlier messages of other connections, beyond its recorded time.
const maxTurn = time.Second

// pass records that a track has reached line.
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

// await waits until connection n may begin. If it has waited too long, late contains where the other connections are
// (see turn.late).
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

// span returns the line and the time of the first message on k. If there is no message, the line is after all others.
func span(k *transcript.Track) (first uint32, at time.Duration) {
	if k.Len() == 0 {
		return math.MaxUint32, 0
	}
	if line, err := k.Line(0); err == nil {
		at = line.Time
	}
	return k.Entry(0).Line, at
}

// An order keeps the messages of a connection in their order among the other connections.
type order interface {
	attach(p *play, awaited func() int32) // awaited is pairing.awaited of the connection
	publish()                             // records how far the connection is
	left(i int32) time.Duration           // how long entry i has to wait for other connections, at most
	woken() <-chan struct{}               // closed when that time may have become shorter, or nil if no entry is waiting
}

// unordered is the order for a single connection.
type unordered struct{}

func (unordered) attach(*play, func() int32) {}
func (unordered) publish()                   {}
func (unordered) left(int32) time.Duration   { return 0 }
func (unordered) woken() <-chan struct{}     { return nil }

// A turn is the order for one of several connections.
type turn struct {
	of      *turns
	track   int
	p       *play
	awaited func() int32    // see pairing.awaited
	unsent  int32           // all earlier requests and notifications of the client have been sent
	waits   uint32          // the line that is waiting
	since   time.Time       // when that line began to wait
	changed <-chan struct{} // closed when that line may no longer have to wait, or nil if no line is waiting
	late    []uint32        // for each track, the line at which it was when waiting for it took too long; it is waited for again only when it has moved on
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
