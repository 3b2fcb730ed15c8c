package ws

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// The frames are the examples of RFC 6455, section 5.7, and RFC 7692, section 7.2.3.
func TestAssembler(t *testing.T) {
	for _, c := range []struct{ name, extensions, frames, want string }{
		{"one frame", "", "\x81\x05Hello", "text Hello"},
		{"masked", "", "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", "text Hello"},
		{"fragments with a ping in between", "", "\x01\x03Hel\x89\x02hi\x80\x02lo", "text Hello"},
		{"binary", "", "\x82\x03\xff\xfe\x00", "binary \xff\xfe\x00"},
		{"a length of 16 bits", "", "\x81\x7e\x00\x7e" + strings.Repeat("x", 126), "text " + strings.Repeat("x", 126)},
		{"close", "", "\x88\x05\x0f\xa1bye", "close 4001 bye"},
		{"close without a code", "", "\x88\x00", "close 1005 "},
		{"just not too long", "", "\x82\x7e\x01\x00" + strings.Repeat("x", 256), "binary " + strings.Repeat("x", 256)},
		{"too long", "", "\x82\x7e\x01\x01" + strings.Repeat("x", 257) + "\x81\x01y", "unseen|text y"},
		{"reserved bits without an extension", "", "\xc1\x01x\x81\x01y", "unseen|text y"},
		{"compressed", "permessage-deflate", "\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00", "text Hello"},
		{"compressed, in fragments", "permessage-deflate", "\x41\x03\xf2\x48\xcd\x80\x04\xc9\xc9\x07\x00", "text Hello"},
		{"with the window of the previous message", "permessage-deflate", "\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00\xc1\x05\xf2\x00\x11\x00\x00", "text Hello|text Hello"},
		{"without the window of the previous message", "permessage-deflate; server_no_context_takeover", "\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00", "text Hello|text Hello"},
		{"too long, compressed", "permessage-deflate", "\xc1\x7e\x01\x01" + strings.Repeat("x", 257) + "\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00", "unseen|unseen"},
		{"too long, compressed without a window", "permessage-deflate; server_no_context_takeover", "\xc1\x7e\x01\x01" + strings.Repeat("x", 257) + "\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00", "unseen|text Hello"},
		{"too long when decompressed", "permessage-deflate", "\xc1\x07\xab\xa8\x18\x05\xc8\x00\x00\x81\x01y", "unseen|text y"},
		{"not compressed", "permessage-deflate", "\x81\x05Hello", "text Hello"},
		{"broken, and the next message", "permessage-deflate", "\xc1\x02\xff\xff\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00", "unseen|unseen"},
	} {
		for _, size := range []int{1, 3, len(c.frames)} {
			var got []string
			a := &assembler{
				most: 256, inflater: inflaters(http.Header{"Sec-Websocket-Extensions": {c.extensions}})[wire.Recv],
				message: func(msg []byte, binary bool) {
					got = append(got, map[bool]string{false: "text ", true: "binary "}[binary]+string(msg))
				},
				unseen: func(string) { got = append(got, "unseen") },
				closed: func(how *wire.CloseError) { got = append(got, fmt.Sprintf("close %d %s", how.Code, how.Reason)) },
			}
			for rest := []byte(c.frames); len(rest) > 0; rest = rest[min(size, len(rest)):] {
				a.take(rest[:min(size, len(rest))])
			}
			if s := strings.Join(got, "|"); s != c.want || !a.between() {
				t.Errorf("%s, %d bytes at a time: %q, not %q", c.name, size, s, c.want)
			}
		}
	}
}

// -vv shows each frame, and the part of a frame that arrived before the connection ended.
func TestFramesAreShown(t *testing.T) {
	for _, c := range []struct{ name, frames, want string }{
		{"masked", "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", "text frame, masked 5 Hello"},
		{"close", "\x88\x05\x0f\xa1bye", "close frame, code 4001 5 bye"},
		{"fragments", "\x01\x03Hel\x80\x02lo", "text frame, not the last frame of its message 3 Hel|continuation frame 2 lo"},
		{"reserved", "\xc3\x01x", "reserved (opcode 3) frame, reserved bits 100 1 x"},
		{"cut off", "\x82\x05He", "binary frame, cut off after 2 bytes 5 He"},
		{"cut off in the head", "\x81\x7e\x00", "an incomplete frame head 3 \x81\x7e\x00"},
		{"cut off between frames", "\x81\x01x", "text frame 1 x"},
	} {
		var got []string
		dirs := watchFrames(&transport.Watch{Piece: func(p wire.Piece) {
			got = append(got, fmt.Sprintf("%s %d %s", p.Frame, p.Size, p.Shown))
		}}, "")
		s := &shownFrames{readOnly{Reader: strings.NewReader(c.frames)}, dirs}
		if _, err := io.Copy(io.Discard, onlyReader{s}); err != nil {
			t.Error(err)
		}
		testkit.Expect(t, c.name, strings.Join(got, "|"), c.want)
	}
}

type onlyReader struct{ io.Reader }

// If one side closes the WebSocket and the other does not respond, the tunnel ends after Linger. Frames in both directions are shown.
func TestTunnelEndsAfterLinger(t *testing.T) {
	client, near := net.Pipe()
	server, far := net.Pipe()
	var mu sync.Mutex
	shown := map[string]int{}
	tunnel := &Tunnel{
		Client: near, Server: far, MaxMessage: 100, Linger: time.Millisecond, From: "c", Ping: 0,
		Watch:   &transport.Watch{Piece: func(p wire.Piece) { mu.Lock(); defer mu.Unlock(); shown[p.Who+p.Dir.String()+p.Frame]++ }},
		Message: func(wire.Direction, []byte, bool) {}, Unseen: func(wire.Direction, string) {},
	}
	go func() {
		_, _ = io.WriteString(server, "\x81\x01x\x88\x02\x03\xe8")
		_ = server.Close()
	}()
	go func() { _, _ = io.Copy(io.Discard, client) }()
	who, err := tunnel.Pass()
	var how *wire.CloseError
	if !errors.As(err, &how) || who != wire.Recv || how.Code != 1000 || !how.Clean {
		t.Error(who, err)
	}
	for _, want := range []string{"recvtext frame", "recvclose frame, code 1000", "csendtext frame", "csendclose frame, code 1000"} {
		testkit.Expect(t, fmt.Sprint(want, shown), shown[want], 1)
	}
}

// A side that sends nothing after a ping ends the tunnel, whatever it sent before. Here, only the client answers.
func TestTunnelWithoutPong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, near := net.Pipe()
		server, far := net.Pipe()
		tunnel := &Tunnel{
			Client: near, Server: far, MaxMessage: 100, Ping: time.Second,
			Message: func(wire.Direction, []byte, bool) {}, Unseen: func(wire.Direction, string) {},
		}
		go func() { _, _ = io.Copy(io.Discard, client) }()
		go func() {
			for err := error(nil); err == nil; time.Sleep(tunnel.Ping / 3) {
				_, err = io.WriteString(client, "\x8a\x80\x00\x00\x00\x00")
			}
		}()
		go func() {
			_, _ = io.WriteString(server, "\x81\x01x")
			_, _ = io.Copy(io.Discard, server)
		}()
		time.AfterFunc(time.Minute, func() { _ = client.Close() })
		if who, err := tunnel.Pass(); who != wire.Recv || !strings.Contains(fmt.Sprint(err), "1s") {
			t.Error(who, err)
		}
		time.Sleep(tunnel.Ping) // the client stops
	})
}
