package inbound

import (
	"strconv"
	"testing"

	"rpcx/wire"
)

func TestNotificationsKeepTheirOrderAndTheNewest(t *testing.T) {
	var n Notifications
	told := 0
	for i := range maxUnreadable + 5 {
		n.Put(&wire.Message{Method: strconv.Itoa(i), Raw: []byte("{}")}, uint64(i))
		if n.Trim() {
			told++
		}
		if full := i+1 >= maxQueued; n.Full() != full {
			t.Fatalf("Full with %d notifications: %v", i+1, !full)
		}
	}
	if told != 1 || n.Lost != 5 || len(n.queue) != maxUnreadable || n.bytes != 2*maxUnreadable {
		t.Fatalf("%d lost, %d queued with %d bytes", n.Lost, len(n.queue), n.bytes)
	}
	for i := 5; i < 8; i++ {
		if in := n.Next(); in.Msg.Method != strconv.Itoa(i) || in.Order != uint64(i) {
			t.Fatalf("got notification %s, want %d", in.Msg.Method, i)
		}
	}
}

func TestNotificationsKeepOneOfAnySize(t *testing.T) {
	var n Notifications
	big := &wire.Message{Raw: make([]byte, maxUnreadableBytes+1)}
	if n.Put(big, 1); n.Trim() || n.Lost != 0 || !n.Full() {
		t.Errorf("the only notification was lost, or the queue is not full")
	}
	if n.Put(&wire.Message{Method: "next", Raw: []byte("{}")}, 2); !n.Trim() || n.Lost != 1 || n.Next().Msg.Method != "next" || n.bytes != 0 {
		t.Errorf("%d lost, %d bytes remain", n.Lost, n.bytes)
	}
	n.Running = true
	if n.Stop(); n.Running || n.queue != nil {
		t.Error("the queue did not stop")
	}
}
