package peer

import (
	"slices"

	"rpcx/wire"
)

// group collects the answers to one batch.
type group struct {
	replies  [][]byte
	bytes    int  // of replies
	left     int  // answers that are still owed
	complete bool // all messages of the batch have been routed
	sent     bool
}

// owe makes a place for one more answer.
func (g *group) owe() (index int) {
	g.replies = append(g.replies, nil)
	g.left++
	return len(g.replies) - 1
}

// putLocked fills one place in the answer to a batch.
func (p *Peer) putLocked(g *group, index int, msg []byte) {
	g.replies[index] = msg
	g.bytes += len(msg)
	p.holdLocked(len(msg))
	g.left--
	p.sendGroupLocked(g)
}

// sendGroupLocked sends the answers to a batch when there are no more to come, and
// nothing where there are none.
func (p *Peer) sendGroupLocked(g *group) {
	if !g.complete || g.left > 0 || g.sent {
		return
	}
	g.sent = true
	p.change.pass()
	p.holdLocked(-g.bytes)
	replies := slices.DeleteFunc(g.replies, func(r []byte) bool { return r == nil })
	if len(replies) > 0 {
		p.sendLocked(outgoing{msg: p.codec.JoinBatch(replies)})
	}
}

// answerInvalidLocked answers what was no message.
func (p *Peer) answerInvalidLocked(m *wire.Message, g *group) {
	if p.state >= closing {
		return
	}
	in := &inbound{group: g}
	in.Msg = m.Clone()
	if g == nil {
		_ = p.replyLocked(in, failure(m.Err))
		return
	}
	in.index = g.owe()
	msgs, err := p.codec.Reply(in.Msg, failure(m.Err))
	if err != nil || len(msgs) == 0 {
		msgs = [][]byte{nil}
	}
	p.putLocked(g, in.index, msgs[0])
}
