package player

import (
	"cmp"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"rpcx/wire"
	"rpcx/wire/tape"
	"rpcx/wire/tape/transcript"
)

// An index finds those entries of a track that the other side sent. It does not contain responses. It does not change
// once it is built.
type index struct {
	byHash, byMethod multimap // without handwritten entries
	methods          []string
	hand             []int32 // the handwritten entries

	side  wire.Direction // the local side
	once  sync.Once
	loose atomic.Pointer[loose] // nil until it is needed
}

// A loose index finds entries that equal a message except for times and other varying values.
type loose struct {
	byHash multimap // the key is match.Rules.Loose
	hidden multimap // entries that contain placeholders for secrets, by method
}

// newIndex indexes the messages that side receives.
func newIndex(t *transcript.Track, side wire.Direction) *index {
	x := &index{side: side}
	var hashes, methods multimap
	known := map[uint32]bool{}
	for i := range int32(t.Len()) {
		switch e := t.Entry(i); {
		case e.Own != transcript.None, e.Dir == side:
		case e.Handwritten:
			x.hand = append(x.hand, i)
		default:
			hashes.add(e.Hash, i)
			methods.add(uint64(e.Method), i)
			if !known[e.Method] {
				known[e.Method] = true
				x.methods = append(x.methods, t.Method(int(i)))
			}
		}
	}
	x.byHash, x.byMethod = hashes.sorted(), methods.sorted()
	return x
}

// loosely returns the loose index. It is built at the first call, because only few conversations need it.
func (x *index) loosely(t *transcript.Track) *loose {
	x.once.Do(func() {
		var hashes, hidden multimap
		for i := range int32(t.Len()) {
			e := t.Entry(i)
			if e.Own != transcript.None || e.Dir == x.side || e.Handwritten {
				continue
			}
			if msg, err := t.Message(int(i)); err != nil || e.Redacted {
				hidden.add(uint64(e.Method), i)
			} else {
				hashes.add(t.Of().Rules.Loose(t.Method(int(i)), msg), i)
			}
		}
		x.loose.Store(&loose{hashes.sorted(), hidden.sorted()})
	})
	return x.loose.Load()
}

// candidates are entries of an index that have the same key, in order.
type candidates struct {
	entries []keyed
	from    int   // where they start in the index
	heads   *ints // how many of the first candidates are already used, by from
}

// heads contains the heads of all candidates in a conversation, for each index.
type heads struct{ ofHash, ofMethod, ofLoose, ofHidden ints }

func (c candidates) len() int       { return len(c.entries) }
func (c candidates) at(n int) int32 { return c.entries[n].val }

// equals returns the entries that have this hash.
func (p *play) equals(hash uint64) candidates {
	return p.index.byHash.find(hash, &p.heads.ofHash)
}

// named returns the entries that have this method.
func (p *play) named(method string) candidates {
	number, ok := p.track.Of().Number(method)
	if !ok {
		return candidates{}
	}
	return p.index.byMethod.find(uint64(number), &p.heads.ofMethod)
}

// alike returns the first unused entry, and the last entry, that equal msg except for times and redacted values.
func (p *play) alike(method string, msg []byte) (first, last int32) {
	if p.values.Any() || p.rules.Ignores() || tape.MayBeRedacted(msg) {
		return p.firstOf(p.named(method), msg, true)
	}
	x := p.index.loosely(p.track)
	first, last = p.firstOf(x.byHash.find(p.rules.Loose(method, msg), &p.heads.ofLoose), msg, true)
	if number, ok := p.track.Of().Number(method); ok {
		one, two := p.firstOf(x.hidden.find(uint64(number), &p.heads.ofHidden), msg, true)
		if first == transcript.None || one != transcript.None && one < first {
			first = one
		}
		last = max(last, two)
	}
	return first, last
}

// unused returns the first position in c at which an entry may be unused.
func (p *play) unused(c candidates) int {
	if c.len() == 0 {
		return 0
	}
	known := int(c.heads.get(c.from))
	head := known
	for head < c.len() && p.seen(c.at(head)) > 0 {
		head++
	}
	if head != known {
		c.heads.set(c.from, uint32(head))
	}
	return head
}

// ints is a list of numbers that grows when an element is set. Elements that were never set are 0.
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

// A multimap contains several values for each key. The values for a key are in the order in which they were inserted.
type multimap []keyed

type keyed struct {
	key uint64
	val int32
}

func (m *multimap) add(key uint64, val int32) { *m = append(*m, keyed{key, val}) }

// sorted sorts m by key, which find requires.
func (m multimap) sorted() multimap {
	slices.SortStableFunc(m, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
	return m
}

func (m multimap) find(key uint64, heads *ints) candidates {
	from := sort.Search(len(m), func(i int) bool { return m[i].key >= key })
	n := sort.Search(len(m)-from, func(i int) bool { return m[from+i].key > key })
	return candidates{m[from : from+n], from, heads}
}
