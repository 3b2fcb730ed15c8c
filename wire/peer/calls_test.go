package peer

import (
	"testing"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

func newCall(c *calls, id string) *stream {
	s := newStream(nil, dialect.Op{Kind: dialect.Call, Method: "m"})
	c.add(s, wire.ID(id))
	return s
}

func TestCallsCountWaitingCalls(t *testing.T) {
	c := newCalls()
	one := newStream(nil, dialect.Op{Kind: dialect.Call})
	one.oneAnswer = true
	c.add(one, wire.ID("1"))
	open := newCall(&c, "2")
	if c.waiting != 2 || c.awaiting != 1 || c.onlyOpen() != open || c.count() != 2 {
		t.Fatalf("%d calls wait, %d of them for a stream, %d in total", c.waiting, c.awaiting, c.count())
	}
	c.setWaiting(open, false)
	c.setWaiting(open, false)
	if c.waiting != 1 || c.awaiting != 0 || c.onlyOpen() != nil {
		t.Errorf("%d calls wait, %d of them for a stream", c.waiting, c.awaiting)
	}
	c.remove(one)
	c.remove(open)
	if c.waiting != 0 || c.count() != 0 {
		t.Errorf("%d calls wait, %d in total, after both were removed", c.waiting, c.count())
	}
}

func TestCallsRememberEndedStreams(t *testing.T) {
	c := newCalls()
	s := newCall(&c, "1")
	c.name(s, wire.ID(`"a"`))
	if c.byToken[`"a"`] != s || c.endedStreams.Has([]byte(`"a"`)) {
		t.Fatal("an open stream is not in the table, or counts as ended")
	}
	c.remove(s)
	if c.byToken[`"a"`] != nil || !c.endedStreams.Has([]byte(`"a"`)) {
		t.Error("an ended stream is in the table, or does not count as ended")
	}
}

func TestCallsAbandonIsBounded(t *testing.T) {
	c := newCalls()
	for i := range maxAbandoned + 10 {
		c.abandon(&stream{id: string(rune('A' + i))})
	}
	c.abandon(&stream{}) // never sent, so it has no id
	if len(c.abandoned) != maxAbandoned {
		t.Errorf("%d abandoned calls are stored", len(c.abandoned))
	}
	s := &stream{id: "7"}
	if c.taken(wire.ID("7")) {
		t.Error("an unused id counts as taken")
	}
	if c.abandon(s); !c.taken(wire.ID("7")) {
		t.Error("the id of an abandoned call does not count as taken")
	}
}

func TestCallsKeepEarlyItemsOfPendingCalls(t *testing.T) {
	c := newCalls()
	s := newCall(&c, "1")
	c.early.Keep(&wire.Message{Stream: wire.ID("9"), Raw: []byte("{}")}, 1<<20)
	if items := c.unclaimed(); items != nil {
		t.Fatalf("%d items are unclaimed while a call waits", len(items))
	}
	c.setWaiting(s, false)
	if items := c.unclaimed(); len(items) != 1 {
		t.Errorf("%d items are unclaimed", len(items))
	}
	if items := c.unclaimed(); items != nil {
		t.Errorf("%d items are returned twice", len(items))
	}
}

func TestCallsAnErrorWithoutIDIsTheOnlyWaitingCalls(t *testing.T) {
	c := newCalls()
	if got := c.refused(nil, true); got.call != nil {
		t.Fatal("the error belongs to a call although none is pending")
	}
	s := newCall(&c, "1")
	if got := c.refused(nil, true); got.call != s || got.others() != nil {
		t.Fatal("the error does not belong to the only pending call")
	}
	other := newCall(&c, "2")
	if got := c.refused(nil, true); got.call != nil {
		t.Error("the error belongs to one of two pending calls")
	}
	b := &rawBatch{sent: []*stream{s, other}}
	s.batch, other.batch = b, b
	if got := c.refused(nil, true); len(got.others()) != 1 {
		t.Error("the error does not belong to both calls of the batch")
	}
	if got := c.refused(nil, false); got.call != nil {
		t.Error("an error that is in an array with others belongs to the batch")
	}
}

func TestCallsOverfull(t *testing.T) {
	c := newCalls()
	s := newCall(&c, "1")
	if !c.setOverfull(s, true) || c.setOverfull(s, true) || c.overfull != 1 {
		t.Fatal("setOverfull must report a change once")
	}
	if c.remove(s); c.overfull != 0 {
		t.Error("an ended stream counts as overfull")
	}
}
