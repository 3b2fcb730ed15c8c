package inbound

import (
	"testing"

	"rpcx/wire"
)

func arrive(t *Requests, id string, size int) *Request {
	r := t.Arrive(&wire.Message{Kind: wire.Request, ID: wire.ID(id), Raw: make([]byte, size)}, nil)
	r.Cancel = func() {}
	return r
}

func TestRequestsAreCounted(t *testing.T) {
	f := NewRequests(2)
	a, b := arrive(&f, "1", 10), arrive(&f, "2", 20)
	f.Start(a)
	f.Take(b)
	if f.Len() != 2 || f.bytes != 30 || !f.Full(1) || f.Idle() {
		t.Fatalf("%d requests of %d bytes", f.Len(), f.bytes)
	}
	f.Finish(a)
	if f.Full(1) || !f.Idle() {
		t.Error("one of two fills it, or has a handler")
	}
	if !f.Untake(b) || f.Untake(b) || f.Len() != 0 || f.bytes != 0 || len(f.Taken()) != 0 {
		t.Errorf("%d requests of %d bytes are left", f.Len(), f.bytes)
	}
}

func TestRequestsAreUnansweredOnce(t *testing.T) {
	f := NewRequests(10)
	a, b := arrive(&f, "1", 1), arrive(&f, "2", 1)
	if !f.Answered(a) || f.Answered(a) || !f.Unanswered() {
		t.Fatal("one is answered twice, or both are")
	}
	if !f.Answered(New(&wire.Message{Kind: wire.Invalid}, nil)) || !f.Unanswered() {
		t.Error("what is not a request counts as one")
	}
	if f.Answered(b); f.Unanswered() {
		t.Error("both are answered, and one is not")
	}
}

func TestRequestsLimitBytes(t *testing.T) {
	f := NewRequests(10)
	if f.Full(mostBytes + 1) {
		t.Fatal("the first request is too large")
	}
	f.Start(arrive(&f, "1", mostBytes))
	if !f.Full(1) || !f.Crowded() {
		t.Error("a further one is not")
	}
}

func TestRequestsOldestOfOneID(t *testing.T) {
	f := NewRequests(10)
	a, b, c := arrive(&f, "1", 1), arrive(&f, "1", 1), arrive(&f, "2", 1)
	for _, r := range []*Request{a, b, c} {
		f.Take(r)
	}
	if got := f.Taken(wire.ID("1")); len(got) != 2 || got[0] != a {
		t.Fatal("the oldest is not first")
	}
	if f.Untake(a); f.Taken(wire.ID("1"))[0] != b || f.Taken(wire.ID("3")) != nil {
		t.Fatal("the next is not its successor")
	}
	if got := f.Taken(); len(got) != 2 || got[0] != b || got[1] != c {
		t.Errorf("%d are taken in all", len(got))
	}
	if f.Crowded() {
		t.Error("the reader stops although what it reads may answer a request")
	}
}

func TestRequestsEndByID(t *testing.T) {
	f := NewRequests(10)
	ended := 0
	for _, id := range []string{"1", "1", "2", "taken", "queued"} {
		r := arrive(&f, id, 1)
		r.Cancel = func() { ended++ }
		switch id {
		case "taken":
			f.Take(r)
		case "queued":
			f.Later(r)
		default:
			f.Start(r)
		}
	}
	if !f.End(wire.ID("1")) || ended != 2 || f.End(wire.ID("9")) || f.End(wire.ID("taken")) {
		t.Errorf("%d handlers were ended", ended)
	}
	if f.EndAll(); ended != 5 {
		t.Errorf("%d handlers were ended in all", ended)
	}
	if !f.End(wire.ID("queued")) || !f.Next().Cancelled {
		t.Error("a request that waits was not ended")
	}
}

// At most 65,536 requests from arrays are queued. More are refused.
func TestRequestsQueueIsBounded(t *testing.T) {
	f := NewRequests(10)
	r := arrive(&f, "1", 1)
	for n := range 1 << 16 {
		if !f.Later(r) {
			t.Fatal(n, "wait, and no more")
		}
	}
	if f.Later(r) {
		t.Error("one more than may be waits")
	}
}

func TestArrayIsSentWhenAllIsThere(t *testing.T) {
	a := &Array{}
	m := &wire.Message{Kind: wire.Request}
	first, none, last := New(m, a), New(m, a), New(m, a)
	a.Put(last, []byte("last"))
	a.Put(none, nil)
	a.Complete()
	if _, ok := a.Send(); ok || !a.Waiting() || a.Bytes() != 4 {
		t.Fatalf("it is sent with %d bytes before all is there", a.Bytes())
	}
	a.Put(first, []byte("first"))
	if replies, ok := a.Send(); !ok || len(replies) != 2 || string(replies[0]) != "first" || string(replies[1]) != "last" {
		t.Errorf("%q are sent", replies)
	}
	if _, ok := a.Send(); ok || a.Waiting() || a.Bytes() != 0 {
		t.Error("it is sent twice")
	}
}
