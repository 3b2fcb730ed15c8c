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

// An engine plays one side of a tape in one conversation. It runs in one goroutine (run); other goroutines read the connections and pass
// messages to it.
//
// Received messages determine which lines are sent. The local lines between two messages of the peer form a block, which is sent after
// the first of the two has arrived (see cursor). A response in a block also waits for its request and for the local calls between the
// two. If its turn has passed by then, it is queued until it can be sent.
type engine struct {
	t       *transcript.Transcript
	o       Options
	side    wire.Direction
	indexes []*index // one for each track
	plays   []*play  // one for each track; nil until it is needed
	primary int      // the track that begins the conversation
	arrived chan arrival
	done    chan struct{} // closed when run ends and receives no more messages
	conns   map[*conn]bool
	current *conn // the connection for messages that are not responses
	cursors []*cursor
	asked   map[string]asked // local requests, by the id that was sent
	retired retired
	posted  chan error // receives a value when a POST has ended that must end before anything else is sent
	posting int        // the number of such POSTs that are pending
	ignored int        // the number of POSTs that took too long
	batch   *batch     // the batch of the message that is being handled, or nil
	policy  policy
	lively  time.Time // when a message was last sent or received (if the client is played: one that is on the tape)
	failure error     // why the conversation ended; nil for a regular end
}

// A policy has the differences between playing the server and playing the client.
type policy interface {
	// choose returns the play and the entry of a live request or notification, and reports differences. With None the message is refused.
	choose(c *conn, parsed match.Parsed, msg []byte, json bool) (*play, int32)
	// answered handles the live response to entry i, a local request. It returns the response's entry, or None if it has no entry.
	answered(p *play, i int32, msg []byte) int32
	// idle is called when no message can be sent and none has arrived for a while. again is the time until the next call (0: no further
	// call is needed); over ends the conversation.
	idle(since time.Duration) (again time.Duration, over bool)
	// lost is called when a connection has ended; over ends the conversation.
	lost(c *conn, err error) (over bool)
}

// A cursor marks the next line to send in a block.
type cursor struct {
	p    *play
	next int32
	conn *conn
	from time.Duration // when the message before the block was recorded
	live time.Time     // when that message arrived
	last time.Time     // when the last line of the block was sent; zero: no line was sent
	sent int           // the number of lines of the block that were sent

	stream bool  // the block is a stream, whose items are sent independently of other blocks: see startStream
	opener int32 // the response that opened the stream
	past   int32 // the peer's entries up to this index are no longer awaited
}

func newEngine(t *transcript.Transcript, side wire.Direction, indexes []*index, o Options) *engine {
	return &engine{
		t: t, o: o, side: side, indexes: indexes, plays: make([]*play, len(t.Tracks)),
		arrived: make(chan arrival), done: make(chan struct{}), posted: make(chan error), conns: map[*conn]bool{}, asked: map[string]asked{}, lively: time.Now(),
	}
}

func indexesOf(t *transcript.Transcript, side wire.Direction) []*index {
	all := make([]*index, len(t.Tracks))
	for i, track := range t.Tracks {
		all[i] = newIndex(track, side)
	}
	return all
}

// play returns the play of a track.
func (e *engine) play(track int) *play {
	if e.plays[track] == nil {
		e.plays[track] = newPlay(e.t.Tracks[track], e.side, e.indexes[track], e.o)
	}
	return e.plays[track]
}

// converse plays over c. It closes c when ctx ends.
func (e *engine) converse(ctx context.Context, c wire.Conn) error {
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	e.join(e.add(c))
	e.beginPrimary()
	return e.run(ctx)
}

// beginPrimary starts the block with which the local side of the primary track begins.
func (e *engine) beginPrimary() {
	if len(e.t.Tracks) > 0 {
		e.start(e.play(e.primary), transcript.None, e.current)
	}
}

// run plays until the conversation or ctx ends.
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

