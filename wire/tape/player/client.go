package player

import (
	"context"
	"errors"
	"io"
	"time"

	"rpcx/wire"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
)

const (
	defaultPatience = 10 * time.Second
	defaultLinger   = 50 * time.Millisecond
)

// CheckClient says whether the client's side of t can be played: a usage Fault
// names the line that cannot.
func CheckClient(t *transcript.Transcript, o Options) error { return check(t, wire.Send, o.Set) }

// A Result is the outcome of one connection of the tape.
type Result struct {
	Findings []Finding
	Live     map[int][]Finding // what differs in what came for each entry
	Missing  []int             // the entries that did not come
	Extras   []ExtraMessage    // what the tape has not, in the order in which it came
}

// An ExtraMessage is one that the tape has not.
type ExtraMessage struct {
	After int // the entry after which it came; transcript.None: before all
	Msg   []byte
}

// Client plays the client of one connection of the tape over c, and compares what
// comes with what was recorded. It closes c. The error says why it could not go on:
// what is found amiss is no error.
func Client(ctx context.Context, t *transcript.Transcript, track int, c wire.Conn, o Options) (*Result, error) {
	if o.Patience <= 0 {
		o.Patience = defaultPatience
	}
	if o.Linger <= 0 {
		o.Linger = defaultLinger
	}
	indexes := make([]*index, len(t.Tracks))
	indexes[track] = newIndex(t.Tracks[track], wire.Send)
	e := newEngine(t, wire.Send, indexes, o)
	e.primary = track
	p := e.play(track)
	k := &checking{e: e, o: o, pairing: newPairing(p)}
	e.policy = k
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	e.join(e.add(c))
	e.greet()
	err := e.run(ctx, nil)
	if cerr := c.Close(); err == nil && cerr != nil && ctx.Err() != nil {
		err = cerr
	}
	return k.result(), err
}

// checking is the policy of a Client.
type checking struct {
	pairing
	e     *engine
	o     Options
	ended error // why the connection ended; nil: it has not
}

// choose finds the entry of a message of the server, and refuses a request that has
// none.
func (k *checking) choose(c *conn, parsed match.Parsed, msg []byte, json bool) (*play, int32) {
	i, moved := k.pairing.choose(parsed, msg, json)
	if moved != transcript.None {
		k.e.start(k.p, moved, c)
	}
	if i == transcript.None && parsed.Kind == wire.Request {
		k.e.refuse(c, parsed.ID, errorMessage(k.e.t.Rules.Shape().Error, parsed.ID, wire.CodeNoMethod, "not on the tape", Finding{}, nil))
	}
	return k.p, i
}

// answered compares the answer to our request i with the recorded one.
func (k *checking) answered(p *play, i int32, msg []byte) int32 { return k.answer(i, msg) }

// idle gives up what the tape has and does not come, one after the other, and ends
// the conversation when nothing is left to be done.
func (k *checking) idle(since time.Duration) (again time.Duration, over bool) {
	if k.e.deaf() && k.ended == nil {
		k.ended = io.EOF
	}
	next := k.awaited()
	if next == transcript.None && len(k.p.held) == 0 {
		if since >= k.o.Linger || k.ended != nil {
			return 0, true
		}
		return k.o.Linger - since, false
	}
	if k.ended != nil && !errors.Is(k.ended, io.EOF) {
		return 0, true
	}
	if patience := k.o.Patience + k.pause(next); since < patience && k.ended == nil {
		return patience - since, false
	}
	if next == transcript.None {
		k.e.release()
		return time.Nanosecond, false
	}
	k.missing[next] = true
	k.p.seen[next]++
	k.p.furthest = max(k.p.furthest, next)
	k.e.start(k.p, next, k.e.current)
	return time.Nanosecond, false
}

// pause returns how long the recorded server took for entry i after what came
// before it.
func (k *checking) pause(i int32) time.Duration {
	if i < 1 {
		return 0
	}
	this, err := k.p.track.Line(int(i))
	if err != nil {
		return 0
	}
	before, err := k.p.track.Line(int(i) - 1)
	if err != nil {
		return 0
	}
	return this.Time - before.Time
}

func (k *checking) lost(c *conn, err error) bool {
	k.ended = err
	var closed *wire.CloseError
	if !errors.Is(err, io.EOF) && !errors.As(err, &closed) {
		k.e.failure = err
	}
	return !errors.Is(err, io.EOF)
}
