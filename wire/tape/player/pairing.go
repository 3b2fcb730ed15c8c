package player

import (
	"maps"
	"slices"

	"rpcx/wire"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
)

// A pairing assigns the messages that arrive to entries on the tape, and stores the differences.
type pairing struct {
	p       *play
	found   map[int32][]*Found // the differences of received messages, by entry
	inexact map[int32]*Found   // messages that only resemble the entry to which they are assigned, by entry
	missing ints               // 1 if the entry is no longer awaited
	stand   map[int32]int32    // local requests that stand for others (see trade)
	extras  []*Found           // in the order of the tape once settle has run
	size    int                // the total size of found and extras in bytes
	unsure  *unsure            // the last response that had differences, or nil
	settled bool
	passed  func(i int32)         // see awaited
	idOf    func(i int32) wire.ID // returns the id that the response at entry i must have; nil means the recorded id
	other   *transcript.Track     // when two tapes are compared, the track of the other tape, otherwise nil
	from    int32                 // when two tapes are compared, the current entry of the other track
	last    int32                 // the entry of the last message that was assigned to one
	first   int32                 // all earlier entries have arrived or are no longer awaited
}

func newPairing(p *play) pairing {
	p.once = true
	return pairing{
		p: p, found: map[int32][]*Found{}, inexact: map[int32]*Found{}, stand: map[int32]int32{}, idOf: func(int32) wire.ID { return nil }, last: transcript.None,
	}
}

func (k *pairing) addExtra(f *Found) {
	k.extras = append(k.extras, f)
	k.size += f.size()
}

// choose returns the entry for a message that is not a response to a local request. It is an entry that equals the message or, failing
// that, the most similar unused entry of the same method. If there is none, choose returns None and records msg as extra. If the entry
// was taken from another message, moved is the new entry of that message, and otherwise None.
func (k *pairing) choose(parsed match.Parsed, msg []byte, json bool) (i, moved int32) {
	p := k.p
	i, moved = p.find(parsed, msg, json), transcript.None
	if parsed.Kind == wire.Notification && k.loose(parsed.Method) {
		if i != transcript.None && p.seen(i) > 0 {
			i = transcript.None
		}
		return i, moved
	}
	if i != transcript.None && p.seen(i) > 0 {
		i, moved = k.reassign(parsed, msg)
	}
	switch {
	case i != transcript.None:
	case parsed.Kind == wire.Response: // it answers another conversation's request, or an answered one
		i = k.handAnswer(msg)
	case json:
		if i, _ = p.nearest(parsed.Method, msg, true); parsed.Kind == wire.Request && k.renamed(i, parsed.Method, msg) {
			i = transcript.None
		}
		if i != transcript.None {
			k.assign(i, k.asExtra(parsed.Method, msg))
		}
	}
	if i == transcript.None {
		k.addExtra(k.asExtra(parsed.Method, msg))
	} else {
		k.last = i
	}
	return i, moved
}

// loose reports whether the notifications of a method are not compared, because a line on one of the tapes is marked as
// optional.
func (k *pairing) loose(method string) bool {
	return k.p.track.LooseMethod(method) || k.other != nil && k.other.LooseMethod(method)
}

// asExtra returns msg as an extra message after the last message that has an entry.
func (k *pairing) asExtra(method string, msg []byte) *Found {
	line := 0
	if k.last != transcript.None {
		line = int(k.p.track.Entry(k.last).Line)
	}
	return &Found{match.Difference{Kind: match.Extra, Line: line, Method: method, Got: jsonOf(msg)}, k.last, k.from, transcript.None, msg}
}

// maxInexact is how many messages can still lose their entry to a message that equals it.
const maxInexact = 1000

// assign assigns entry i to a message that resembles it.
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

// reassign takes an entry that equals msg from another message that only resembles it. That message is assigned to
// another similar entry, or becomes extra.
func (k *pairing) reassign(parsed match.Parsed, msg []byte) (i, moved int32) {
	if parsed.Kind == wire.Request {
		return transcript.None, transcript.None // rpcx has already responded
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

// handAnswer returns an unused handwritten line for a response whose condition msg fulfils, or None.
func (k *pairing) handAnswer(msg []byte) int32 {
	i, _ := k.p.handOf(msg, transcript.None, transcript.None)
	return i
}

// keep records the differences between msg and entry i. It must be called before values are learned from msg.
func (k *pairing) keep(i int32, msg []byte) {
	if found, _ := k.p.differences(i, msg); len(found) > 0 {
		k.differs(i, found)
	}
}

// differs records the differences of the message that was assigned to entry i.
func (k *pairing) differs(i int32, found []match.Difference) {
	all := kept(i, found)
	for _, f := range all {
		k.size += f.size()
	}
	k.found[i] = all
}

// awaited returns the first entry of the other side that is required and has not arrived, or None. Optional entries before it are
// no longer awaited, and passed is called for each. passed may be nil.
func (k *pairing) awaited() int32 {
	for ; k.first < int32(k.p.track.Len()); k.first++ {
		if k.p.seen(k.first) > 0 || k.p.track.Entry(k.first).Dir == k.p.side {
			continue
		}
		if !k.p.track.Optional(k.first) {
			return k.first
		}
		if k.passed != nil {
			k.passed(k.first)
		}
	}
	return transcript.None
}

// result returns all differences in the order of the tape.
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
		} else if k.absent(i) && !p.track.Optional(i) && !(p.track.Entry(i).Kind == wire.Notification && k.loose(p.track.Method(int(i)))) {
			want, _ := p.track.Message(int(i))
			missing := p.at(i, match.Difference{Want: jsonOf(want)})
			missing[0].Kind = match.Missing
			if line := p.track.HandwrittenLine(int(i)); line != nil && line.Match != "" {
				missing[0].Text = "no message met the condition: " + line.Match
			}
			all = append(all, kept(i, missing)...)
		}
	}
	addExtras(int32(p.track.Len()))
	return all
}