// next handles messages that arrive within wait, or if wait is 0, those that have already arrived. While too many POSTs are pending, it
// reads nothing from the server.
func (e *engine) next(ctx context.Context, wait time.Duration) (over bool) {
	arrived := e.arrived
	if e.posting >= maxPosts {
		arrived = nil
	}
	if wait == 0 {
		select {
		case a := <-arrived:
			return e.take(a)
		case err := <-e.posted:
			return e.postEnded(err)
		default:
			return false
		}
	}
	select {
	case a := <-arrived:
		return e.take(a)
	case err := <-e.posted:
		return e.postEnded(err)
	case <-time.After(wait):
	case <-ctx.Done():
	}
	return false
}

// proceed sends one message if possible. wait is the time until the next message can be sent, unless a message arrives first; 0 means
// that another message can be sent now.
func (e *engine) proceed() (wait time.Duration, over bool) {
	if e.posting > e.ignored {
		if left := e.o.AnswerTimeout - time.Since(e.lively); left > 0 {
			return left, false
		}
		e.ignored = e.posting // a server that does not end a POST is treated as silent
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
	again, over := e.policy.idle(time.Since(e.lively))
	again = cmp.Or(again, time.Hour)
	return again, over
}

// take handles an arrival, usually a message.
func (e *engine) take(a arrival) (over bool) {
	if a.joins {
		e.join(a.conn)
		return false
	}
	if a.again != nil {
		e.repeat(a.conn, *a.again)
		return false
	}
	if a.err != nil {
		a.conn.ended = true
		gone := !errors.Is(a.err, io.EOF)
		if gone {
			delete(e.conns, a.conn)
		}
		e.finishShot(a.conn)
		return e.policy.lost(a.conn, a.err)
	}
	if e.side == wire.Recv {
		e.lively = time.Now()
	}
	a.conn.spoke = true
	if at, ok := e.asked[string(a.to)]; ok && a.to != nil {
		e.answer(a.conn, at, a.to, a.msg)
		return false
	}
	if scan.Valid(a.msg, wire.DefaultMaxDepth) != nil {
		e.receive(a.conn, match.Parsed{}, a.msg, false, nil)
		e.finishShot(a.conn)
		return false
	}
	parts, isBatch := match.Elements(e.t.Rules.Shape(), a.msg)
	var b *batch
	if isBatch {
		b = &batch{}
	}
	client := e.side == wire.Recv
	for _, part := range parts {
		parsed := match.Parse(e.t.Rules.Shape(), part, client)
		if b != nil && parsed.Kind == wire.Request {
			b.owed++
		}
		e.receive(a.conn, parsed, part, true, b)
	}
	e.finishShot(a.conn)
	return false
}

// receive handles one message.
func (e *engine) receive(c *conn, parsed match.Parsed, msg []byte, json bool, b *batch) {
	if parsed.Kind == wire.Response {
		if at, ok := e.asked[string(parsed.ID)]; ok {
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

// match records that msg is entry i, and starts the block after it.
func (e *engine) match(c *conn, p *play, i int32, parsed match.Parsed, msg []byte, b *batch) {
	e.lively = time.Now()
	p.accept(i, msg)
	if parsed.Kind == wire.Request {
		r := request{id: parsed.ID.Clone(), conn: c, batch: b}
		answer, status := p.track.Entry(i).Answer, p.track.Refused(i)
		if answer == transcript.None && status != 0 {
			e.reply(r, p.refusal(r.id, status, nil), nil)
		} else if answer == transcript.None { // the recorded request has no response
			e.reply(r, nil, nil)
		} else {
			p.owed[i] = append(p.owed[i], r)
			first := p.track.Entry(answer)
			if first.More != transcript.None {
				p.latest[i] = r // later responses go to it
			}
			if first.Need != i {
				p.queue = append(p.queue, answer)
			}
		}
	}
	e.start(p, i, c)
}

// start begins the block after entry i.
func (e *engine) start(p *play, i int32, c *conn) {
	if p.once && !p.begin(i) {
		return
	}
	k := &cursor{p: p, next: i + 1, conn: c, live: time.Now()}
	if e.o.Speed > 0 && i != transcript.None {
		if line, err := p.track.Line(int(i)); err == nil {
			k.from = line.Time
		}
	}
	e.cursors = append(e.cursors, k)
}
