package player

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/scratch"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
)

// A pairing assigns each message that comes to an entry of the tape, and keeps
// the differences.
type pairing struct {
	p       *play
	found   ints            // by entry, one more than the number in lists; 0: the message that came for it is as recorded
	lists   scratch.Log     // the differences of messages, those of each together
	inexact map[int32]place // by entry, a message that was assigned as the nearest, not as an equal one
	missing ints            // by entry, 1: it is not awaited any more
	stand   map[int32]int32 // requests of ours that stand for another one: see trade
	extras  Findings
	unsure  *unsure               // the last answer that differed; nil: none did
	twins   ints                  // by number in extras, one more than the entry in whose place it came; 0: none
	order   multimap              // the numbers in extras, by the entry before; nil until settle
	idOf    func(i int32) wire.ID // the id that the answer at entry i should have; nil: any
	known   bool                  // all of both conversations is known beforehand
	from    int32                 // of a tape that is compared, the entry of the message that is handled
	last    int32                 // the entry of the last message that had one
	first   int32                 // no entry before this one is still awaited
}

func newPairing(p *play) pairing {
	p.once = true
	return pairing{
		p: p, inexact: map[int32]place{}, stand: map[int32]int32{}, idOf: p.recordedID, last: transcript.None,
	}
}

// err returns the error of the temporary files; nil if there was none.
func (k *pairing) err() error { return cmp.Or(k.lists.Err(), k.extras.Err()) }

// close closes the temporary files.
func (k *pairing) close() {
	_ = k.lists.Close()
	k.extras.Close()
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
		if i, _ = p.nearest(parsed.Method, msg, true); parsed.Kind == wire.Request && k.renamed(i, parsed.Method, msg) {
			i = transcript.None
		}
		if i != transcript.None {
			k.assign(i, k.here(parsed.Method, msg))
		}
	}
	if i == transcript.None {
		k.extras.add(k.here(parsed.Method, msg))
	} else {
		k.last = i
	}
	return i, moved
}

// here returns msg as an extra message, after the entry of the message before.
func (k *pairing) here(method string, msg []byte) place {
	line := 0
	if k.last != transcript.None {
		line = int(k.p.track.Entry(k.last).Line)
	}
	return place{Finding: Finding{Kind: Extra, Line: line, Method: method, Got: jsonOf(msg)}, entry: k.last, from: k.from, msg: msg}
}

// maxInexact bounds the messages that may lose their entry to an equal one.
const maxInexact = 1000

// assign gives entry i to a message as the nearest.
func (k *pairing) assign(i int32, to place) {
	if len(k.inexact) >= maxInexact {
		oldest := i
		for at := range k.inexact {
			oldest = min(oldest, at)
		}
		delete(k.inexact, oldest)
	}
	to.msg = slices.Clone(to.msg)
	to.Got = jsonOf(to.msg)
	k.inexact[i] = to
	k.keep(i, to.msg)
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
		k.found.set(int(i), 0)
		near, _ := k.p.nearest(parsed.Method, loser.msg, true)
		k.p.unsee(i)
		if near == transcript.None {
			k.extras.add(loser)
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
	k.found.set(int(i), uint32(k.lists.Add(b))+1)
}

// differences returns the differences of got, which came for entry i.
func (k *pairing) differences(i int32, got []byte) []Finding {
	p := k.p
	line, method := int(p.track.Entry(i).Line), p.track.Method(int(i))
	hand := p.track.HandwrittenLine(int(i))
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
	k.settle()
	all, told := &Findings{}, 0
	tellExtras := func(before int32) {
		for ; told < len(k.order) && int32(k.order[told].key)-1 < before; told++ {
			if n := int(k.order[told].val); k.twins.get(n) == 0 {
				all.list.Add(k.extras.list.Get(n))
			}
		}
	}
	p := k.p
	for i := range int32(p.track.Len()) {
		e := p.track.Entry(i)
		if e.Dir == p.side {
			continue
		}
		tellExtras(i)
		if n := k.found.get(int(i)); n > 0 {
			for list := k.lists.Get(int(n - 1)); len(list) > 0; {
				var f place
				f, list = readPlace(list)
				all.add(f)
			}
		} else if k.absent(i) {
			want, _ := p.track.Message(int(i))
			all.add(place{Finding: Finding{Kind: Missing, Line: int(e.Line), Method: p.track.Method(int(i)), Want: jsonOf(want)}, entry: i})
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
