package peer

import (
	"slices"

	"rpcx/wire"
)

// group collects the answers to one batch.
type group struct {
	replies  [][]byte
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

// put fills one place in the answer to a batch. The lock is held.
func (p *Peer) put(g *group, index int, msg []byte) {
	g.replies[index] = msg
	g.left--
	p.sendGroup(g)
}

// sendGroup sends the answers to a batch when there are no more to come, and
// nothing where there are none.
func (p *Peer) sendGroup(g *group) {
	if !g.complete || g.left > 0 || g.sent {
		return
	}
	g.sent = true
	p.change.pass()
	replies := slices.DeleteFunc(g.replies, func(r []byte) bool { return r == nil })
	if len(replies) > 0 {
		p.send(outgoing{msg: p.codec.JoinBatch(replies)})
	}
}

// answerInvalid answers what was no message. The lock is held.
func (p *Peer) answerInvalid(m *wire.Message, g *group) {
	if p.state >= closing {
		return
	}
	in := &inbound{group: g}
	in.Msg = m.Clone()
	if g == nil {
		_ = p.reply(in, failure(m.Err))
		return
	}
	in.index = g.owe()
	msgs, err := p.codec.Reply(in.Msg, failure(m.Err))
	if err != nil || len(msgs) == 0 {
		msgs = [][]byte{nil}
	}
	p.put(g, in.index, msgs[0])
}
