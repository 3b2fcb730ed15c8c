// Package player plays one side of a tape, with a live peer on the other side. A Server plays the server for any client. Client
// plays the client, in order to check a server. The package processes only messages; its caller opens the connections.
package player

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
)

// Options controls how a tape is played. The zero value can be used.
type Options struct {
	Strict bool    // each request must be the next one on the tape
	Speed  float64 // 1 for the recorded pace, 2 for twice that pace, 0 for no pauses
	// Set contains values for redacted members of local lines, by the name of the member, and values for $name in the
	// programs on the tape.
	Set map[string]json.RawMessage
	// First is the number of the connection with which the first client of a Server starts, counted from 0.
	First int
	// AnswerTimeout is how long Client waits for a message that is on the tape (default: 10 s).
	AnswerTimeout time.Duration
	// Linger is how long Client waits for extra messages when the tape has ended (default: 50 ms).
	Linger time.Duration
	// Found is called by a Server for each difference, on one goroutine for each conversation. Found may be nil.
	Found func(match.Difference)
	Tap   wire.Tap // receives every live message; may be nil
	Noise *Noise   // receives what the peer sends apart from messages; may be nil

	ctx   context.Context // when it ends, programs of the tape are stopped as well; may be nil
	turn  *turn           // for a Client that is one of several; may be nil
	began time.Duration   // for a Client that is one of several: when its connection was opened on the tape
}

// paced returns how long a time on the tape takes when it is played. Without a speed, it is 0.
func (o *Options) paced(d time.Duration) time.Duration {
	if o.Speed <= 0 {
		return 0
	}
	return time.Duration(float64(d) / o.Speed)
}

const (
	defaultAnswerTimeout = 10 * time.Second
	defaultLinger        = 50 * time.Millisecond
)

// CheckClient returns a usage Fault with the line number if rpcx cannot play the client of t.
func CheckClient(t *transcript.Transcript, o Options) error { return check(t, wire.Send, o.Set) }

// Client plays the client of one connection on the tape over c, compares the messages that it receives with the tape, and closes c. It
// returns the differences in the order of the tape. The error is the reason if the conversation ended too early.
func Client(ctx context.Context, t *transcript.Transcript, track int, c wire.Conn, o Options) ([]*Found, error) {
	o.ctx = ctx
	o.AnswerTimeout = cmp.Or(o.AnswerTimeout, defaultAnswerTimeout)
	o.Linger = cmp.Or(o.Linger, defaultLinger)
	indexes := make([]*index, len(t.Tracks))
	indexes[track] = newIndex(t.Tracks[track], wire.Send)
	e := newEngine(t, wire.Send, indexes, o)
	e.primary = track
	p := e.play(track)
	k := &checking{e: e, pairing: newPairing(p)}
	e.policy = k
	k.passed = func(i int32) { e.start(p, i, e.current) }
	if o.turn != nil {
		o.turn.p, o.turn.awaited = p, k.awaited
	}
	err := e.converse(ctx, c)
	if cerr := c.Close(); err == nil && cerr != nil && ctx.Err() != nil {
		err = cerr
	}
	return k.result(), err
}

// checking is the policy for a Client.
type checking struct {
	pairing
	e     *engine
	ended error // why the connection ended; nil while it is open
}

// choose returns the entry for a message from the server. If a request has no entry, it rejects the request.
func (k *checking) choose(c *conn, parsed match.Parsed, msg []byte, json bool) (*play, int32) {
	i, moved := int32(transcript.None), int32(transcript.None)
	if !k.leftOver(parsed) {
		i, moved = k.pairing.choose(parsed, msg, json)
	}
	k.bound()
	if moved != transcript.None {
		k.e.start(k.p, moved, c)
	}
	if i == transcript.None && parsed.Kind == wire.Request {
		before := k.e.lastActive // an unrelated message must not prolong the wait
		k.e.refuse(c, parsed.ID, errorMessage(k.e.t.Rules.Shape().Error, parsed.ID, wire.CodeNoMethod, "not on the tape", match.Difference{}, nil))
		k.e.lastActive = before
	}
	return k.p, i
}

