package player

import (
	"cmp"

	"rpcx/wire"
	"rpcx/wire/tape/spill"
	"rpcx/wire/tape/transcript"
)

// An index finds the entries of the other side of a track, answers apart. It never
// changes, and what of it is long is kept beside memory: a tape may have millions.
type index struct {
	byHash, byMethod *spill.Sorted // what people wrote on apart
	methods          []string      // those of byMethod
	hand             []int32       // what people wrote on
}

// newIndex indexes what the other side than side sent.
func newIndex(t *transcript.Track, side wire.Direction) *index {
	x := &index{}
	var hashes, methods spill.Sorter
	known := map[uint32]bool{}
	for i := range int32(t.Len()) {
		switch e := t.Entry(i); {
		case e.Own != transcript.None, e.Dir == side:
		case e.Hand:
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

func (x *index) err() error { return cmp.Or(x.byHash.Err(), x.byMethod.Err()) }

func (x *index) close() {
	_ = x.byHash.Close()
	_ = x.byMethod.Close()
}

// candidates are the entries of an index that have something in common, in their order.
type candidates struct {
	list     *spill.Sorted
	from, to int
	heads    *spill.Ints // how many of the list that begins there are used, from its first
}

func (c candidates) len() int       { return c.to - c.from }
func (c candidates) at(n int) int32 { return int32(c.list.At(c.from + n)) }

// equals returns the entries that have the hash.
func (p *play) equals(hash uint64) candidates {
	from, to := p.index.byHash.Range(hash)
	return candidates{p.index.byHash, from, to, p.usedOfHash}
}

// named returns the entries that have the method.
func (p *play) named(method string) candidates {
	number, ok := p.track.Of().Number(method)
	if !ok {
		return candidates{}
	}
	from, to := p.index.byMethod.Range(uint64(number))
	return candidates{p.index.byMethod, from, to, p.usedOfMethod}
}

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
