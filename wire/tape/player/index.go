package player

import (
	"cmp"
	"slices"
	"sort"

	"rpcx/wire"
	"rpcx/wire/tape/transcript"
)

// An index finds the entries of one side of a track. It never changes, and takes a few
// bytes for each of them: a tape may have millions.
type index struct {
	entries  []transcript.Entry
	byHash   []int32 // what the other side sent, answers and what people wrote on apart, by Hash and place
	byMethod map[string][]int32
	byOwn    []int32 // answers of either side, by the entry that they answer and place
	hand     []int32 // what people wrote on, but for answers
}

func newIndex(t *transcript.Track, side wire.Direction) *index {
	x := &index{entries: t.Entries, byMethod: map[string][]int32{}}
	answers, theirs := 0, 0
	for i := range t.Entries {
		switch e := &t.Entries[i]; {
		case e.Own != transcript.None:
			answers++
		case e.Dir != side && !e.Hand:
			theirs++
		}
	}
	x.byOwn, x.byHash = make([]int32, 0, answers), make([]int32, 0, theirs)
	for i := range t.Entries {
		switch e := &t.Entries[i]; {
		case e.Own != transcript.None:
			x.byOwn = append(x.byOwn, int32(i))
		case e.Dir == side:
		case e.Hand:
			x.hand = append(x.hand, int32(i))
		default:
			x.byHash = append(x.byHash, int32(i))
			method := t.Method(i)
			x.byMethod[method] = append(x.byMethod[method], int32(i))
		}
	}
	slices.SortFunc(x.byOwn, func(a, b int32) int {
		return cmp.Or(cmp.Compare(t.Entries[a].Own, t.Entries[b].Own), cmp.Compare(a, b))
	})
	slices.SortFunc(x.byHash, func(a, b int32) int {
		return cmp.Or(cmp.Compare(t.Entries[a].Hash, t.Entries[b].Hash), cmp.Compare(a, b))
	})
	return x
}

// equals returns the entries that have the hash, in their order.
func (x *index) equals(hash uint64) []int32 {
	from := sort.Search(len(x.byHash), func(n int) bool { return x.entries[x.byHash[n]].Hash >= hash })
	to := from
	for to < len(x.byHash) && x.entries[x.byHash[to]].Hash == hash {
		to++
	}
	return x.byHash[from:to]
}

// answers returns the entries that answer own, of either side, in their order.
func (x *index) answers(own int32) []int32 {
	from := sort.Search(len(x.byOwn), func(n int) bool { return x.entries[x.byOwn[n]].Own >= own })
	to := from
	for to < len(x.byOwn) && x.entries[x.byOwn[to]].Own == own {
		to++
	}
	return x.byOwn[from:to]
}
