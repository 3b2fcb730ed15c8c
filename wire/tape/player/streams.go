package player

import (
	"bytes"
	"time"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
)

// Live streams are mapped to recorded streams. Items of different streams may differ only in the name of their stream, which is
// generated and therefore not compared.

// learnStream records to which recorded stream the live message msg belongs, or which one it opens. want is the
// recorded message.
func (p *play) learnStream(want, msg []byte, answer bool) {
	if len(p.rules.Shape().Streams) == 0 {
		return
	}
	if !answer {
		recorded, live := p.rules.StreamOf(want), p.rules.StreamOf(msg)
		if recorded == nil || live == nil {
			return
		}
		if _, known := p.streams[string(live)]; !known {
			p.streams[string(live)] = string(recorded)
		}
		return
	}
	recorded, live := scan.Get(want, "result"), scan.Get(msg, "result")
	if recorded != nil && live != nil && p.track.IsStream(recorded) {
		p.streams[string(live)] = string(recorded)
	}
}

// otherStream appends a difference to all if the live message msg and the recorded message want belong to different streams. If the
// stream of msg is not known yet, it appends nothing.
func (p *play) otherStream(all []match.Difference, want, msg []byte) []match.Difference {
	live, pointer := p.rules.StreamAt(msg)
	if live == nil {
		return all
	}
	known, ok := p.streams[string(live)]
	if recorded := p.rules.StreamOf(want); ok && recorded != nil && known != string(recorded) {
		return append(all, match.Difference{Pointer: pointer, Want: recorded, Got: live})
	}
	return all
}

// endsDifferently reports whether the tape has an unused request that ends the same stream as msg but differs from msg.
func (p *play) endsDifferently(method string, msg, stream []byte) bool {
	i, differences := p.nearest(method, msg, true)
	if i == transcript.None || len(differences) == 0 {
		return false
	}
	want, err := p.track.Message(int(i))
	return err == nil && bytes.Equal(p.rules.EndsStream(method, want, p.values), stream)
}

// startStream starts to send, over c, the items of the stream that the response at entry i opens. An item waits for the peer's
// messages that precede it on the tape, except for requests that open or end other streams.
func (e *engine) startStream(p *play, i int32, c *conn) {
	e.cursors = append(e.cursors, &cursor{
		p: p, next: i + 1, conn: c, from: p.track.At(int(i)), live: time.Now(), stream: true, opener: i, past: transcript.None,
	})
}

// itemReady reports whether the next item of k need not wait for a message of the peer.
func (p *play) itemReady(k *cursor) bool {
	own := max(p.track.Entry(k.opener).Own, k.past)
	for need := p.track.Entry(k.next).Need; need > own; need-- {
		switch {
		case p.track.Entry(need).Dir == p.side:
		case p.seen(need) > 0:
			return true
		case !p.ofStream(need):
			return false
		}
	}
	return true
}

// ofStream reports whether entry i is a request that opens or ends a stream.
func (p *play) ofStream(i int32) bool {
	if answer := p.track.Entry(i).Answer; answer != transcript.None && p.track.Opens(answer) {
		return true
	}
	msg, err := p.track.Message(int(i))
	return err == nil && p.track.Entry(i).Kind == wire.Request && p.rules.EndsStream(p.track.Method(int(i)), msg, p.values) != nil
}
