package peer

import (
	"testing"

	"rpcx/wire"
)

func newInbound(id string, size int) *inbound {
	in := &inbound{cancel: func() {}}
	in.Msg = wire.Message{Kind: wire.Request, ID: wire.ID(id), Raw: make([]byte, size)}
	return in
}

func TestInflightCounts(t *testing.T) {
	f := newInflight()
	a, b := newInbound("1", 10), newInbound("2", 20)
	f.start(a)
	f.take(b)
	if f.count != 2 || f.bytes != 30 || !f.full(1, 2) || f.full(1, 3) {
		t.Fatalf("%d requests of %d bytes", f.count, f.bytes)
	}
	f.finish(a)
	if !f.untake(b) || f.untake(b) || f.count != 0 || f.bytes != 0 || len(f.taken) != 0 {
		t.Errorf("%d requests of %d bytes are left", f.count, f.bytes)
	}
}

func TestInflightLimitsBytes(t *testing.T) {
	f := newInflight()
	if f.full(heldBytes+1, 10) {
		t.Fatal("the first request is too large")
	}
	f.start(newInbound("1", heldBytes))
	if !f.full(1, 10) {
		t.Error("a further one is not")
	}
}

func TestInflightOldestOfOneID(t *testing.T) {
	f := newInflight()
	a, b, c := newInbound("1", 1), newInbound("1", 1), newInbound("2", 1)
	for _, in := range []*inbound{a, b, c} {
		f.take(in)
	}
	if f.oldest(wire.ID("1")) != a {
		t.Fatal("the oldest is not first")
	}
	if f.untake(a); f.oldest(wire.ID("1")) != b || f.oldest(wire.ID("3")) != nil {
		t.Fatal("the next is not its successor")
	}
	if got := f.untakeAll([]wire.ID{wire.ID("1")}); len(got) != 1 || got[0] != b || f.count != 1 {
		t.Errorf("%d were taken back by id, %d are left", len(got), f.count)
	}
	if got := f.untakeAll(nil); len(got) != 1 || got[0] != c || f.count != 0 {
		t.Errorf("%d were taken back, %d are left", len(got), f.count)
	}
}

func TestInflightCancelsByID(t *testing.T) {
	f := newInflight()
	ended := 0
	for _, id := range []string{"1", "1", "2"} {
		in := newInbound(id, 1)
		in.cancel = func() { ended++ }
		f.start(in)
	}
	if !f.cancel(wire.ID("1")) || ended != 2 || f.cancel(wire.ID("9")) {
		t.Errorf("%d handlers were ended", ended)
	}
	if f.cancelAll(); ended != 5 {
		t.Errorf("%d handlers were ended in all", ended)
	}
}

// Of requests that came in batches 65,536 wait for room; a further one is refused.
func TestInflightQueueIsBounded(t *testing.T) {
	f := newInflight()
	in := newInbound("1", 1)
	for n := range 1 << 16 {
		if !f.later(in) {
			t.Fatal(n, "wait, and no more")
		}
	}
	if f.later(in) {
		t.Error("one more than may be waits")
	}
}
