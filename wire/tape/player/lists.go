package player

import (
	"cmp"
	"slices"
	"sort"
)

// ints is a list of numbers; those that were never set are 0.
type ints []uint32

func (l ints) get(i int) uint32 {
	if i >= len(l) {
		return 0
	}
	return l[i]
}

func (l *ints) set(i int, n uint32) {
	if missing := i + 1 - len(*l); missing > 0 {
		*l = append(*l, make([]uint32, missing)...)
	}
	(*l)[i] = n
}

// A multimap has values by key, those of one key in the order in which they were added.
type multimap []keyed

type keyed struct {
	key uint64
	val int32
}

func (m *multimap) add(key uint64, val int32) { *m = append(*m, keyed{key, val}) }

// sorted sorts m, which find wants.
func (m multimap) sorted() multimap {
	slices.SortStableFunc(m, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
	return m
}

// find returns what has the key.
func (m multimap) find(key uint64, heads *ints) candidates {
	from := sort.Search(len(m), func(i int) bool { return m[i].key >= key })
	n := sort.Search(len(m)-from, func(i int) bool { return m[from+i].key > key })
	return candidates{m[from : from+n], from, heads}
}
