package peer

import (
	"testing"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// What is shed is the oldest, by whole chunks, no more than is needed, and never the newest.
func TestQueueSheds(t *testing.T) {
	const each = 40 << 10 // one in a chunk: two have no room in it
	full := func() *queue {
		q := &queue{}
		for i := range 3 {
			q.push(&wire.Message{Method: string(rune('a' + i)), Raw: make([]byte, each)})
		}
		return q
	}
	for _, c := range []struct {
		most  int
		lost  int64
		first string
	}{{3 * (each + overhead), 0, "a"}, {3*(each+overhead) - 1, 1, "b"}, {2 * (each + overhead), 1, "b"}, {each + overhead, 2, "c"}, {0, 2, "c"}} {
		q := full()
		if lost := q.shed(c.most); lost != c.lost || q.first.msgs[0].Method != c.first || q.size != int(3-lost)*(each+overhead) {
			t.Errorf("to %d bytes: %d are lost, %s is the first of %d bytes", c.most, lost, q.first.msgs[0].Method, q.size)
		}
	}
	if lost := (&queue{}).shed(0); lost != 0 {
		t.Errorf("%d of none are lost", lost)
	}
}

// A stream that the reader cannot stop for may queue one message more than it should.
func TestOverflow(t *testing.T) {
	for size, left := range map[int]bool{1001: false, 1500: false, 1501: true} {
		p := &Peer{o: Options{StreamBuffer: 1000, MaxMessage: 500}, calls: newCalls()}
		s := newStream(p, dialect.Op{Kind: dialect.Watch})
		p.calls.add(s, nil)
		s.size = size
		p.overflowLocked(s)
		if f := wire.AsFault(s.err); (f != nil && f.Kind == wire.IO) != left || s.overfull == left {
			t.Errorf("with %d bytes: %v, overfull %v", size, s.err, s.overfull)
		}
	}
}
