package mailbox

import (
	"testing"

	"rpcx/wire"
)

// The queue drops its oldest chunks, no more than necessary, and never the newest.
func TestQueueSheds(t *testing.T) {
	const each = 40 << 10 // two do not fit in one chunk
	full := func() *queue {
		q := &queue{}
		for i := range 3 {
			q.Put(&wire.Message{Method: string(rune('a' + i)), Raw: make([]byte, each)})
		}
		return q
	}
	for _, c := range []struct {
		most  int
		lost  int64
		first string
	}{{3 * (each + Overhead), 0, "a"}, {3*(each+Overhead) - 1, 1, "b"}, {2 * (each + Overhead), 1, "b"}, {each + Overhead, 2, "c"}, {0, 2, "c"}} {
		q := full()
		if lost := q.shed(c.most); lost != c.lost || q.first.msgs[0].Method != c.first || q.size != int(3-lost)*(each+Overhead) {
			t.Errorf("shed(%d): lost %d, the first message is %s, %d bytes remain", c.most, lost, q.first.msgs[0].Method, q.size)
		}
	}
	if lost := (&queue{}).shed(0); lost != 0 {
		t.Errorf("an empty queue lost %d messages", lost)
	}
}
