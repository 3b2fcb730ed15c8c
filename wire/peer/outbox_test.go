package peer

import (
	"testing"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/peer/mailbox"
)

func TestOutboxStartsOneWriter(t *testing.T) {
	var b outbox
	if !b.put(outgoing{msg: []byte("1")}) || b.put(outgoing{msg: []byte("22")}) {
		t.Fatal("the first message must start a writer, and the second must not")
	}
	batch := b.take()
	if len(batch) != 2 || string(batch[1].msg) != "22" || b.bytes != 3 {
		t.Fatalf("took %d messages, %d bytes in the outbox; want 2 and 3", len(batch), b.bytes)
	}
	b.put(outgoing{msg: []byte("333")})
	opens := b.room.Wait()
	b.written(batch, 3)
	select {
	case <-opens:
	default:
		t.Error("no signal after the outbox has room")
	}
	if b.bytes != 3 || batch[0].msg != nil {
		t.Errorf("%d bytes in the outbox, want 3; or it still has the written messages", b.bytes)
	}
}

func TestOutboxIsFull(t *testing.T) {
	var b outbox
	b.put(outgoing{msg: make([]byte, roomBytes)})
	if b.full() {
		t.Fatal("full at the limit")
	}
	b.put(outgoing{msg: make([]byte, 1)})
	if !b.full() {
		t.Fatal("not full above the limit")
	}
	b.written(b.take(), roomBytes+1)
	if b.full() {
		t.Error("full after all messages were written")
	}
}

// A request that the pipeline leaves to the outbox belongs to its call, if that is a stream.
func TestOutboxOfThePipeline(t *testing.T) {
	p := &Peer{calls: newCalls()}
	p.outbox.running = true // no writer starts
	s := newStream(p, dialect.Op{Kind: dialect.Call})
	p.calls.add(s, wire.ID("12"))
	l := &callPipeline{p: p, calls: &p.calls, box: &p.outbox, out: []byte("abbb"), ends: []int{1, 4}, ids: []int64{11, 12}}
	l.queueLocked()
	got := p.outbox.take()
	if len(got) != 2 || string(got[0].msg) != "a" || got[0].call != nil || string(got[1].msg) != "bbb" || got[1].call != s {
		t.Errorf("%+v", got)
	}
}

// A stream for which the reader cannot stop may exceed its limit by one message.
func TestOverflow(t *testing.T) {
	for size, left := range map[int]bool{1001: false, 1500: false, 1501: true} {
		p := &Peer{o: Options{StreamBuffer: 1000, MaxMessage: 500}, calls: newCalls()}
		s := newStream(p, dialect.Op{Kind: dialect.Watch})
		p.calls.add(s, nil)
		s.box.Put(&wire.Message{Raw: make([]byte, size-mailbox.Overhead)})
		p.overflowLocked(s)
		if f := wire.AsFault(s.box.Err()); (f != nil && f.Kind == wire.IO) != left || s.overfull == left {
			t.Errorf("%d bytes: error %v, overfull %v", size, s.box.Err(), s.overfull)
		}
	}
}
