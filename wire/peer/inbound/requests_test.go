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
		t.Fatalf("%d requests with %d bytes, want 2 with 30 that are full and have a handler", f.Len(), f.bytes)
	}
	f.Finish(a)
	if f.Full(1) || !f.Idle() {
		t.Error("full with one of two requests, or not idle")
	}
	f.Untake(b)
	if f.Untake(b); f.Len() != 0 || f.bytes != 0 || len(f.Taken()) != 0 {
		t.Errorf("%d requests with %d bytes after the last was untaken twice", f.Len(), f.bytes)
	}
}

func TestRequestsAreUnansweredOnce(t *testing.T) {
	f := NewRequests(10)
	a, b := arrive(&f, "1", 1), arrive(&f, "2", 1)
	if !f.Answered(a) || f.Answered(a) || !f.Unanswered() {
		t.Fatal("Answered(a) must succeed once, and b must remain unanswered")
	}
	if !f.Answered(New(&wire.Message{Kind: wire.Invalid}, nil)) || !f.Unanswered() {
		t.Error("an invalid message counts as a request")
	}
	if f.Answered(b); f.Unanswered() {
		t.Error("a request remains unanswered after both were answered")
	}
}

func TestRequestsLimitBytes(t *testing.T) {
	f := NewRequests(10)
	if f.Full(mostBytes + 1) {
		t.Fatal("the first request is refused because of its size")
	}
	f.Start(arrive(&f, "1", mostBytes))
	if !f.Full(1) || !f.Crowded() {
		t.Error("a second request is accepted above the limit of bytes")
	}
}

func TestRequestsOldestOfOneID(t *testing.T) {
	f := NewRequests(10)
	a, b, c := arrive(&f, "1", 1), arrive(&f, "1", 1), arrive(&f, "2", 1)
	for _, r := range []*Request{a, b, c} {
		f.Take(r)
	}
	if got := f.Taken(wire.ID("1")); len(got) != 2 || got[0] != a {
		t.Fatal("Taken does not return the oldest request with the id first")
	}
	if f.Untake(a); f.Taken(wire.ID("1"))[0] != b || f.Taken(wire.ID("3")) != nil {
		t.Fatal("Taken does not return the second request with the id after Untake")
	}
	if got := f.Taken(); len(got) != 2 || got[0] != b || got[1] != c {
		t.Errorf("%d requests are taken, or their order is wrong", len(got))
	}
	if f.Crowded() {
		t.Error("crowded, although the reader may receive responses to requests")
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
		t.Errorf("%d handlers were cancelled, want 2", ended)
	}
	if f.EndAll(); ended != 5 {
		t.Errorf("%d handlers were cancelled, want 5", ended)
	}
	if !f.End(wire.ID("queued")) || !f.Next().Cancelled {
		t.Error("a queued request was not cancelled")
	}
}

// At most 65,536 requests from arrays are queued. More are refused.
func TestRequestsQueueIsBounded(t *testing.T) {
	f := NewRequests(10)
	r := arrive(&f, "1", 1)
	for n := range 1 << 16 {
		if !f.Later(r) {
			t.Fatal(n, "requests are queued, and the next is refused")
		}
	}
	if f.Later(r) {
		t.Error("a request above the limit is queued")
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
		t.Fatalf("the array is sent, or is not waiting, or has %d bytes, before its last response", a.Bytes())
	}
	a.Put(first, []byte("first"))
	if replies, ok := a.Send(); !ok || len(replies) != 2 || string(replies[0]) != "first" || string(replies[1]) != "last" {
		t.Errorf("sent %q", replies)
	}
	if _, ok := a.Send(); ok || a.Waiting() || a.Bytes() != 0 {
		t.Error("the array is sent twice")
	}
}
