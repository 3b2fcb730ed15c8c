package ws

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"rpcx/wire"
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
		{"too long", "", "\x82\x7e\x01\x01" + strings.Repeat("x", 257) + "\x81\x01y", "unseen|text y"},
		{"reserved bits without an extension", "", "\xc1\x01x\x81\x01y", "unseen|text y"},
		{"compressed", "permessage-deflate", "\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00", "text Hello"},
		{"compressed, in fragments", "permessage-deflate", "\x41\x03\xf2\x48\xcd\x80\x04\xc9\xc9\x07\x00", "text Hello"},
		{"with the window of the previous message", "permessage-deflate", "\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00\xc1\x05\xf2\x00\x11\x00\x00", "text Hello|text Hello"},
		{"without the window of the previous message", "permessage-deflate; server_no_context_takeover", "\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00\xc1\x07\xf2\x48\xcd\xc9\xc9\x07\x00", "text Hello|text Hello"},
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
