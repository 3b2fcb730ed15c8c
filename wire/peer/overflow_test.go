package peer

import (
	"testing"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/peer/mailbox"
)

// A stream that the reader cannot stop for may queue one message more than it should.
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
