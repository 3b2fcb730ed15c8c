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
		t.Fatal("not exactly one writer is started")
	}
	batch := b.take()
	if len(batch) != 2 || string(batch[1].msg) != "22" || b.bytes != 3 {
		t.Fatalf("%d messages are taken, %d bytes count", len(batch), b.bytes)
	}
	b.put(outgoing{msg: []byte("333")})
	opens := b.room.Wait()
	b.written(batch, 3)
	select {
	case <-opens:
	default:
		t.Error("nobody is told that there is room")
	}
	if b.bytes != 3 || batch[0].msg != nil {
		t.Errorf("%d bytes count, and the written ones are kept", b.bytes)
	}
}

func TestOutboxIsFull(t *testing.T) {
	var b outbox
	b.put(outgoing{msg: make([]byte, roomBytes)})
	if b.full() {
		t.Fatal("it is full at its limit")
	}
	b.put(outgoing{msg: make([]byte, 1)})
	if !b.full() {
		t.Fatal("it is not full beyond its limit")
	}
	b.written(b.take(), roomBytes+1)
	if b.full() {
		t.Error("it is full when all is written")
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
			t.Errorf("with %d bytes: %v, overfull %v", size, s.box.Err(), s.overfull)
		}
	}
}
