package schemes

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// A client sends each message, of any length, as one masked frame, through the code of rpcx or of the library, alone or with others.
func TestWSSendsFramesOfAnyLength(t *testing.T) {
	for name, send := range map[string]func(c wire.Conn, messages []string) error{
		"each message alone": func(c wire.Conn, messages []string) error {
			for _, m := range messages {
				if err := c.Send([]byte(m)); err != nil {
					return err
				}
			}
			return nil
		},
		"all messages together": func(c wire.Conn, messages []string) error {
			w := c.(wire.Batcher)
			for _, m := range messages {
				if err := w.SendBuffered([]byte(m)); err != nil {
					return err
				}
			}
			return w.Flush()
		},
	} {
		t.Run(name, func(t *testing.T) { sendsFrames(t, send) })
	}
}

func sendsFrames(t *testing.T, send func(c wire.Conn, messages []string) error) {
	noLeaks(t)
	sizes := []int{0, 1, 7, 8, 9, 125, 126, 127, 1000, 16 << 10, 16<<10 + 1, 1<<16 - 1, 1 << 16, 200_000}
	got := make(chan string, len(sizes)+1)
	url := rawWS(t, func(_ net.Conn, in *bufio.Reader) {
		for range sizes {
			head, err := in.Peek(2)
			if err != nil || head[1]&0x80 == 0 {
				got <- "a frame without a mask"
				return
			}
			first, payload, err := readFrame(in)
			if err != nil || first != finText {
				got <- "not a text message of one frame"
				return
			}
			got <- string(payload)
		}
		code, _, _ := readFrame(in)
		got <- string(rune(code))
	})
	c := dialed(t, url, transport.Config{})
	var messages []string
	for i, n := range sizes {
		messages = append(messages, strings.Repeat(string(rune('a'+i)), n))
	}
	testkit.OK(t, send(c, messages))
	for i, n := range sizes {
		testkit.Expect(t, fmt.Sprintf("the message of %d bytes", n), <-got, strings.Repeat(string(rune('a'+i)), n))
	}
	c.Close()
	testkit.Expect(t, "the last frame", <-got, string(rune(finClose)))
	if err := send(c, []string{"late"}); err == nil {
		t.Error("a message was sent after Close")
	}
}

// While the peer does not read, FlushNow returns at once. Flush writes the rest.
func TestWSFlushNowDoesNotBlock(t *testing.T) {
	sent, arrived := make(chan int, 1), make(chan error, 1)
	defer close(sent)
	w := dialed(t, rawWS(t, func(_ net.Conn, in *bufio.Reader) {
		_, err := io.CopyN(io.Discard, in, int64(<-sent)*(10_000+8))
		arrived <- err
	}), transport.Config{}).(interface {
		wire.Batcher
		FlushNow() (bool, error)
	})
	n, done, err := 0, true, error(nil)
	for ; done && err == nil; n++ {
		_ = w.SendBuffered(make([]byte, 10_000))
		done, err = w.FlushNow()
	}
	_, again := w.FlushNow()
	sent <- n
	testkit.OK(t, errors.Join(err, again, w.Flush(), <-arrived))
}
