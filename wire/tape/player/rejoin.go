package player

import (
	"cmp"
	"slices"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
)

// If the method, id or kind of a message has changed, the message cannot be assigned to its entry when it arrives. The message is then
// extra, and the entry is missing. When all missing entries are known, settle pairs each extra message with the most similar missing
// entry nearby, and the two become one difference.

// These constants limit the number of comparisons for one place on the tape.
const (
	maxGap      = 32   // missing entries
	strangers   = 16   // extra messages at one place
	gapDistance = 1000 // in entries of both sides
	maxPassed   = 8    // how many received messages may be before a message that has been moved and differs in one member
)

// settle pairs extra messages with missing entries. It must be called when all messages have arrived.
func (k *pairing) settle() {
	if k.settled {
		return
	}
	k.settled = true
	slices.SortStableFunc(k.extras, func(a, b *Found) int { return cmp.Compare(a.entry, b.entry) })
	first := int32(0) // the first entry that is not paired in the gap of the previous group
	for n, to := 0, 0; n < len(k.extras); n = to {
		at := k.extras[n].entry
		for to = n; to < len(k.extras) && to < n+strangers && k.extras[to].entry == at; to++ {
		}
		first = k.skipPaired(max(first, at+1))
		k.rejoin(k.gap(at, first), k.extras[n:to])
	}
}

// skipPaired returns the first entry, starting with i, that is not paired with an extra message.
func (k *pairing) skipPaired(i int32) int32 {
	for i < int32(k.p.track.Len()) && k.absent(i) && k.found[i] != nil {
		i++
	}
	return i
}

// A vacancy is a missing entry with which an extra message can be paired. If spare is not entry, a message that equals both has been
// assigned to entry. Either of the two can then count as missing.
type vacancy struct {
	entry, spare int32
	far          bool // there are received messages between it and the extra message
}

// gap returns the missing entries near the place after entry at. First come the entries from first on that follow that place, and
// then those before it. Near means that at most maxPassed received messages are in between.
func (k *pairing) gap(at, first int32) (all []vacancy) {
	passed := 0
	see := func(i int32) (more bool) {
		switch e := k.p.track.Entry(i); {
		case e.Dir == k.p.side:
		case !k.absent(i):
			if spare := k.spare(i); spare != transcript.None && passed == 0 {
				all = append(all, vacancy{i, spare, false})
			} else {
				passed++
			}
		case !e.Handwritten && k.found[i] == nil:
			all = append(all, vacancy{i, i, passed > 0})
		}
		return passed <= maxPassed && len(all) < maxGap
	}
	for i := first; i < min(first+gapDistance, int32(k.p.track.Len())) && see(i); i++ {
	}
	passed = 0
	for i := at - 1; i >= max(at-gapDistance, 0) && see(i); i-- {
	}
	return all
}

// spare returns a missing entry near entry i that equals it, or None. Entry i has arrived.
func (k *pairing) spare(i int32) int32 {
	e := k.p.track.Entry(i)
	if e.Own != transcript.None || e.Handwritten || k.found[i] != nil {
		return transcript.None
	}
	for j := i + 1; j < min(i+maxGap, int32(k.p.track.Len())); j++ {
		other := k.p.track.Entry(j)
		if other.Dir == e.Dir && other.Kind == e.Kind && other.Hash == e.Hash && !other.Handwritten && k.vacant(j) {
			return j
		}
	}
	return transcript.None
}

// vacant reports whether entry i is missing and not paired with an extra message.
func (k *pairing) vacant(i int32) bool { return k.absent(i) && k.found[i] == nil }

// absent reports whether entry i has not arrived, or is no longer awaited.
func (k *pairing) absent(i int32) bool { return k.p.seen(i) == 0 || k.missing.get(int(i)) > 0 }

// A likeness is an extra message, a missing entry, and the differences between them.
type likeness struct {
	extra *Found
	vacancy
	found []match.Difference
}

// rejoin pairs extra messages with the entries in gap. The most similar pairs come first.
func (k *pairing) rejoin(gap []vacancy, extras []*Found) {
	var all []likeness
	for _, extra := range extras {
		if len(gap) == 0 || scan.Valid(extra.msg, wire.DefaultMaxDepth) != nil {
			continue
		}
		for _, v := range gap {
			if found, ok := k.apart(v.entry, extra.msg); ok && (len(found) == 1 || !v.far) {
				all = append(all, likeness{extra, v, found})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b likeness) int { return cmp.Compare(len(a.found), len(b.found)) })
	for _, l := range all {
		if l.extra.twin != transcript.None || !k.vacant(l.spare) || l.spare != l.entry && k.absent(l.entry) {
			continue
		}
		if l.spare != l.entry {
			k.p.unsee(l.entry)
			k.missing.set(int(l.spare), 0)
			k.p.see(l.spare)
		}
		l.extra.twin = l.entry
		k.differs(l.entry, l.found)
	}
}

// apart returns the differences between the extra message msg and the missing entry i. alike is set if msg is similar enough to
// replace the entry. If there are no differences, the message has only arrived late.
func (k *pairing) apart(i int32, msg []byte) (found []match.Difference, alike bool) {
	want := k.p.wanted(i)
	if scan.Valid(want, wire.DefaultMaxDepth) != nil {
		return nil, false
	}
	if id := k.idOf(i); id != nil {
		want = match.SetID(k.p.rules.Shape(), want, id)
	}
	found = k.p.compareIDs(i, want, msg)
	switch {
	case len(found) == 0:
		return nil, k.other != nil
	case len(found) == 1:
		return found, found[0].Pointer != ""
	}
	differ := 0
	for _, d := range found {
		differ += max(values(d.Want), values(d.Got))
	}
	return found, 2*differ <= max(values(want), values(msg))
}

// renamed reports whether the request msg equals one of the next entries in everything except the method. Only entries before near
// count. near is an entry that has the same method as msg, or None.
func (k *pairing) renamed(near int32, method string, msg []byte) bool {
	for _, v := range k.gap(k.last, k.last+1) {
		if near != transcript.None && v.entry >= near {
			continue
		}
		if k.p.track.Entry(v.entry).Kind == wire.Response || k.p.track.Method(int(v.entry)) == method {
			continue
		}
		if found, alike := k.apart(v.entry, msg); alike && len(found) == 1 {
			return true
		}
	}
	return false
}

// values returns the number of values in val, including val itself.
func values(val []byte) int {
	n := min(len(val), 1)
	for _, part := range scan.Parts(val) {
		n += values(part)
	}
	return n
}

// given adds the pairs of requests that settle has found to given, by the entry of the other tape. It returns nil if given
// is nil and there are no such pairs.
func (k *pairing) given(given ints) ints {
	k.settle()
	for _, f := range k.extras {
		if f.twin != transcript.None && k.p.track.Entry(f.twin).Kind == wire.Request {
			given.set(int(f.from), uint32(f.twin)+1)
		}
	}
	return given
}
