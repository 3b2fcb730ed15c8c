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

// An engine plays one side of a tape in one conversation. It runs in one goroutine (run). Other goroutines read the connections and pass
// messages to it.
//
// Received messages determine which lines to send. The local lines between two messages of the peer form a block. The engine sends the
// block after the first of these messages (see cursor). A response in a block also waits for its request and for the local calls
// between the two. If the block ends first, the response is queued.
type engine struct {
	t       *transcript.Transcript
	o       Options
	side    wire.Direction
	indexes []*index // one per track
	plays   []*play  // one per track; nil before its first use
	primary int      // the track that starts the conversation
	arrived chan arrival
	done    chan struct{} // closed at the end of run
	conns   map[*conn]bool
	current *conn // the connection for all messages but responses
	cursors []*cursor
	asked   map[string]asked // local requests by their live id
	retired retired
	posted  chan error // receives a value when a POST ends that blocks all others
	posting int        // the number of pending POSTs of that kind
	ignored int        // the number of POSTs that timed out
	batch   *batch     // the batch of the current message, or nil
	policy  policy
	lively  time.Time // the time of the last message; for a played client only messages of the tape count
	failure error     // why the conversation ended, or nil for a regular end
}

// A policy is what differs between playing the server and playing the client.
type policy interface {
	// choose returns the play and the entry of a live request or notification, and reports differences. It returns None to refuse the
	// message.
	choose(c *conn, parsed match.Parsed, msg []byte, json bool) (*play, int32)
	// answered processes the live response to entry i, a local request. It returns the entry of the response, or None.
	answered(p *play, i int32, msg []byte) int32
	// idle runs when nothing can be sent and no message has arrived for a while. again is the time until the next call, or 0 for none.
	// over ends the conversation.
	idle(since time.Duration) (again time.Duration, over bool)
	// lost runs when a connection has ended. over ends the conversation.
	lost(c *conn, err error) (over bool)
}

// A cursor is the position of the next line to send in a block.
type cursor struct {
	p    *play
	next int32
	conn *conn
	from time.Duration // the recorded time of the message before the block
	live time.Time     // when that message arrived
	last time.Time     // when the last line of the block was sent, or zero
	sent int           // the number of sent lines

	stream bool  // the block is a stream: its items do not wait for other blocks (see startStream)
	opener int32 // the response that opened the stream
	past   int32 // the last of the peer's entries that is not awaited
}

func newEngine(t *transcript.Transcript, side wire.Direction, indexes []*index, o Options) *engine {
	if o.order == nil {
		o.order = unordered{}
	}
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

// beginPrimary starts the first local block of the primary track.
func (e *engine) beginPrimary() {
	if len(e.t.Tracks) > 0 {
		e.start(e.play(e.primary), transcript.None, e.current)
	}
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

// next processes messages that arrive within wait. With wait 0, it processes those that have arrived already. While too many POSTs are
// pending, it reads nothing from the server.
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
	case <-e.o.order.woken():
	case <-ctx.Done():
	}
	return false
}

// proceed sends one message if possible. wait is the time until the next message is due, or 0 if it is due now. A received message
// may end that wait.
func (e *engine) proceed() (wait time.Duration, over bool) {
	e.o.order.publish()
	if e.posting > e.ignored {
		if left := e.o.AnswerTimeout - time.Since(e.lively); left > 0 {
			return left, false
		}
		e.ignored = e.posting // a server that does not end a POST counts as silent
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

// take processes an arrival.
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

// receive processes one message.
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
	k := &cursor{p: p, next: i + 1, conn: c, live: time.Now()}
	if e.o.Speed > 0 && i != transcript.None {
		if line, err := p.track.Line(int(i)); err == nil {
			k.from = line.Time
		}
	}
	e.cursors = append(e.cursors, k)
}
