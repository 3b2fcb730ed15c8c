package player

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
)

// An engine plays one side of a tape in a conversation. It runs on one goroutine (run). Other goroutines read from the connections and
// pass the messages to it.
//
// The messages that arrive determine which lines are sent. The local lines between two messages of the peer are a block. When the
// first of these two messages has arrived, the engine sends the block (see cursor). A response in a block must also wait for its
// request, and for the local calls between the request and the response. If the rest of the block has been sent before, the response
// is queued.
type engine struct {
	t          *transcript.Transcript
	o          Options
	side       wire.Direction
	indexes    []*index                // one for each track
	plays      []*play                 // one for each track; nil until used
	primary    int                     // the track with which the conversation starts
	arrived    chan func() (over bool) // see hand
	done       chan struct{}           // closed when run has returned
	conns      map[*conn]bool
	current    *conn // the connection on which all messages except responses are sent
	cursors    []*cursor
	asked      map[string]asked // local requests, by the key of the id with which they were sent
	retired    []retired        // oldest first; with it, further responses can be assigned to their requests
	posted     chan error       // receives a value when a POST has ended that blocked all others
	posting    int              // how many such POSTs are pending
	ignored    int              // how many such POSTs have timed out
	batch      *batch           // the batch that contains the current message, or nil
	policy     policy
	lastActive time.Time // when the last message was sent or received; when the client is played, only messages on the tape count
	failure    error     // why the conversation ended; nil after a regular end
}

// A policy contains what is different for a played server and a played client.
type policy interface {
	// choose returns the play and the entry for a live request or notification, and reports differences. It returns None if it has
	// rejected the message.
	choose(c *conn, parsed match.Parsed, msg []byte, json bool) (*play, int32)
	// answered handles the live response to the local request at entry i. It returns the entry for the response, or
	// None.
	answered(p *play, i int32, msg []byte) int32
	// idle is called when no line can be sent and no message has arrived for a time. again is the time until the next call, or 0 for
	// no further call. over is set if the conversation must end.
	idle(since time.Duration) (again time.Duration, over bool)
	// lost is called when a connection has ended. over is set if the conversation must end.
	lost(c *conn, err error) (over bool)
}

// A cursor is at the next line of a block that has to be sent.
type cursor struct {
	p    *play
	next int32
	conn *conn
	from time.Duration // the recorded time of the message before the block, or of the beginning
	live time.Time     // when that message has arrived
	last time.Time     // when the last line of the block was sent, or the zero time
	sent int           // how many lines were sent

	stream bool  // the block is a stream, whose items do not wait for other blocks (see startStream)
	opener int32 // the response that opened the stream
	past   int32 // the latest entry of the peer for which the stream no longer waits
}

func newEngine(t *transcript.Transcript, side wire.Direction, indexes []*index, o Options) *engine {
	return &engine{
		t: t, o: o, side: side, indexes: indexes, plays: make([]*play, len(t.Tracks)),
		arrived: make(chan func() bool), done: make(chan struct{}), posted: make(chan error), conns: map[*conn]bool{}, asked: map[string]asked{}, lastActive: time.Now(),
	}
}

// play returns the play of a track.
func (e *engine) play(track int) *play {
	if e.plays[track] == nil {
		e.plays[track] = newPlay(e.t.Tracks[track], e.side, e.indexes[track], e.o)
	}
	return e.plays[track]
}

// converse plays over c. When ctx ends, it closes c.
func (e *engine) converse(ctx context.Context, c wire.Conn) error {
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	e.join(e.add(c))
	if len(e.t.Tracks) > 0 {
		e.start(e.play(e.primary), transcript.None, e.current) // the local block at the start of the track
	}
	return e.run(ctx)
}

