package player

import (
	"cmp"
	"slices"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/tape/match"
	"rpcx/wire/tape/transcript"
)

// Diff compares both sides of the tapes a and b. Connection n of a is compared with connection n of b. The differences are
// in the order of the lines of a.
func Diff(a, b *transcript.Transcript, o Options) (all []*Found, err error) {
	for n := range max(len(a.Tracks), len(b.Tracks)) {
		found, err := diffTracks(trackOf(a, n), trackOf(b, n), o)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// trackOf returns track n of t, or an empty track if t has fewer tracks.
func trackOf(t *transcript.Transcript, n int) *transcript.Track {
	if n < len(t.Tracks) {
		return t.Tracks[n]
	}
	return transcript.Empty(t)
}

// A differ compares two tracks.
type differ struct {
	b     *transcript.Track
	sides [2]*pairing // the messages of each side, by direction
	pairs ints        // for each entry of b, the index of its counterpart in a plus one, or 0
	back  ints        // for each entry of a, the index of its counterpart in b plus one, or 0
	ends  bool        // only the last exchange about each job is compared
	given ints        // pairs that are already known, in the form of the field pairs, or nil
}

// diffTracks compares two tracks. If they differ and have different numbers of status requests for running jobs, it
// compares them again without these requests.
func diffTracks(a, b *transcript.Track, o Options) ([]*Found, error) {
	found, err := diffWith(a, b, o, false)
	if err != nil || len(found) == 0 || a.Repeats() == b.Repeats() {
		return found, err
	}
	if ends, err := diffWith(a, b, o, true); err != nil || len(ends) < len(found) {
		return ends, err
	}
	return found, nil
}

func diffWith(a, b *transcript.Track, o Options, ends bool) ([]*Found, error) {
	d := newDiffer(a, b, o, ends)
	if err := d.run(); err != nil {
		return nil, err
	}
	if given := d.requests(); given != nil { // a second comparison, which pairs responses by their requests
		d = newDiffer(a, b, o, ends)
		d.given = given
		if err := d.run(); err != nil {
			return nil, err
		}
	}
	return d.found(), nil
}

func newDiffer(a, b *transcript.Track, o Options, ends bool) *differ {
	d := &differ{b: b, ends: ends}
	values := &match.Values{IsStream: a.IsStream}
	for dir := range d.sides {
		ours := wire.Direction(1 - dir)
		p := newPlay(a, ours, newIndex(a, ours), o)
		p.values = values
		k := newPairing(p)
		k.other, k.idOf = b, d.answerID
		d.sides[dir] = &k
	}
	d.sides[0].p.vars = d.sides[1].p.vars
	for i := range int32(a.Len()) {
		if ends && a.Repeated(i) {
			d.sides[a.Entry(i).Dir].p.see(i)
		}
	}
	return d
}

func (d *differ) run() error {
	for i := range int32(d.b.Len()) {
		if d.ends && d.b.Repeated(i) {
			continue
		}
		if err := d.add(i); err != nil {
			return err
		}
	}
	return nil
}

// requests returns the pairs of requests that have different methods, or nil.
func (d *differ) requests() (given ints) {
	for _, k := range d.sides {
		given = k.given(given)
	}
	return given
}

// answerID returns the id that the response at entry i of a should have in b. It is the id of the paired request. If it returns
// nil, the id does not change.
func (d *differ) answerID(i int32) wire.ID {
	k := d.sides[0].p
	if own := k.track.Entry(i).Own; own != transcript.None {
		if other := int(d.back.get(int(own))) - 1; other >= 0 {
			if msg, err := d.b.Message(other); err == nil {
				return match.IDOf(k.rules.Shape(), msg)
			}
		}
	}
	return nil
}

// found returns all differences in the order of the lines of a.
func (d *differ) found() []*Found {
	all := append(d.sides[0].result(), d.sides[1].result()...)
	all = slices.DeleteFunc(all, func(f *Found) bool { return f.Kind == match.Extra && f.from != transcript.None && d.b.Optional(f.from) })
	slices.SortStableFunc(all, func(a, b *Found) int { return cmp.Compare(a.Line, b.Line) })
	return all
}

// add finds the entry of a that corresponds to entry i of b, and records their differences.
func (d *differ) add(i int32) error {
	e := d.b.Entry(i)
	msg, err := d.b.Message(int(i))
	if err != nil {
		return err
	}
	if msg == nil {
		return nil // the line contains only a condition
	}
	k := d.sides[e.Dir]
	k.from = i
	if d.given != nil {
		if j := int32(d.given.get(int(i))) - 1; j != transcript.None && k.p.seen(j) == 0 {
			k.keep(j, msg)
			k.last = j
			d.accept(k, j, i, msg)
			return nil
		}
	}
	if e.Kind == wire.Response && e.Own != transcript.None {
		if own := int32(d.pairs.get(int(e.Own))) - 1; own != transcript.None {
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

func (d *differ) accept(k *pairing, j, i int32, msg []byte) {
	if j == transcript.None {
		return
	}
	d.pairs.set(int(i), uint32(j+1))
	d.back.set(int(j), uint32(i+1))
	k.p.accept(j, msg)
	other := d.sides[1-d.b.Entry(i).Dir].p
	for other.seen(j) < k.p.seen(j) {
		other.see(j)
	}
}
