package player

import (
	"cmp"
	"slices"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
)

// Diff compares b with a, both sides of it, with no peer: what b has in place of
// what a has. Connections are compared in their order. The findings are in the
// order of a's lines.
func Diff(a, b *transcript.Transcript, o Options) ([]Finding, error) {
	var all []Finding
	for n := range max(len(a.Tracks), len(b.Tracks)) {
		var x, y *transcript.Track
		if n < len(a.Tracks) {
			x = a.Tracks[n]
		} else {
			x = transcript.Empty(a)
		}
		if n < len(b.Tracks) {
			y = b.Tracks[n]
		} else {
			y = transcript.Empty(b)
		}
		found, err := diffTracks(x, y, o)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// A differ compares two tracks.
type differ struct {
	b     *transcript.Track
	sides [2]*pairing // of what each side sent, by its direction
	pairs []int32     // the entry of a that each entry of b stands for; None: none
}

func diffTracks(a, b *transcript.Track, o Options) ([]Finding, error) {
	d := &differ{b: b, pairs: slices.Repeat([]int32{transcript.None}, len(b.Entries))}
	values := &match.Values{Streams: a.Streams}
	for dir := range d.sides {
		ours := wire.Direction(1 - dir)
		p := newPlay(a, ours, newIndex(a, ours), o.Set)
		p.values = values
		k := newPairing(p)
		d.sides[dir] = &k
	}
	d.sides[0].p.vars = d.sides[1].p.vars
	for i := range b.Entries {
		if err := d.add(i); err != nil {
			return nil, err
		}
	}
	found := append(d.sides[0].result().Findings, d.sides[1].result().Findings...)
	slices.SortStableFunc(found, func(x, y Finding) int { return cmp.Compare(x.Line, y.Line) })
	return found, nil
}

// add finds the counterpart in a of entry i of b, and notes what differs.
func (d *differ) add(i int) error {
	e := &d.b.Entries[i]
	msg, err := d.b.Message(i)
	if err != nil {
		return err
	}
	if msg == nil {
		return nil // a program stands there, and says nothing
	}
	k := d.sides[e.Dir]
	if e.Kind == wire.Response && e.Own != transcript.None {
		if own := d.pairs[e.Own]; own != transcript.None {
			d.accept(k, k.answer(own, msg), i, msg)
			return nil
		}
	}
	valid := scan.Valid(msg, wire.DefaultMaxDepth) == nil
	parsed := match.Parsed{}
	if valid {
		parsed = match.Parse(d.b.Of().Rules.Shape(), msg, e.Dir == wire.Send)
	}
	j, _ := k.choose(parsed, msg, valid)
	d.accept(k, j, i, msg)
	return nil
}

func (d *differ) accept(k *pairing, j int32, i int, msg []byte) {
	if j == transcript.None {
		return
	}
	d.pairs[i] = j
	k.p.accept(j, msg)
	other := d.sides[1-d.b.Entries[i].Dir].p
	other.seen[j] = k.p.seen[j]
}
