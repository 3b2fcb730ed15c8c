package schemes

import (
	"bufio"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/transport"
)

// The peer is written by hand, because client and server of one library could share a mistake.
func TestWSHandWritten(t *testing.T) {
	isClose := func(code int, reason string, clean bool) func(*testing.T, error) {
		return func(t *testing.T, err error) {
			t.Helper()
			if ce := wantClose(t, err, code, clean); ce.Reason != reason {
				t.Errorf("reason %q, want %q", ce.Reason, reason)
			}
		}
	}
	broken := func(words ...string) func(*testing.T, error) {
		return func(t *testing.T, err error) {
			t.Helper()
			wantFault(t, err, wire.Protocol, words...)
		}
	}
	long := strings.Repeat("x", 70_000)
	for name, tt := range map[string]struct {
		binary wire.Binary
		sent   string
		want   []string
		end    func(*testing.T, error)
		heard  string // "" means not compared
	}{
		"messages and a close frame": {
			heard: "\x88" + closing(1000, "done"),
			sent:  frame(finText, `{"a":1}`) + frame(finText, `{"b":2}`) + frame(finClose, closing(1000, "done")),
			want:  []string{`{"a":1}`, `{"b":2}`}, end: isClose(1000, "done", true),
		},
		"cut off in a frame head":      {sent: frame(finText, "1") + "\x81\x7e\x00", want: []string{"1"}, end: isClose(0, "", false)},
		"cut off in a long frame head": {sent: frame(finText, "1") + "\x81\x7f\x00\x00\x00\x00\x00\x00", want: []string{"1"}, end: isClose(0, "", false)},
		"close code 1001":              {sent: frame(finClose, closing(1001, "")), end: isClose(1001, "", true)},
		"close code 1011":              {heard: "\x88" + closing(1011, "boom"), sent: frame(finClose, closing(1011, "boom")), end: isClose(1011, "boom", false)},
		"a private close code":         {sent: frame(finClose, closing(4001, "evicted")), end: isClose(4001, "evicted", false)},
		"a close frame without a code": {sent: frame(finClose, ""), end: isClose(1005, "", true)},
		"an empty message": {
			sent: frame(finText, "") + frame(finClose, closing(1000, "")),
			want: []string{""}, end: isClose(1000, "", true),
		},
		"fragments with a ping inside": {
			heard: "\x8ap",
			sent:  frame(firstText, `{"a":`) + frame(finPing, "p") + frame(more, `"`+long) + frame(finMore, `"}`),
			want:  []string{`{"a":"` + long + `"}`}, end: isClose(0, "", false),
		},
		"not UTF-8": {sent: frame(finText, "\"\xff\""), want: []string{"\"\xff\""}, end: isClose(0, "", false)},
		"the three encodings of a length": {
			sent: frame(finText, long[:125]) + frame(finText, long[:126]) + frame(finText, long),
			want: []string{long[:125], long[:126], long}, end: isClose(0, "", false),
		},
		"an end without a close frame": {sent: frame(finText, "1"), want: []string{"1"}, end: isClose(0, "", false)},
		"an end within a message":      {sent: frame(finText, "12345")[:4], end: isClose(0, "", false)},
		"binary messages are accepted": {
			sent: frame(finBinary, "1") + frame(finText, "2"), want: []string{"1", "2"},
			end: isClose(0, "", false),
		},
		"binary messages are ignored": {
			binary: wire.BinaryIgnore, sent: frame(finBinary, "1") + frame(finText, "2"),
			want: []string{"2"}, end: isClose(0, "", false),
		},
		"binary messages are refused":             {heard: "\x88" + closing(1003, "binary messages are not supported"), binary: wire.BinaryRefuse, sent: frame(finBinary, "1"), end: broken("binary")},
		"a reserved bit":                          {sent: frame(finText|0x40, "1"), end: broken("rsv")},
		"an unknown opcode":                       {sent: frame(0x83, "1"), end: broken("opcode")},
		"a continuation without a first frame":    {sent: frame(finMore, "1"), end: broken("continuation")},
		"a message between the frames of another": {sent: frame(firstText, "1") + frame(finText, "2"), end: broken("finishing")},
		"a close payload of one byte":             {sent: frame(finClose, "x"), end: broken("close")},
		"a ping that is too long":                 {sent: frame(finPing, long[:126]), end: broken("length")},
		"a fragmented ping":                       {sent: frame(0x09, "p"), end: broken("fragmented")},
		"a masked frame": {
			sent: frame(finText, "1") + "\x81\x81\x00\x00\x00\x002", want: []string{"1"},
			heard: "\x88" + closing(1002, ""), end: broken("masked"),
		},
		"a masked frame after a long one": {sent: frame(finText, long) + "\x89\x80\x00\x00\x00\x00", want: []string{long}, end: broken("masked")},
		"a reserved close code":           {sent: frame(finClose, "\x03\xedbye"), end: broken("NoStatusRcvd")},
		"a negative length": {
			sent: "\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xff",
			end:  broken("negative"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			noLeaks(t)
			heard := make(chan string, 16)
			url := rawWS(t, func(c net.Conn, r *bufio.Reader) {
				io.WriteString(c, tt.sent)
				c.(*net.TCPConn).CloseWrite()
				for {
					first, payload, err := readFrame(r)
					if err != nil {
						close(heard)
						return
					}
					heard <- string([]byte{first}) + string(payload)
				}
			})
			c := dialed(t, url, transport.Config{Binary: tt.binary, CloseTimeout: time.Second})
			for _, want := range tt.want {
				wantRecv(t, c, want)
			}
			got, err := c.Recv()
			if err == nil {
				t.Fatalf("Recv: %q, want the end", got)
			}
			tt.end(t, err)
			if _, again := c.Recv(); again != err {
				t.Errorf("the next Recv returned %v, not %v", again, err)
			}
			c.Close()
			var answers []string
			for a := range heard {
				answers = append(answers, a)
			}
			if tt.heard != "" && !slices.Contains(answers, tt.heard) {
				t.Errorf("the peer got the frames %q, without %q", answers, tt.heard)
			}
		})
	}
}

