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
		t.Fatalf("%d wait, %d of them for a stream, %d in all", c.waiting, c.awaiting, c.count())
	}
	c.setWaiting(open, false)
	c.setWaiting(open, false)
	if c.waiting != 1 || c.awaiting != 0 || c.onlyOpen() != nil {
		t.Errorf("%d wait, %d of them for a stream", c.waiting, c.awaiting)
	}
	c.remove(one)
	c.remove(open)
	if c.waiting != 0 || c.count() != 0 {
		t.Errorf("%d wait, %d in all, of none", c.waiting, c.count())
	}
}

func TestCallsRememberEndedStreams(t *testing.T) {
	c := newCalls()
	s := newCall(&c, "1")
	c.name(s, wire.ID(`"a"`))
	if c.byToken[`"a"`] != s || c.endedStreams.Has([]byte(`"a"`)) {
		t.Fatal("a stream that is open is not known, or is known as ended")
	}
	c.remove(s)
	if c.byToken[`"a"`] != nil || !c.endedStreams.Has([]byte(`"a"`)) {
		t.Error("a stream that has ended is known as open, or not as ended")
	}
}

func TestCallsAbandonIsBounded(t *testing.T) {
	c := newCalls()
	for i := range maxAbandoned + 10 {
		c.abandon(&stream{id: string(rune('A' + i))})
	}
	c.abandon(&stream{}) // never sent, so it has no id
	if len(c.abandoned) != maxAbandoned {
		t.Errorf("%d abandoned calls are kept", len(c.abandoned))
	}
	s := &stream{id: "7"}
	if c.taken(wire.ID("7")) {
		t.Error("an id is taken that nothing has")
	}
	if c.abandon(s); !c.taken(wire.ID("7")) {
		t.Error("the id of an abandoned call is free")
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
		t.Errorf("%d items are unclaimed twice", len(items))
	}
}

func TestCallsAnErrorWithoutIDIsTheOnlyWaitingCalls(t *testing.T) {
	c := newCalls()
	if got := c.refused(nil, true); got.call != nil {
		t.Fatal("it belongs to a call, of none")
	}
	s := newCall(&c, "1")
	if got := c.refused(nil, true); got.call != s || got.others() != nil {
		t.Fatal("it does not belong to the only call")
	}
	other := newCall(&c, "2")
	if got := c.refused(nil, true); got.call != nil {
		t.Error("it belongs to one of two")
	}
	b := &rawBatch{sent: []*stream{s, other}}
	s.batch, other.batch = b, b
	if got := c.refused(nil, true); len(got.others()) != 1 {
		t.Error("it does not belong to the batch")
	}
	if got := c.refused(nil, false); got.call != nil {
		t.Error("an error among others belongs to the batch")
	}
}

func TestCallsOverfull(t *testing.T) {
	c := newCalls()
	s := newCall(&c, "1")
	if !c.setOverfull(s, true) || c.setOverfull(s, true) || c.overfull != 1 {
		t.Fatal("a stream is overfull twice, or not at all")
	}
	if c.remove(s); c.overfull != 0 {
		t.Error("a stream that has ended is overfull")
	}
}