// answered compares the response to the local request i with the recorded response.
func (k *checking) answered(p *play, i int32, msg []byte) int32 {
	defer k.bound()
	if p.track.Entry(i).Answer == transcript.None && (k.closedEarly(i) || p.track.Refused(i) != 0 && scan.Valid(msg, wire.DefaultMaxDepth) != nil) {
		return transcript.None
	}
	return k.answer(i, msg)
}

// closedEarly reports whether the recorded client closed the connection without waiting for the response to request i.
// This is assumed if no later entry is from the server, and everything that was expected has arrived.
func (k *checking) closedEarly(i int32) bool {
	if k.p.track.Close == nil || k.p.track.Closer != wire.Send || k.awaited() != transcript.None {
		return false
	}
	for i++; i < int32(k.p.track.Len()); i++ {
		if k.p.track.Entry(i).Dir == wire.Recv {
			return false
		}
	}
	return true
}

// leftOver reports whether a notification or request may be one for which the recorded client did not wait, because it closed
// the connection. All messages on the tape must have arrived. If the next one is the response to a request that ends a stream,
// further items of that stream also count.
func (k *checking) leftOver(parsed match.Parsed) bool {
	track, next := k.p.track, k.awaited()
	if track.Close == nil || track.Closer != wire.Send || parsed.Kind != wire.Notification && parsed.Kind != wire.Request {
		return false
	}
	if next == transcript.None {
		return true
	}
	items := k.p.named(parsed.Method)
	return parsed.Kind == wire.Notification && len(items) > 0 && k.p.unused(items) == len(items) && k.ending(next)
}

// ending reports whether entry i is the response to a request that ends a stream.
func (k *checking) ending(i int32) bool {
	own := k.p.track.Entry(i).Own
	if own == transcript.None || k.p.seen(own) == 0 {
		return false
	}
	method := k.p.track.Method(int(own))
	if slices.Contains(k.p.rules.Shape().EndsNamed, method) {
		return true
	}
	msg, err := k.p.track.Message(int(own))
	return err == nil && k.p.rules.EndsStream(method, msg, k.p.values) != nil
}

// maxKept limits the memory, in bytes, for differences, because a peer can send anything.
const maxKept = 256 << 20

// bound ends the conversation if its differences exceed maxKept.
func (k *checking) bound() {
	if k.size > maxKept {
		k.e.failure = wire.NewFault(wire.Expectation, fmt.Sprintf("the peer's messages differ from the tape in more than %d MiB", maxKept>>20), nil)
	}
}

// idle records the messages that are overdue as missing, one by one, and then ends the conversation.
func (k *checking) idle(since time.Duration) (again time.Duration, over bool) {
	if k.e.allEnded() && k.ended == nil {
		k.ended = io.EOF
	}
	next := k.awaited()
	if len(k.e.cursors) > 0 { // the cursor is waiting behind an optional entry
		return time.Nanosecond, false
	}
	if next == transcript.None && len(k.p.queue) == 0 {
		left := max(k.e.o.Linger-since, k.e.o.turn.left(int32(k.p.track.Len())))
		return left, left <= 0 || k.ended != nil
	}
	if k.ended != nil && !errors.Is(k.ended, io.EOF) {
		return 0, true
	}
	if patience := k.e.o.AnswerTimeout + k.p.track.Gap(int(next)); since < patience && k.ended == nil {
		return patience - since, false
	}
	if next == transcript.None {
		k.e.release()
		return time.Nanosecond, false
	}
	k.missing.set(int(next), 1)
	k.p.see(next)
	k.p.furthest = max(k.p.furthest, next)
	k.e.start(k.p, next, k.e.current)
	return time.Nanosecond, false
}

func (k *checking) lost(c *conn, err error) bool {
	k.ended = err
	if _, closed := errors.AsType[*wire.CloseError](err); !closed && !errors.Is(err, io.EOF) {
		k.e.failure = err
	}
	return !errors.Is(err, io.EOF)
}
