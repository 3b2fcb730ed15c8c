package endpoint

import (
	"testing"

	"rpcx/wire/testkit"
)

// From the first bytes of a peer, rpcx detects the endpoint. "" means that it is unchanged.
func TestSigns(t *testing.T) {
	for _, c := range []struct{ typed, said, want string }{
		{"tcp://h:1", "Content-Length: 20\r\n\r\n{", "header+tcp://h:1"},
		{"exec:x", "content-length:20\n\n{", "header+exec:x"},
		{"jsonrpc1+unix:s", "\x1e{\"id\":1}\n", "jsonrpc1+seq+unix:s"},
		{"tcp://h:1", "{\"id\":1}\x00", "nul+tcp://h:1"},
		{"tcp://h:1", "12:{\"id\":1}", "netstring+tcp://h:1"},
		{"tcp://h:1", "\x08{\"id\":1}", "varint+tcp://h:1"},
		{"tcp://h:1", "\xac\x02{\"id\":1}", "varint+tcp://h:1"},
		{"tcp://h:1", "HTTP/1.1 400 Bad Request\r\n", "http://h:1/"},
		{"tcp://h:1", "<!DOCTYPE HTML>\n<html", "http://h:1/"},
		{"header+tcp://h:1", "HTTP/1.1 400 Bad Request\r\n", "http://h:1/"},
		{"tcp://h:1", "\x15\x03\x01\x00\x02\x02\x16", "tls://h:1"},
		{"header+accept+tcp://h:1", "{\"id\":1}\n", "accept+tcp://h:1"},
		{"lsp+tcp://h:1", "Content-Length: 60\r\n\r\n{\"seq\": 1, \"type\": \"event\", \"event\": \"output\", \"body\": {}}", "dap+tcp://h:1"},
		{"lsp+exec:x", "Content-Length: 60\r\nContent-Type: x\r\n\r\n{\"body\":{},\"type\":\"response\",\"request_seq\":0,\"seq\":1}", "dap+exec:x"},
		{"lsp+exec:x", "Content-Length: 60\r\n\r\n{\"jsonrpc\":\"2.0\",\"params\":{\"seq\":1,\"type\":\"event\"}}", ""},
		{"dap+exec:x", "Content-Length: 60\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"window/logMessage\"}", "lsp+exec:x"},
		{"dap+exec:x", "Content-Length: 60\r\n\r\n{\"seq\":1,\"type\":\"event\",\"body\":{\"jsonrpc\":\"2.0\"}}", ""},
		{"header+exec:x", "Content-Length: 60\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"window/logMessage\"}", ""},
		{"tcp://h:1", "hello <!DOCTYPE HTML>", ""},
		{"unix:s", "{\"QMP\": {\"version\": {}}}\r\n", "qmp+unix:s"},
		{"tcp://h:1", "{\"jsonrpc\":\"2.0\"}\n", ""},
		{"tcp://h:1", "{\"a\":\"\\u0000\"}\n", ""},
		{"ws://h/", "Content-Length: 20\r\n\r\n{", ""},
		{"header+tcp://h:1", "Content-Length: 20\r\n\r\n{", ""},
		{"tcp://h:1", "", ""},
		{"nul+tcp://h:1", "{\"id\":1}\x00", ""},
		{"nul+tcp://h:1", "{\"id\":1}", ""},
		{"header+tcp://h:1", "{\"id\":1}", ""},
		{"header+tcp://h:1", "{\"id\":1}\r\n", "tcp://h:1"},
	} {
		e, err := Parse(c.typed, "")
		testkit.OK(t, err)
		got := ""
		if s, _ := e.Recognize([]byte(c.said)); s != nil {
			got = s.Rewrite(c.typed)
		}
		testkit.Expect(t, c.typed+", whose peer sends "+c.said, got, c.want)
		if again, err := Parse(got, ""); got != "" && err != nil {
			t.Errorf("%s: %v, %+v", got, err, again)
		}
	}
}
