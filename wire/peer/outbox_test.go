package peer

import "testing"

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
