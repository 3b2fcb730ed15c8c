package schemes

import (
	"bufio"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// Messages arrive whole and in order, through the code of rpcx and of the library: short and long, in one frame or several, with
// control frames in between, and however the bytes are divided into packets.
func TestWSFramesInAnyPieces(t *testing.T) {
	noLeaks(t)
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 0))
		var want []string
		var sent strings.Builder
		for range 60 {
			msg := strings.Repeat(string(rune('a'+r.IntN(26))), []int{0, 1, 125, 126, 300, 5000, 65535, 65536, 70_000}[r.IntN(9)])
			want = append(want, msg)
			switch r.IntN(4) {
			case 0:
				cut := r.IntN(len(msg) + 1)
				sent.WriteString(frame(firstText, msg[:cut]))
				if r.IntN(2) == 0 {
					sent.WriteString(frame(finPing, "between"))
				}
				sent.WriteString(frame(finMore, msg[cut:]))
			case 1:
				sent.WriteString(frame(finPing, "x"))
				fallthrough
			default:
				sent.WriteString(frame(finText, msg))
			}
		}
		text := sent.String()
		url := rawWS(t, func(c net.Conn, in *bufio.Reader) {
			var pongs sync.WaitGroup
			pongs.Go(func() { io.Copy(io.Discard, in) })
			defer pongs.Wait()
			for len(text) > 0 {
				n := min(len(text), 1+r.IntN([]int{3, 300, 100_000}[r.IntN(3)]))
				if _, err := io.WriteString(c, text[:n]); err != nil {
					return
				}
				text = text[n:]
			}
		})
		c := dialed(t, url, transport.Config{CloseTimeout: 50 * time.Millisecond})
		for i := 0; i < len(want); {
			got, err := c.Recv()
			if err != nil {
				t.Fatalf("seed %d: message %d: %v", seed, i, err)
			}
			read := [][]byte{got}
			if seed%2 == 0 {
				read = c.(wire.Buffered).Buffered(read, len(want))
			}
			for _, got := range read {
				if string(got) != want[i] {
					t.Fatalf("seed %d: message %d of %d bytes: got %d bytes", seed, i, len(want[i]), len(got))
				}
				i++
			}
		}
		c.Close()
	}
}

// The bytes that Recv has returned do not change while Close reads further messages.
func TestWSMessageIsKeptWhileClosing(t *testing.T) {
	noLeaks(t)
	first, rest := strings.Repeat("a", 1000), strings.Repeat(frame(finText, strings.Repeat("b", 1000)), 500)
	url := rawWS(t, func(c net.Conn, in *bufio.Reader) {
		io.WriteString(c, frame(finText, first))
		if code, _, err := readFrame(in); err != nil || code != finClose { // the close frame from rpcx
			return
		}
		io.WriteString(c, rest+frame(finClose, closing(1000, "")))
	})
	c := dialed(t, url, transport.Config{})
	got, err := c.Recv()
	testkit.OK(t, err)
	if more := c.(wire.Buffered).Buffered(nil, 1); len(more) > 0 {
		t.Errorf("a second message is buffered: %.40q…", more)
	}
	c.Close()
	testkit.Expect(t, "the message after Close", string(got), first)
}
