package player

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/spill"
	"rpcx/wire/tape/transcript"
)

// A pairing assigns each message that comes to an entry of the tape, and keeps
// the differences.
type pairing struct {
	p       *play
	found   *spill.Ints      // by entry, one more than the number in lists; 0: the message that came for it is as recorded
	lists   spill.Blobs      // the differences of messages, those of each together
	inexact map[int32][]byte // by entry, a message that was assigned as the nearest, not as an equal one
	missing *spill.Ints      // by entry, 1: it is not awaited any more
	stand   map[int32]int32  // requests of ours that stand for another one: see trade
	extras  Findings
	last    int32 // the last entry that came
	first   int32 // no entry before this one is still awaited
}

func newPairing(p *play) pairing {
	p.once = true
	return pairing{
		p: p, found: spill.NewInts(), inexact: map[int32][]byte{}, missing: spill.NewInts(), stand: map[int32]int32{},
		last: transcript.None,
	}
}

// err returns the error of the temporary files; nil if there was none.
func (k *pairing) err() error {
	return cmp.Or(k.p.err(), k.found.Err(), k.lists.Err(), k.missing.Err(), k.extras.Err())
}

// close closes the temporary files.
func (k *pairing) close() {
	_ = k.found.Close()
	_ = k.lists.Close()
	_ = k.missing.Close()
	k.extras.Close()
	k.p.close()
}

// choose returns the entry of a message that is no answer to us: an equal one,
// else the nearest of its method that is free; None, with msg recorded as
// extra, if there is none. moved is the entry that the message which had the
// entry before was moved to; None: no message was moved.
func (k *pairing) choose(parsed match.Parsed, msg []byte, json bool) (i, moved int32) {
	p := k.p
	i, moved = p.find(parsed, msg, json), transcript.None
	if i != transcript.None && p.seen(i) > 0 {
		i, moved = k.steal(parsed, msg)
	}
	switch {
	case i != transcript.None:
	case parsed.Kind == wire.Response: // of a request that is not ours, or was answered
		i = k.handAnswer(msg)
	case json:
		if i, _ = p.nearest(parsed.Method, msg, true); i != transcript.None {
			k.assign(i, msg)
		}
	}
	if i == transcript.None {
		k.extra(parsed.Method, msg)
	} else {
		k.last = max(k.last, i)
	}
	return i, moved
}

func (k *pairing) extra(method string, msg []byte) {
	line := 0
	if k.last != transcript.None {
		line = int(k.p.track.Entry(k.last).Line)
	}
	k.extras.add(place{Finding{Kind: Extra, Line: line, Method: method, Got: jsonOf(msg)}, k.last, msg})
}

// inexactMost bounds the messages that may lose their entry to an equal one.
const inexactMost = 1000

// assign gives entry i to msg as the nearest.
func (k *pairing) assign(i int32, msg []byte) {
	if len(k.inexact) >= inexactMost {
		oldest := i
		for at := range k.inexact {
			oldest = min(oldest, at)
		}
		delete(k.inexact, oldest)
	}
	k.inexact[i] = slices.Clone(msg)
	k.keep(i, msg)
}

