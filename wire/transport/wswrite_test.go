package transport

import (
	"bufio"
	"net"
	"strings"
	"testing"
)

// What a client sends is one masked frame a message, of whatever length: its own, and the
// library's.
func TestWSSendsFramesOfAnyLength(t *testing.T) {
	noLeaks(t)
	sizes := []int{0, 1, 7, 8, 9, 125, 126, 127, 1000, ownFrame, ownFrame + 1, 1<<16 - 1, 1 << 16, 200_000}
	got := make(chan string, len(sizes)+1)
	url := rawWS(t, func(_ net.Conn, in *bufio.Reader) {
		for range sizes {
			head, err := in.Peek(2)
			if err != nil || head[1]&0x80 == 0 {
				got <- "a frame without a mask"
				return
			}
			first, payload, err := readFrame(in)
			if err != nil || first != wholeText {
				got <- "no message of one frame"
				return
			}
			got <- string(payload)
		}
		code, _, _ := readFrame(in)
		got <- string(rune(code))
	})
	c := mustDial(t, url, Config{})
	for i, n := range sizes {
		if err := c.Send([]byte(strings.Repeat(string(rune('a'+i)), n))); err != nil {
			t.Fatal(err)
		}
	}
	for i, n := range sizes {
		if msg := <-got; msg != strings.Repeat(string(rune('a'+i)), n) {
			t.Errorf("a message of %d bytes came as %d: %.40q", n, len(msg), msg)
		}
	}
	c.Close()
	if code := <-got; code != string(rune(wholeClose)) {
		t.Errorf("then came %q", code)
	}
	if err := c.Send([]byte("late")); err == nil {
		t.Error("a message was sent after the goodbye")
	}
}
