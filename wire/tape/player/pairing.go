package player

import (
	"maps"
	"slices"

	"rpcx/wire"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
)

// A pairing assigns each message that comes to an entry of the tape, and keeps
// the differences.
type pairing struct {
	p       *play
	found   map[int32][]*Found // the differences of messages that came, by the entry for which they did
	inexact map[int32]*Found   // by entry, a message that was assigned as the nearest, not as an equal one
	missing ints               // by entry, 1: it is not awaited any more
	stand   map[int32]int32    // local requests that stand for another one: see trade
	extras  []*Found           // from settle on in the order of the tape
	size    int                // of found and extras, in bytes
	unsure  *unsure            // the last answer that differed, or nil did
	settled bool
	idOf    func(i int32) wire.ID // the id that the answer at entry i should have; nil means the recorded one
	known   bool                  // both conversations are complete from the start
	from    int32                 // of a tape that is compared, the entry of the message that is handled
	last    int32                 // the entry of the last message that had one
	first   int32                 // no entry before this one is still awaited
}

func newPairing(p *play) pairing {
	p.once = true
	return pairing{
		p: p, found: map[int32][]*Found{}, inexact: map[int32]*Found{}, stand: map[int32]int32{}, idOf: func(int32) wire.ID { return nil }, last: transcript.None,
	}
}

// addExtra adds a message that is not on the tape.
func (k *pairing) addExtra(f *Found) {
	k.extras = append(k.extras, f)
	k.size += f.size()
}

// choose returns the entry of a message that is not a response to a local request: an equal one, else the nearest of its
// method that is free; None, with msg recorded as extra, if there is none. moved is the entry that the message which had the
// entry before was moved to; None: no message was moved.
func (k *pairing) choose(parsed match.Parsed, msg []byte, json bool) (i, moved int32) {
	p := k.p
	i, moved = p.find(parsed, msg, json), transcript.None
	if i != transcript.None && p.seen(i) > 0 {
		i, moved = k.steal(parsed, msg)
	}
	switch {
	case i != transcript.None:
	case parsed.Kind == wire.Response: // to another's request, or an answered one
		i = k.handAnswer(msg)
	case json:
		if i, _ = p.nearest(parsed.Method, msg, true); parsed.Kind == wire.Request && k.renamed(i, parsed.Method, msg) {
			i = transcript.None
		}
		if i != transcript.None {
			k.assign(i, k.here(parsed.Method, msg))
		}
	}
	if i == transcript.None {
		k.addExtra(k.here(parsed.Method, msg))
	} else {
		k.last = i
	}
	return i, moved
}

// here returns msg as an extra message, after the entry of the message before.
func (k *pairing) here(method string, msg []byte) *Found {
	line := 0
	if k.last != transcript.None {
		line = int(k.p.track.Entry(k.last).Line)
	}
	return &Found{match.Difference{Kind: match.Extra, Line: line, Method: method, Got: jsonOf(msg)}, k.last, k.from, transcript.None, msg}
}

// maxInexact bounds the messages that may lose their entry to an equal one.
const maxInexact = 1000

// assign gives entry i to a message as the nearest.
func (k *pairing) assign(i int32, to *Found) {
	if len(k.inexact) >= maxInexact {
		oldest := i
		for at := range k.inexact {
			oldest = min(oldest, at)
		}
		delete(k.inexact, oldest)
	}
	k.inexact[i] = to
	k.keep(i, to.msg)
}

// steal takes an entry that msg equals from a message that only had it as the nearest. That message is extra then, unless
// there is another entry near it.
func (k *pairing) steal(parsed match.Parsed, msg []byte) (i, moved int32) {
	if parsed.Kind == wire.Request {
		return transcript.None, transcript.None // its response was sent
	}
	for _, i := range slices.Sorted(maps.Keys(k.inexact)) {
		loser := k.inexact[i]
		if k.p.track.Method(int(i)) != parsed.Method || !k.p.is(i, msg) {
			continue
		}
		delete(k.inexact, i)
		delete(k.found, i)
		near, _ := k.p.nearest(parsed.Method, loser.msg, true)
		k.p.unsee(i)
		if near == transcript.None {
			k.addExtra(loser)
			return i, near
		}
		k.p.see(near)
		k.assign(near, loser)
		return i, near
	}
	return transcript.None, transcript.None
}

// handAnswer returns the line that people wrote in place of an answer and that
// accepts msg.
func (k *pairing) handAnswer(msg []byte) int32 {
	for _, i := range k.p.index.hand {
		if k.p.seen(i) == 0 && k.p.is(i, msg) {
			return i
		}
	}
	return transcript.None
}

// keep records the differences of msg, which came for entry i. It must be
// called before values are learnt from msg.
func (k *pairing) keep(i int32, msg []byte) {
	if found, _ := k.p.differences(i, msg); len(found) > 0 {
		k.differs(i, found)
	}
}

// differs records the differences of the message that came for entry i.
func (k *pairing) differs(i int32, found []match.Difference) {
	all := kept(i, found)
	for _, f := range all {
		k.size += f.size()
	}
	k.found[i] = all
}

// awaited returns the first entry of the other side that has not arrived; None if all have.
func (k *pairing) awaited() int32 {
	for ; k.first < int32(k.p.track.Len()); k.first++ {
		if k.p.seen(k.first) == 0 && k.p.track.Entry(k.first).Dir != k.p.side {
			return k.first
		}
	}
	return transcript.None
}

// result returns the differences, in the tape's order.
func (k *pairing) result() (all []*Found) {
	k.settle()
	extras := k.extras
	addExtras := func(before int32) {
		for ; len(extras) > 0 && extras[0].entry < before; extras = extras[1:] {
			if extras[0].twin == transcript.None {
				all = append(all, extras[0])
			}
		}
	}
	p := k.p
	for i := range int32(p.track.Len()) {
		if p.track.Entry(i).Dir == p.side {
			continue
		}
		addExtras(i)
		if found := k.found[i]; found != nil {
			all = append(all, found...)
		} else if k.absent(i) {
			want, _ := p.track.Message(int(i))
			missing := p.at(i, match.Difference{Want: jsonOf(want)})
			missing[0].Kind = match.Missing
			if line := p.track.HandwrittenLine(int(i)); line != nil && line.Match != "" {
				missing[0].Text = "nothing made this true: " + line.Match
			}
			all = append(all, kept(i, missing)...)
		}
	}
	addExtras(int32(p.track.Len()))
	return all
}
