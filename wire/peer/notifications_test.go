package peer

import (
	"strconv"
	"testing"

	"rpcx/wire"
)

func TestNotificationsKeepTheirOrderAndTheNewest(t *testing.T) {
	var n notifications
	told := 0
	for i := range maxUnreadable + 5 {
		if n.put(&wire.Message{Method: strconv.Itoa(i), Raw: []byte("{}")}, uint64(i)) {
			told++
		}
		if full := i+1 >= maxQueued; n.full() != full {
			t.Fatalf("with %d it says full: %v", i+1, !full)
		}
	}
	if told != 1 || n.lost != 5 || len(n.queue) != maxUnreadable || n.bytes != 2*maxUnreadable {
		t.Fatalf("%d were lost, %d of %d bytes are kept", n.lost, len(n.queue), n.bytes)
	}
	for i := 5; i < 8; i++ {
		if in := n.next(); in.Msg.Method != strconv.Itoa(i) || in.Order != uint64(i) {
			t.Fatalf("%s comes in place of %d", in.Msg.Method, i)
		}
	}
}

func TestNotificationsKeepOneHowLargeItIs(t *testing.T) {
	var n notifications
	big := &wire.Message{Raw: make([]byte, maxUnreadableBytes+1)}
	if n.put(big, 1) || n.lost != 0 || !n.full() {
		t.Errorf("the only one was lost, or does not fill")
	}
	if !n.put(&wire.Message{Method: "next", Raw: []byte("{}")}, 2) || n.lost != 1 || n.next().Msg.Method != "next" || n.bytes != 0 {
		t.Errorf("%d were lost, %d bytes are left", n.lost, n.bytes)
	}
	n.running = true
	if n.stop(); n.running || n.queue != nil {
		t.Error("it is not stopped")
	}
}