// The listener is tested with a client that is written by hand.
func TestWSHandWrittenClient(t *testing.T) {
	noLeaks(t)
	for name, tt := range map[string]struct {
		sent  string
		want  string
		end   func(*testing.T, error)
		heard string
	}{
		"a message": {
			heard: frame(finClose, closing(1000, "")), sent: masked(finText, "[1]") + masked(finClose, closing(1000, "")), want: "[1]",
			end: func(t *testing.T, err error) { wantClose(t, err, 1000, true) },
		},
		"a frame without a mask": {
			heard: frame(finClose, closing(1002, "")), sent: frame(finText, "[1]"),
			end: func(t *testing.T, err error) { wantFault(t, err, wire.Protocol, "unmasked") },
		},
		"closed without a close frame": {
			sent: masked(finText, "[1]"), want: "[1]",
			end: func(t *testing.T, err error) { wantClose(t, err, 0, false) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := listening(t, "ws://127.0.0.1:0/x", transport.Config{CloseTimeout: time.Second})
			refused := connect(t, l)
			io.WriteString(refused, "GET /x HTTP/1.1\r\nHost: localhost\r\nUpgrade: WebSocket\r\nConnection: close, Upgrade\r\n\r\n") // has no key
			if head, _ := io.ReadAll(refused); !strings.HasPrefix(string(head), "HTTP/1.1 4") {
				t.Errorf("an incomplete request has the response %q", head)
			}
			raw := connect(t, l)
			// The first message is in the same packet as the request.
			io.WriteString(raw, "GET /x HTTP/1.1\r\nHost: localhost\r\nUpgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n"+
				"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"+tt.sent)
			raw.(*net.TCPConn).CloseWrite()
			c := mustAccept(t, l)
			if tt.want != "" {
				wantRecv(t, c, tt.want)
			}
			_, err := c.Recv()
			tt.end(t, err)
			c.Close()
			head, _ := io.ReadAll(raw)
			if s := string(head); !strings.Contains(s, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") || !strings.HasSuffix(s, tt.heard) {
				t.Errorf("the response is %q, want the key of the example and, at the end, %q", s, tt.heard)
			}
		})
	}
}
