package player

import (
	"cmp"
	"slices"
	"sort"
	"sync"

	"rpcx/wire"
	"rpcx/wire/redact"
	"rpcx/wire/tape/transcript"
)

// An index finds those entries of a track that the other side sent. It does not contain responses. It does not change
// once it is built.
type index struct {
	entries multimap // by hash and by method, without handwritten entries
	methods []string
	hand    []int32 // the handwritten entries

	// loose finds entries that equal a message except for times and other varying values (see looseKey), and entries that contain
	// placeholders for secrets (see hiddenKey). It is built at the first call, because only few conversations need it.
	loose func() multimap
}

// The keys of entries in an index: of all with a method, of all with a match.Rules.Loose hash, and of all with placeholders and a
// method. These are unlikely to equal each other or a match.Rules.Hash.
func methodKey(method uint32) uint64 { return uint64(method) }
func hiddenKey(method uint32) uint64 { return uint64(method) | 1<<63 }
func looseKey(hash uint64) uint64    { return ^hash }

// newIndex indexes the messages that side receives.
func newIndex(t *transcript.Track, side wire.Direction) *index {
	x := &index{loose: sync.OnceValue(func() multimap { return looseIndex(t, side) })}
	known := map[uint32]bool{}
	for i := range int32(t.Len()) {
		switch e := t.Entry(i); {
		case e.Own != transcript.None, e.Dir == side:
		case e.Handwritten:
			x.hand = append(x.hand, i)
		default:
			x.entries = append(x.entries, keyed{e.Hash, i}, keyed{methodKey(e.Method), i})
			if !known[e.Method] {
				known[e.Method] = true
				x.methods = append(x.methods, t.Method(int(i)))
			}
		}
	}
	x.entries.sort()
	return x
}

func looseIndex(t *transcript.Track, side wire.Direction) (x multimap) {
	for i := range int32(t.Len()) {
		e := t.Entry(i)
		if e.Own != transcript.None || e.Dir == side || e.Handwritten {
			continue
		}
		key := hiddenKey(e.Method)
		if msg, err := t.Message(int(i)); err == nil && !e.Redacted {
			key = looseKey(t.Of().Rules.Loose(t.Method(int(i)), msg))
		}
		x = append(x, keyed{key, i})
	}
	x.sort()
	return x
}

// named returns the entries that have this method.
func (p *play) named(method string) multimap {
	if number, ok := p.track.Of().Number(method); ok {
		return p.index.entries.find(methodKey(number))
	}
	return nil
}

// alike returns the first unused entry, and the last entry, that equal msg except for times and redacted values.
func (p *play) alike(method string, msg []byte) (first, last int32) {
	if p.values.Any() || p.rules.Ignores() || redact.MayHaveMark(msg) {
		return p.firstOf(p.named(method), msg, true)
	}
	x := p.index.loose()
	first, last = p.firstOf(x.find(looseKey(p.rules.Loose(method, msg))), msg, true)
	if number, ok := p.track.Of().Number(method); ok {
		one, two := p.firstOf(x.find(hiddenKey(number)), msg, true)
		if first == transcript.None || one != transcript.None && one < first {
			first = one
		}
		last = max(last, two)
	}
	return first, last
}

// farHead is how many used entries are passed before their number is remembered.
const farHead = 8

// unused returns the first position in c at which an entry may be unused. c has one key, see find.
func (p *play) unused(c multimap) int {
	if len(c) == 0 {
		return 0
	}
	head := p.heads[c[0].key]
	known := head
	for head < len(c) && p.seen(c[head].val) > 0 {
		head++
	}
	if head > max(known, farHead) {
		p.heads[c[0].key] = head
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

// sort sorts m by key, which find requires.
func (m multimap) sort() {
	slices.SortStableFunc(m, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
}

// find returns the entries of m with this key, in their order.
func (m multimap) find(key uint64) multimap {
	from := sort.Search(len(m), func(i int) bool { return m[i].key >= key })
	n := sort.Search(len(m)-from, func(i int) bool { return m[from+i].key > key })
	return m[from : from+n]
}
