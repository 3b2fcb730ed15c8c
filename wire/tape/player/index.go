package player

import (
	"bytes"
	"cmp"
	"sync"
	"sync/atomic"

	"rpcx/wire"
	"rpcx/wire/scan"
	"rpcx/wire/tape"
	"rpcx/wire/tape/spill"
	"rpcx/wire/tape/transcript"
)

// An index finds the entries of the other side of a track, answers apart. It never
// changes, and what of it is long is kept beside memory: a tape may have millions.
type index struct {
	byHash, byMethod *spill.Sorted // what people wrote on apart
	methods          []string      // those of byMethod
	hand             []int32       // what people wrote on

	side  wire.Direction // ours
	once  sync.Once
	loose atomic.Pointer[loose] // nil: nobody has asked for it yet
}

// A loose index finds the entries that are equal to a message but for times and the like.
type loose struct {
	byHash *spill.Sorted // by match.Rules.Loose
	hidden *spill.Sorted // by method, those in which something is redacted
}

// newIndex indexes what the other side than side sent.
func newIndex(t *transcript.Track, side wire.Direction) *index {
	x := &index{side: side}
	var hashes, methods spill.Sorter
	known := map[uint32]bool{}
	for i := range int32(t.Len()) {
		switch e := t.Entry(i); {
		case e.Own != transcript.None, e.Dir == side:
		case e.Handwritten:
			x.hand = append(x.hand, i)
		default:
			hashes.Add(e.Hash, uint32(i))
			methods.Add(uint64(e.Method), uint32(i))
			if !known[e.Method] {
				known[e.Method] = true
				x.methods = append(x.methods, t.Method(int(i)))
			}
		}
	}
	x.byHash, x.byMethod = hashes.Sorted(), methods.Sorted()
	return x
}

// loosely returns the loose index, which is made when it is asked for: few conversations
// need it, and all messages of the track are read for it.
func (x *index) loosely(t *transcript.Track) *loose {
	x.once.Do(func() {
		var hashes, hidden spill.Sorter
		for i := range int32(t.Len()) {
			e := t.Entry(i)
			if e.Own != transcript.None || e.Dir == x.side || e.Handwritten {
				continue
			}
			if msg, err := t.Message(int(i)); err != nil || e.Redacted {
				hidden.Add(uint64(e.Method), uint32(i))
			} else {
				hashes.Add(t.Of().Rules.Loose(t.Method(int(i)), msg), uint32(i))
			}
		}
		x.loose.Store(&loose{hashes.Sorted(), hidden.Sorted()})
	})
	return x.loose.Load()
}

func (x *index) err() error {
	err := cmp.Or(x.byHash.Err(), x.byMethod.Err())
	if l := x.loose.Load(); l != nil {
		err = cmp.Or(err, l.byHash.Err(), l.hidden.Err())
	}
	return err
}

func (x *index) close() {
	_ = x.byHash.Close()
	_ = x.byMethod.Close()
	if l := x.loose.Load(); l != nil {
		_ = l.byHash.Close()
		_ = l.hidden.Close()
	}
}

// candidates are the entries of an index that have something in common, in their order.
type candidates struct {
	list     *spill.Sorted
	from, to int
	heads    *spill.Ints // how many of the list that begins there are used, from its first
}

// heads are those of all candidates in a conversation, by the list that they are on.
type heads struct{ ofHash, ofMethod, ofLoose, ofHidden *spill.Ints }

func newHeads() heads {
	return heads{spill.NewInts(), spill.NewInts(), spill.NewInts(), spill.NewInts()}
}

func (h *heads) err() error {
	return cmp.Or(h.ofHash.Err(), h.ofMethod.Err(), h.ofLoose.Err(), h.ofHidden.Err())
}

func (h *heads) close() {
	for _, l := range []*spill.Ints{h.ofHash, h.ofMethod, h.ofLoose, h.ofHidden} {
		_ = l.Close()
	}
}

func (c candidates) len() int       { return c.to - c.from }
func (c candidates) at(n int) int32 { return int32(c.list.At(c.from + n)) }

// equals returns the entries that have the hash.
func (p *play) equals(hash uint64) candidates {
	from, to := p.index.byHash.Range(hash)
	return candidates{p.index.byHash, from, to, p.heads.ofHash}
}

// named returns the entries that have the method.
func (p *play) named(method string) candidates {
	number, ok := p.track.Of().Number(method)
	if !ok {
		return candidates{}
	}
	from, to := p.index.byMethod.Range(uint64(number))
	return candidates{p.index.byMethod, from, to, p.heads.ofMethod}
}

// alike returns the first unused entry that equals msg but for its times and what is
// redacted, and the last that does.
func (p *play) alike(method string, msg []byte) (first, last int32) {
	if p.values.Any() || p.rules.Ignores() || bytes.Contains(msg, redacted) {
		return p.firstOf(p.named(method), msg, true)
	}
	x := p.index.loosely(p.track)
	from, to := x.byHash.Range(p.rules.Loose(method, msg))
	first, last = p.firstOf(candidates{x.byHash, from, to, p.heads.ofLoose}, msg, true)
	if number, ok := p.track.Of().Number(method); ok {
		from, to = x.hidden.Range(uint64(number))
		one, two := p.firstOf(candidates{x.hidden, from, to, p.heads.ofHidden}, msg, true)
		if first == transcript.None || one != transcript.None && one < first {
			first = one
		}
		last = max(last, two)
	}
	return first, last
}

var redacted = scan.AppendQuoted(nil, tape.Redacted)

// unused returns the place in c before which all are used.
func (p *play) unused(c candidates) int {
	if c.len() == 0 {
		return 0
	}
	known := int(c.heads.Get(c.from))
	head := known
	for head < c.len() && p.seen(c.at(head)) > 0 {
		head++
	}
	if head != known {
		c.heads.Set(c.from, uint32(head))
	}
	return head
}
