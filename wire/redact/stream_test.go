package redact

import (
	"fmt"
	"strings"
	"testing"

	"rpcx/wire/testkit"
)

// The output of a Stream contains no secret and does not depend on how its input is divided.
func TestStream(t *testing.T) {
	for in, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"params":{"user":"me","password":"HUSH"}}` + "\n":          `{"jsonrpc":"2.0","id":1,"params":{"user":"me","password":"…"}}` + "\n",
		`{"secret" : ["HUSH",{"a":"]HUSH\""}] , "b":1}`:                                     `{"secret" : "…" , "b":1}`,
		`{"token":12,"apiKey":-1.5e3,"password":null,"auth":true}`:                          `{"token":12,"apiKey":-1.5e3,"password":null,"auth":true}`,
		`{"a\u0050assword":"x","p\u0061ssword":"HUSH"}`:                                     `{"a\u0050assword":"…","p\u0061ssword":"…"}`,
		`{"h":"Bearer HUSH","x":"Authorization: Basic HUSH","y":"a basic thing"}`:           `{"h":"Bearer …","x":"Authorization: Basic …","y":"a basic thing"}`,
		"Content-Length: 2\r\nAuthorization: Basic HUSH\r\n\r\n{}":                          "Content-Length: 2\r\nAuthorization: …\r\n\r\n{}",
		"GET /x?a=1&api_key=HUSH&b=2 HTTP/1.1\r\nCookie: a=HUSH; b=HUSH\r\nHost: h\r\n\r\n": "GET /x?a=1&api_key=…&b=2 HTTP/1.1\r\nCookie: …\r\nHost: h\r\n\r\n",
		"sent with bearer HUSH\nand more":                                                   "sent with bearer …\nand more",
		`{"password":HUSH HUSH` + "\n" + `{"a":"b"}`:                                        `{"password":…` + "\n" + `{"a":"b"}`,
		"api_key=HUSH; a":                        "api_key=…; a",
		`say "hi` + "\n" + `{"password":"HUSH"}`: `say "hi` + "\n" + `{"password":"…"}`,
		`{"password":"HU\"SH","id":3}`:           `{"password":"…","id":3}`,
	} {
		testkit.Expect(t, in, string(new(Stream).Append(nil, []byte(in))), want)
		if got := string(Text([]byte(in))); strings.Contains(got, "HUSH") {
			t.Errorf("Text returned %s", got)
		}
		for size := 1; size < 12; size++ {
			var s Stream
			var got []byte
			for rest := []byte(in); len(rest) > 0; {
				n := min(size, len(rest))
				got = s.Append(got, rest[:n])
				rest = rest[n:]
			}
			testkit.Expect(t, fmt.Sprint("pieces of ", size), string(got), want)
		}
		if cut := in[:len(in)/2]; strings.Contains(string(Text([]byte(cut))), "HUSH") {
			t.Errorf("%s: a secret is not redacted", cut)
		}
	}
}

// A Stream redacts everything that JSON redacts.
func FuzzStream(f *testing.F) {
	f.Add([]byte(`{"password":"x","a":[1,{"token":"y"}]}`), 3)
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		cut = min(max(cut, 0), len(b))
		var s Stream
		got := s.Append(s.Append(nil, b[:cut]), b[cut:])
		if whole := new(Stream).Append(nil, b); string(whole) != string(got) {
			t.Errorf("%q: cut at %d, got %q; whole, %q", b, cut, got, whole)
		}
	})
}
