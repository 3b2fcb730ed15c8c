package player

import (
	"context"
	"math"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/tape/transcript"
)

// Clients plays the client of every connection on t. It opens the connections, sends their messages and closes them in the order of the
// tape, so that connections that were open at the same time are open at the same time. A connection that began after another one had
// ended waits until that one has ended. one opens connection n and calls Client with the options that it receives. If apart is set, only
// one connection is open at a time. results contains the differences for each connection. After an error, the remaining connections are
// not played.
func Clients(ctx context.Context, t *transcript.Transcript, o Options, apart bool, one func(ctx context.Context, n int, o Options) ([]*Found, error)) (results [][]*Found, err error) {
	results = make([][]*Found, len(t.Tracks))
	if len(t.Tracks) == 1 {
		results[0], err = one(ctx, 0, o)
		return results, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	all := &turns{t: t, o: o, apart: apart, started: time.Now()}
	all.passed = wire.Map(t.Tracks, func(k *transcript.Track) uint32 { return k.Begin.Line })
	var wg sync.WaitGroup
	for n, k := range t.Tracks {
		own := o
		own.turn, own.began = all.await(ctx, n), k.Begin.At
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer wire.Guard()
			defer all.pass(n, ended)
			var failed error
			if results[n], failed = one(ctx, n, own); failed != nil {
				cancel(failed)
			}
		})
	}
	wg.Wait()
	return results, context.Cause(ctx)
}

// turns keeps the lines of different connections in the order of the tape.
type turns struct {
	t       *transcript.Transcript
	o       Options
	apart   bool
	started time.Time

	mu      sync.Mutex
	passed  []uint32  // for each track, all earlier lines have been played, or are no longer awaited; at the end it is ended
	changed wire.Gate // opens when any of these changes
}

const ended = math.MaxUint32

// maxTurn is how long a line waits for an earlier line of another connection, beyond its recorded time.
const maxTurn = time.Second

// pass records that a track has reached line.
func (s *turns) pass(track int, line uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.passed[track] == line {
		return
	}
	s.passed[track] = line
	s.changed.Pass()
}

// await waits until connection n may begin, and returns its turn.
func (s *turns) await(ctx context.Context, n int) *turn {
	k, t := s.t.Tracks[n], &turn{of: s, track: n, late: make([]uint32, len(s.passed))}
	for ctx.Err() == nil {
		left := max(t.left(transcript.None), time.Until(s.started.Add(s.o.paced(k.Begin.At))))
		s.mu.Lock()
		for m, earlier := range s.t.Tracks[:n] {
			if s.passed[m] != ended && (s.apart || earlier.End.Line < k.Begin.Line) {
				left, t.changed = time.Hour, s.changed.Wait()
			}
		}
		s.mu.Unlock()
		if left <= 0 {
			break
		}
		select {
		case <-t.changed:
		case <-time.After(left):
		case <-ctx.Done():
		}
	}
	if s.apart {
		return nil
	}
	return t
}

// A turn keeps the lines of a connection in their order among the other connections. It is nil if no other connection is open.
type turn struct {
	of      *turns
	track   int
	p       *play
	awaited func() int32 // see pairing.awaited
	unsent  int32        // all earlier requests and notifications of the client have been sent
	late    []uint32     // for each track, the line at which it was when waiting for it took too long; it is waited for again only when it has moved on

	waits    uint32          // the line that is waiting
	patience time.Duration   // how long it waits for one other line
	behind   uint32          // the first line for which it waits
	since    time.Time       // when it began to wait for the line behind
	changed  <-chan struct{} // closed when it may no longer have to wait, or nil if no line is waiting
}

// left returns how long entry i has to wait for other connections, at most. After the last entry is the end.
func (t *turn) left(i int32) time.Duration {
	if t == nil {
		return 0
	}
	s := t.of
	k := s.t.Tracks[t.track]
	line := k.End.Line
	if i == transcript.None {
		line = k.Begin.Line
	} else if int(i) < k.Len() {
		line = k.Entry(i).Line
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t.changed = nil
	behind := line
	for m, passed := range s.passed {
		if m != t.track && passed < line && passed != t.late[m] {
			t.changed, behind = s.changed.Wait(), min(behind, passed)
		}
	}
	if t.changed == nil {
		return 0
	}
	if t.waits != line {
		gap := k.Gap(int(i))
		if i == transcript.None {
			gap = k.Begin.At - s.t.Tracks[max(t.track-1, 0)].Begin.At
		}
		t.waits, t.behind, t.patience = line, 0, maxTurn+max(gap, s.o.paced(gap), 0)
	}
	if t.behind != behind {
		t.behind, t.since = behind, time.Now()
	}
	if left := t.patience - time.Since(t.since); left > 0 {
		return left
	}
	t.changed = nil
	copy(t.late, s.passed)
	return 0
}

// woken returns a channel that is closed when that time may have become shorter, or nil if no entry is waiting.
func (t *turn) woken() <-chan struct{} {
	if t == nil {
		return nil
	}
	return t.changed
}

// publish records how far the connection is.
func (t *turn) publish() {
	if t == nil {
		return
	}
	p := t.p
	for ; int(t.unsent) < p.track.Len(); t.unsent++ {
		if e := p.track.Entry(t.unsent); e.Dir == p.side && e.Own == transcript.None && p.seen(t.unsent) == 0 && !p.over(t.unsent) {
			break
		}
	}
	next := uint32(ended - 1)
	if p.track.Close != nil || p.track.Deletes {
		next = p.track.End.Line
	}
	for _, i := range []int32{t.unsent, t.awaited()} {
		if i != transcript.None && int(i) < p.track.Len() {
			next = min(next, p.track.Entry(i).Line)
		}
	}
	t.of.pass(t.track, next)
}