func (e *engine) run(ctx context.Context) error {
	defer close(e.done)
	for e.failure == nil {
		wait, over := e.proceed()
		if over {
			return nil
		}
		if e.next(ctx, wait) {
			break
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return e.failure
}

// next handles the messages that arrive within wait. If wait is 0, it handles only those that have already arrived. While too many
// POSTs are pending, no messages are read from the server.
func (e *engine) next(ctx context.Context, wait time.Duration) (over bool) {
	arrived := e.arrived
	if e.posting >= maxPosts {
		arrived = nil
	}
	if wait == 0 {
		select {
		case event := <-arrived:
			return event()
		case err := <-e.posted:
			return e.postEnded(err)
		default:
			return false
		}
	}
	select {
	case event := <-arrived:
		return event()
	case err := <-e.posted:
		return e.postEnded(err)
	case <-time.After(wait):
	case <-e.o.turn.woken():
	case <-ctx.Done():
	}
	return false
}

// proceed sends one message if that is possible. wait is the time until the next message is due, or 0 if it is due now. A message
// that arrives may end that wait.
func (e *engine) proceed() (wait time.Duration, over bool) {
	e.o.turn.publish()
	if e.posting > e.ignored {
		if left := e.o.AnswerTimeout - time.Since(e.lastActive); left > 0 {
			return left, false
		}
		e.ignored = e.posting // if the server does not end a POST, it counts as not responding
	}
	if e.listen() || e.sendQueued() {
		return 0, false
	}
	sent, wait := e.sendNext()
	if sent {
		return 0, false
	}
	if wait > 0 {
		return wait, false
	}
	again, over := e.policy.idle(time.Since(e.lastActive))
	again = cmp.Or(again, time.Hour)
	return again, over
}

// lost handles the end of a connection. err is the reason, or why a POST failed.
func (e *engine) lost(c *conn, err error) (over bool) {
	c.ended = true
	if !errors.Is(err, io.EOF) {
		delete(e.conns, c)
	}
	e.finishShot(c)
	return e.policy.lost(c, err)
}

// take handles the messages in msg.
func (e *engine) take(c *conn, msg []byte, to wire.ID) {
	if e.side == wire.Recv {
		e.lastActive = time.Now()
	}
	c.received = true
	if at, ok := e.asked[string(to)]; ok && to != nil {
		e.answer(c, at, to, msg)
		return
	}
	defer e.finishShot(c)
	if scan.Valid(msg, wire.DefaultMaxDepth) != nil {
		e.receive(c, match.Parsed{}, msg, false, nil)
		return
	}
	parts, isBatch := match.Elements(e.t.Rules.Shape(), msg)
	var b *batch
	if isBatch {
		b = &batch{}
	}
	client := e.side == wire.Recv
	parsed := wire.Map(parts, func(part []byte) match.Parsed { return match.Parse(e.t.Rules.Shape(), part, client) })
	for i := range parsed {
		if b != nil && parsed[i].Kind == wire.Request {
			b.owed++
		}
	}
	for i, part := range parts {
		e.receive(c, parsed[i], part, true, b)
	}
}

// receive handles one message.
func (e *engine) receive(c *conn, parsed match.Parsed, msg []byte, json bool, b *batch) {
	if parsed.Kind == wire.Response {
		if at, ok := e.asked[string(parsed.ID.Key())]; ok {
			e.answer(c, at, parsed.ID, msg)
			return
		}
	}
	if parsed.Kind == wire.Request {
		c.owed++
	}
	e.batch = b
	p, i := e.policy.choose(c, parsed, msg, json)
	if i == transcript.None {
		return
	}
	e.match(c, p, i, parsed, msg, b)
}

// match records that msg belongs to entry i, and starts the block that follows.
func (e *engine) match(c *conn, p *play, i int32, parsed match.Parsed, msg []byte, b *batch) {
	e.lastActive = time.Now()
	p.accept(i, msg)
	if parsed.Kind == wire.Request {
		r := request{id: parsed.ID.Clone(), conn: c, batch: b}
		answer, status := p.track.Entry(i).Answer, p.track.Refused(i)
		if answer == transcript.None && status != 0 {
			e.reply(r, p.refusal(r.id, status, nil), nil)
		} else if answer == transcript.None { // the recorded request was not answered
			e.reply(r, nil, nil)
		} else {
			p.owed[i] = append(p.owed[i], r)
			first := p.track.Entry(answer)
			if first.More != transcript.None {
				p.latest[i] = r // further responses belong to this request
			}
			if first.Need != i {
				p.queue = append(p.queue, answer)
			}
		}
	}
	e.start(p, i, c)
}

// start starts the block after entry i.
func (e *engine) start(p *play, i int32, c *conn) {
	if p.once && !p.begin(i) {
		return
	}
	k := &cursor{p: p, next: i + 1, conn: c, from: e.o.began, live: time.Now()}
	if e.o.Speed > 0 && i != transcript.None {
		k.from = p.track.At(int(i))
	}
	e.cursors = append(e.cursors, k)
}
