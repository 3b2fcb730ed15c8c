package spill

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// A list that is longer than its memory holds what was set, wherever that is.
func TestRecords(t *testing.T) {
	l := NewInts()
	defer l.Close()
	const n = 200_000
	random := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		l.Set(i, uint32(i))
	}
	for range 20_000 {
		i := random.IntN(n)
		if got := l.Get(i); got != uint32(i) && got != uint32(i)+1 {
			t.Fatalf("%d at %d", got, i)
		}
		l.Set(i, uint32(i)+1)
		if got := l.Get(i); got != uint32(i)+1 {
			t.Fatalf("%d at %d", got, i)
		}
	}
	if l.r.file == nil || len(l.r.pages) > keepPages || l.Err() != nil {
		t.Errorf("%d pages, %v", len(l.r.pages), l.Err())
	}
	if got := l.Get(10 * n); got != 0 {
		t.Errorf("%d where nothing was set", got)
	}
}

// A short list has no file, and takes little.
func TestShort(t *testing.T) {
	l := NewInts()
	l.Set(3, 7)
	if l.Get(3) != 7 || l.Get(2) != 0 || l.Get(4) != 0 || l.r.file != nil || cap(l.r.pages[0].data) > 100 {
		t.Errorf("%v", l.r)
	}
}

// The file has no name while it is used.
func TestNoName(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that is open keeps its name")
	}
	t.Setenv("TMPDIR", t.TempDir())
	l := NewInts()
	for i := range 200_000 {
		l.Set(i, 1)
	}
	if left, err := os.ReadDir(os.TempDir()); len(left) > 0 || err != nil || l.r.file == nil {
		t.Errorf("%v, %v", left, err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// Where no file can be made there is an error, and no panic.
func TestNowhere(t *testing.T) {
	t.Setenv("TMPDIR", "/none")
	t.Setenv("TMP", `N:\none`)
	l := NewInts()
	for i := range 200_000 {
		l.Set(i, 1)
	}
	if l.Err() == nil {
		t.Error("no error")
	}
	s := &Sorter{}
	for i := range 200_000 {
		s.Add(uint64(i), 1)
	}
	if sorted := s.Sorted(); sorted.Err() == nil {
		t.Error("no error of pairs")
	}
}

func TestSorted(t *testing.T) {
	for _, n := range []int{0, 1, 1000, runPairs, runPairs + 5} {
		random := rand.New(rand.NewPCG(1, uint64(n)))
		s, want := &Sorter{}, map[uint64][]uint32{}
		for i := range n {
			key := random.Uint64N(1000) << 40
			s.Add(key, uint32(i))
			want[key] = append(want[key], uint32(i))
		}
		sorted := s.Sorted()
		for key := range uint64(1001) {
			from, to := sorted.Range(key << 40)
			var got []uint32
			for i := from; i < to; i++ {
				got = append(got, sorted.At(i))
			}
			if !slices.Equal(got, want[key<<40]) {
				t.Fatalf("%d of %d: %d values, not %d", key, n, len(got), len(want[key<<40]))
			}
		}
		if sorted.Err() != nil {
			t.Error(sorted.Err())
		}
		_ = sorted.Close()
	}
}

// What comes in falling order is sorted, too: of the pieces the first begins with what comes last.
func TestSortedFalling(t *testing.T) {
	s := &Sorter{}
	for i := range 3 * runPairs {
		s.Add(uint64(3*runPairs-i), uint32(i))
	}
	sorted := s.Sorted()
	defer sorted.Close()
	for _, key := range []int{1, 2, runPairs, runPairs + 1, 2*runPairs + 1, 3 * runPairs} {
		from, to := sorted.Range(uint64(key))
		if to != from+1 || from != key-1 || sorted.At(from) != uint32(3*runPairs-key) {
			t.Errorf("%d stands at %d to %d", key, from, to)
		}
	}
	if sorted.Err() != nil {
		t.Error(sorted.Err())
	}
}

func TestMap(t *testing.T) {
	m := &Map{}
	defer m.Close()
	const n = 4*mapKeys + 3
	for i := range uint64(n) {
		m.Set(i<<30, uint32(i))
		if i%1000 == 0 {
			m.Set(i/2<<30, uint32(i)+1)
		}
	}
	for i := range uint64(n) {
		want := uint32(i)
		if i*2%1000 == 0 && i*2 < n {
			want = uint32(i*2) + 1
		}
		if got, ok := m.Get(i << 30); !ok || got != want {
			t.Fatalf("%d: %d, not %d", i, got, want)
		}
	}
	if _, ok := m.Get(5); ok || m.Err() != nil || len(m.recent) > mapKeys {
		t.Error(m.Err())
	}
}

func TestTexts(t *testing.T) {
	m := &Texts{}
	defer m.Close()
	const n = 30_000
	for i := range n {
		m.Set(fmt.Sprintf("%q", fmt.Sprint("key ", i)), fmt.Sprint("value ", i))
	}
	m.Set(`"key 7"`, "another")
	for i := range n {
		want := fmt.Sprint("value ", i)
		if i == 7 {
			want = "another"
		}
		if got, ok := m.Get(fmt.Appendf(nil, "%q", fmt.Sprint("key ", i))); !ok || got != want {
			t.Fatalf("%d: %s", i, got)
		}
	}
	if got, ok := m.Get([]byte("none")); ok || m.Err() != nil || m.file == nil {
		t.Error(got, m.Err())
	}
}

// What was added is there, in the file or not yet.
func TestBlobs(t *testing.T) {
	var l Blobs
	text := func(i int) string { return strings.Repeat(fmt.Sprint(i, " "), i%50) }
	for i := range 20_000 {
		if n := l.Add([]byte(text(i))); n != i {
			t.Fatalf("%d is number %d", i, n)
		}
	}
	l.Add(bytes.Repeat([]byte("x"), 1<<20))
	for _, i := range []int{0, 1, 49, 50, 9_999, 19_999} {
		if got := string(l.Get(i)); got != text(i) {
			t.Errorf("%d: %q", i, got)
		}
	}
	if l.Len() != 20_001 || len(l.Get(20_000)) != 1<<20 || l.Err() != nil {
		t.Errorf("%d, %v", l.Len(), l.Err())
	}
	if err := l.Close(); err != nil || l.Len() != 0 {
		t.Error(err, l.Len())
	}
}
