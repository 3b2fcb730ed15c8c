package early

import (
	"fmt"
	"testing"

	"rpcx/wire"
	"rpcx/wire/testkit"
)

// The list of ended streams is bounded, and the oldest are dropped.
func TestRecent(t *testing.T) {
	var r Recent
	for i := range 3 * maxRecent {
		r.Add(fmt.Sprint(i))
		r.Add("again")
	}
	r.Add(string(make([]byte, maxRecentLength+1)))
	if n := len(r.latest) + len(r.earlier); n < maxRecent/2 || n > maxRecent {
		t.Error(n)
	}
	if !r.Has([]byte("again")) || !r.Has(fmt.Append(nil, 3*maxRecent-1)) || r.Has([]byte("0")) {
		t.Error("the latest streams are forgotten, or the oldest is not")
	}
}

func TestEarlyIsBounded(t *testing.T) {
	var e Items
	m := wire.Message{Stream: wire.ID("1"), Raw: make([]byte, 1000)}
	n := 0
	for ; e.Keep(&m, 10_000); n++ {
	}
	if n < 5 || n > 10 {
		t.Error(n)
	}
	if e.Keep(&wire.Message{Stream: wire.ID("1"), Raw: []byte("{}")}, 10_000) || e.Missing(wire.ID("1")) != 2 || e.Missing(wire.ID("2")) != 0 {
		t.Error("an item after a lost one was stored, or the count is wrong:", e.lost)
	}
	if got := e.Take(wire.ID("1")); len(got) != n || e.size != 0 || len(e.items) != 0 {
		t.Error(len(got), e.size)
	}
}

// The stored items of a stream have no gaps, even if so many streams lose items that some have no count of their own.
func TestKeptItemsHaveNoGaps(t *testing.T) {
	var e Items
	item := func(stream string, size int) *wire.Message {
		return &wire.Message{Stream: wire.ID(stream), Raw: make([]byte, size)}
	}
	const limit = 10_000
	for i := range maxRecent + 1 {
		if e.Keep(item(fmt.Sprint(i), limit), limit) {
			t.Fatal("an item above the limit was stored")
		}
	}
	for _, stream := range []string{"0", fmt.Sprint(maxRecent)} {
		if e.Keep(item(stream, 10), limit) || len(e.Take(wire.ID(stream))) != 0 {
			t.Error("an item after a gap was stored, stream", stream)
		}
	}
}

// Lost items are counted for each of a bounded number of streams. The other streams share one count, and each of them reports a loss.
func TestLostItemsAreCounted(t *testing.T) {
	var e Items
	for i := range maxRecent {
		e.lose(fmt.Sprint(i))
	}
	e.lose("0")
	if got := []int64{e.Missing(wire.ID("0")), e.Missing(wire.ID("1")), e.Missing(wire.ID("other"))}; got[0] != 2 || got[1] != 1 || got[2] != 0 {
		t.Error("counts of single streams:", got)
	}
	e.lose("other")
	e.lose("0")
	e.lose("another")
	if got := []int64{e.Missing(wire.ID("0")), e.Missing(wire.ID("1")), e.Missing(wire.ID("other")), e.Missing(wire.ID("never lost"))}; got[0] != 5 || got[1] != 3 || got[2] != 2 || got[3] != 2 {
		t.Error("shared count:", got)
	}
	testkit.Expect(t, "counts", len(e.lost), maxRecent+1)
	var long Items
	long.lose(string(make([]byte, maxRecentLength)))
	long.lose(string(make([]byte, maxRecentLength+1)))
	if long.Missing(wire.ID(make([]byte, maxRecentLength))) != 2 || long.Missing(wire.ID("x")) != 1 {
		t.Error("long ids:", long.lost)
	}
}
