package spill

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"
)

// A pair is a key and its number.
type pair struct {
	key uint64
	val uint32
}

const pairBytes = 12

func compare(a, b pair) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.val, b.val)) }

func (p pair) set(r *Records, i int) {
	var b [pairBytes]byte
	binary.LittleEndian.PutUint64(b[:], p.key)
	binary.LittleEndian.PutUint32(b[8:], p.val)
	r.Set(i, b[:])
}

func pairAt(r *Records, i int) pair {
	var b [pairBytes]byte
	r.Get(i, b[:])
	return pair{binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint32(b[8:])}
}

// runPairs is how many pairs are sorted in memory at a time.
const runPairs = 64 << 10

// runs is a list of sorted pieces.
type runs struct {
	r    *Records
	ends []int // where the pieces end
}

// add appends a piece, which it sorts.
func (s *runs) add(piece []pair) {
	if s.r == nil {
		s.r = NewRecords(pairBytes)
	}
	slices.SortFunc(piece, compare)
	n := s.r.Len()
	for i, p := range piece {
		p.set(s.r, n+i)
	}
	s.ends = append(s.ends, n+len(piece))
}

// A Sorter sorts pairs.
type Sorter struct {
	next []pair
	runs runs
}

// Add adds a pair.
func (s *Sorter) Add(key uint64, val uint32) {
	if s.next = append(s.next, pair{key, val}); len(s.next) == runPairs {
		s.runs.add(s.next)
		s.next = s.next[:0]
	}
}

// Sorted returns the pairs sorted by key, those of one key by value. The Sorter
// cannot be used any more.
func (s *Sorter) Sorted() *Sorted {
	s.runs.add(s.next)
	s.next = nil
	if len(s.runs.ends) == 1 {
		return newSorted(s.runs.r)
	}
	return newSorted(s.runs.merge())
}

// merge merges the pieces into one sorted list.
func (s *runs) merge() *Records {
	out := NewRecords(pairBytes)
	heads := make([]head, 0, len(s.ends)) // a heap; the piece with the least pair is first
	from := 0
	for _, end := range s.ends {
		if from < end {
			heads = append(heads, head{pairAt(s.r, from), from + 1, end})
		}
		from = end
	}
	for i := len(heads) / 2; i >= 0; i-- {
		sink(heads, i)
	}
	for n := 0; len(heads) > 0; n++ {
		h := &heads[0]
		h.pair.set(out, n)
		if h.next < h.end {
			h.pair = pairAt(s.r, h.next)
			h.next++
		} else {
			*h = heads[len(heads)-1]
			heads = heads[:len(heads)-1]
		}
		sink(heads, 0)
	}
	if err := s.r.Err(); err != nil {
		out.err = err
	}
	_ = s.r.Close()
	return out
}

// A head is the first pair of a piece that is not merged yet.
type head struct {
	pair
	next, end int // the range of the other pairs of the piece
}

// sink moves heads[i] down to its place in the heap.
func sink(heads []head, i int) {
	for {
		least := i
		for _, k := range []int{2*i + 1, 2*i + 2} {
			if k < len(heads) && compare(heads[k].pair, heads[least].pair) < 0 {
				least = k
			}
		}
		if least == i {
			return
		}
		heads[i], heads[least] = heads[least], heads[i]
		i = least
	}
}

// Sorted is a sorted list of pairs.
type Sorted struct {
	r      *Records
	n      int
	fences []uint64 // the keys of every fence-th pair
}

// fence is how many pairs lie between two fences, about a page.
const fence = pageBytes / pairBytes

func newSorted(r *Records) *Sorted {
	s := &Sorted{r: r, n: r.Len()}
	for i := 0; i < s.n; i += fence {
		s.fences = append(s.fences, pairAt(r, i).key)
	}
	return s
}

// Range returns the range of the places of key's values; to is excluded.
func (s *Sorted) Range(key uint64) (from, to int) {
	from = s.first(func(k uint64) bool { return k >= key })
	if from == s.n || pairAt(s.r, from).key != key {
		return from, from
	}
	if from+1 == s.n || pairAt(s.r, from+1).key != key {
		return from, from + 1
	}
	return from, s.first(func(k uint64) bool { return k > key })
}

// first returns the place of the first pair whose key is wanted; all keys after
// it are wanted as well.
func (s *Sorted) first(wanted func(key uint64) bool) int {
	f := sort.Search(len(s.fences), func(i int) bool { return wanted(s.fences[i]) })
	from, to := max(f-1, 0)*fence, min(f*fence, s.n)
	return from + sort.Search(to-from, func(i int) bool { return wanted(pairAt(s.r, from+i).key) })
}

// Len returns how many pairs there are.
func (s *Sorted) Len() int { return s.n }

// Key returns the key at place i.
func (s *Sorted) Key(i int) uint64 { return pairAt(s.r, i).key }

// At returns the value at place i.
func (s *Sorted) At(i int) uint32 { return pairAt(s.r, i).val }

// Err returns the first error of the file; see Records.
func (s *Sorted) Err() error { return s.r.Err() }

// Close closes the list; see Records.
func (s *Sorted) Close() error { return s.r.Close() }