// steal takes an entry that msg equals from the message which it was given to as
// the nearest. That one is extra then, unless there is another near it.
func (k *pairing) steal(parsed match.Parsed, msg []byte) (i, moved int32) {
	if parsed.Kind == wire.Request {
		return transcript.None, transcript.None // it was answered
	}
	for _, i := range slices.Sorted(maps.Keys(k.inexact)) {
		loser := k.inexact[i]
		if k.p.track.Method(int(i)) != parsed.Method || !k.p.is(i, msg) {
			continue
		}
		delete(k.inexact, i)
		k.found.Set(int(i), 0)
		near, _ := k.p.nearest(parsed.Method, loser, true)
		k.p.unsee(i)
		if near == transcript.None {
			k.extra(parsed.Method, loser)
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
		if k.p.seen(i) == 0 && k.p.like(i, msg) {
			return i
		}
	}
	return transcript.None
}

// answer returns the entry of an answer to entry own; None, with msg recorded
// as extra, if none is left.
func (k *pairing) answer(own int32, msg []byte) int32 {
	at := k.stands(own)
	if i := k.p.unanswered(at); i != transcript.None {
		if found := k.differences(i, msg); len(found) > 0 {
			traded := int32(transcript.None)
			if k.p.track.Entry(at).Answer == i {
				traded = k.trade(own, msg)
			}
			if traded == transcript.None {
				k.differs(i, found)
			} else {
				i = traded
			}
		}
		k.last = max(k.last, i)
		return i
	}
	i := k.handAnswer(msg)
	if i == transcript.None {
		k.extra(k.p.track.Method(int(own)), msg)
	}
	return i
}

// farAnswer is how many answers of one request are gone through before it is noted how
// far they have come.
const farAnswer = 16

// unanswered returns the first answer to entry own that has not come; None if
// all have.
func (p *play) unanswered(own int32) int32 {
	i, known := p.answers[own]
	if !known {
		i = p.track.Entry(own).Answer
	}
	steps := 0
	for ; i != transcript.None && p.seen(i) > 0; steps++ {
		i = p.track.Entry(i).More
	}
	switch {
	case i == transcript.None:
		delete(p.answers, own)
	case steps >= farAnswer || known && steps > 0:
		p.answers[own] = i
	}
	return i
}

// keep records the differences of msg, which came for entry i. It must be
// called before values are learnt from msg.
func (k *pairing) keep(i int32, msg []byte) {
	if found := k.differences(i, msg); len(found) > 0 {
		k.differs(i, found)
	}
}

// differs records the differences of the message that came for entry i.
func (k *pairing) differs(i int32, found []Finding) {
	var b []byte
	for _, f := range found {
		b = appendPlace(b, place{Finding: f, entry: i})
	}
	k.found.Set(int(i), uint32(k.lists.Add(b))+1)
}

// differences returns the differences of got, which came for entry i.
func (k *pairing) differences(i int32, got []byte) []Finding {
	p := k.p
	line, method := int(p.track.Entry(i).Line), p.track.Method(int(i))
	hand := p.track.Hand(int(i))
	if hand != nil && hand.Match != "" {
		if p.like(i, got) {
			return nil
		}
		return []Finding{{Kind: Differs, Line: line, Method: method, Got: jsonOf(got), Text: "it does not make this true: " + hand.Match}}
	}
	want, err := p.track.Message(int(i))
	if err != nil || want == nil {
		return nil
	}
	if hand != nil && hand.Vars {
		want = substitute(nil, want, p.vars)
	}
	return findings(line, method, p.compare(i, p.withID(want, got), got))
}

// awaited returns the first entry of the other side that has not come; None if
// all have.
func (k *pairing) awaited() int32 {
	for ; k.first < int32(k.p.track.Len()); k.first++ {
		if k.p.seen(k.first) == 0 && k.p.track.Entry(k.first).Dir != k.p.side {
			return k.first
		}
	}
	return transcript.None
}

// result returns the findings, in the tape's order.
func (k *pairing) result() *Findings {
	all, told := &Findings{}, 0
	tellExtras := func(before int32) {
		for ; told < k.extras.Len() && k.extras.at(told).entry < before; told++ {
			all.list.Add(k.extras.list.Get(told))
		}
	}
	p := k.p
	for i := range int32(p.track.Len()) {
		e := p.track.Entry(i)
		if e.Dir == p.side {
			continue
		}
		tellExtras(i)
		if p.seen(i) == 0 || k.missing.Get(int(i)) > 0 {
			want, _ := p.track.Message(int(i))
			all.add(place{Finding: Finding{Kind: Missing, Line: int(e.Line), Method: p.track.Method(int(i)), Want: jsonOf(want)}, entry: i})
			continue
		}
		if n := k.found.Get(int(i)); n > 0 {
			for list := k.lists.Get(int(n - 1)); len(list) > 0; {
				var f place
				f, list = readPlace(list)
				all.add(f)
			}
		}
	}
	tellExtras(int32(p.track.Len()))
	return all
}

// jsonOf returns msg as a JSON value.
func jsonOf(msg []byte) json.RawMessage {
	if json.Valid(msg) {
		return msg
	}
	if msg == nil {
		return nil
	}
	b := scan.JSON(string(msg))
	return b
}
