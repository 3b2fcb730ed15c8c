package transport

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"rpcx/wire"
)

const goodUpgrade = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: KEY\r\n\r\n"

// TestShakerIsATransport: whatever a server answers to an upgrade, the client says the same of it and has asked in the
// same bytes, be it by a shaker or by http.Transport alone.
func TestShakerIsATransport(t *testing.T) {
	noLeaks(t)
	huge := "HTTP/1.1 101 Switching Protocols\r\nX: " + strings.Repeat("x", 1<<20) + "\r\n\r\n"
	for name, answers := range map[string][]string{
		"usual":                  {goodUpgrade},
		"in pieces":              {goodUpgrade[:5] + "|" + goodUpgrade[5:50] + "|" + goodUpgrade[50:]},
		"with a message":         {goodUpgrade + "\x81\x02hi"},
		"with half a message":    {goodUpgrade + "\x81\x02h|i"},
		"with a goodbye":         {goodUpgrade + "\x88\x02\x03\xe8!"},
		"early hints":            {"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n" + goodUpgrade},
		"a list of connections":  {strings.Replace(goodUpgrade, "Connection: Upgrade", "Connection: keep-alive, Upgrade", 1)},
		"a long head":            {strings.Replace(goodUpgrade, "Upgrade: w", "X: "+strings.Repeat("x", 9000)+"\r\nUpgrade: w", 1)},
		"no connection header":   {strings.Replace(goodUpgrade, "Connection: Upgrade\r\n", "", 1) + "!"},
		"no upgrade header":      {strings.Replace(goodUpgrade, "Upgrade: websocket\r\n", "", 1) + "!"},
		"another key":            {strings.Replace(goodUpgrade, "KEY", "a2V5", 1) + "!"},
		"an extension":           {strings.Replace(goodUpgrade, "\r\n\r\n", "\r\nSec-WebSocket-Extensions: x\r\n\r\n", 1) + "!"},
		"a line without colon":   {strings.Replace(goodUpgrade, "Upgrade: ", "Upgrade ", 1) + "!"},
		"an old protocol":        {strings.Replace(goodUpgrade, "1.1", "1.0", 1) + "!"},
		"refused":                {"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno"},
		"refused to the end":     {"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 3\r\n\r\nlater!"},
		"refused, compressed":    {"HTTP/1.1 500 Internal Server Error\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nodd"},
		"redirected":             {"HTTP/1.1 307 Temporary Redirect\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n", goodUpgrade},
		"redirected, hung up":    {"HTTP/1.1 308 Permanent Redirect\r\nLocation: /there\r\nConnection: close\r\n\r\n!", goodUpgrade},
		"redirected elsewhere":   {"HTTP/1.1 301 Moved Permanently\r\nLocation: ws://elsewhere.example/\r\nContent-Length: 0\r\n\r\n"},
		"hung up":                {"!"},
		"hung up in the status":  {"HTTP/1.1 10!"},
		"hung up in the head":    {goodUpgrade[:60] + "!"},
		"hung up in a refusal":   {"HTTP/1.1 403 Forbidden\r\nContent-Length: 20\r\n\r\nno!"},
		"another protocol":       {"220 mail.example ESMTP\r\n!"},
		"another protocol, long": {strings.Repeat("x", 9000) + "!"},
		"a huge head":            {huge},
		"silence":                {""},
		"silence in the head":    {goodUpgrade[:60]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said, asked := upgrades(t, answers, Config{})
			plainly, plainlyAsked := upgrades(t, answers, Config{Exchanged: func(Exchange) {}})
			if said != plainly {
				t.Errorf("it says\n%s\nand http.Transport\n%s", said, plainly)
			}
			if asked != plainlyAsked {
				t.Errorf("it asks\n%s\nand http.Transport\n%s", asked, plainlyAsked)
			}
		})
	}
}

// upgrades dials a server that gives these answers, one to each request, in pieces between bars; one that ends with an
// exclamation mark is its last word. It returns what becomes of that, and what the server was asked.
func upgrades(t *testing.T, answers []string, c Config) (said, asked string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var heads bytes.Buffer
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; i < len(answers); {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			i += answerAll(conn, answers[i:], &heads)
		}
	}()
	c.CloseTimeout = 50 * time.Millisecond
	if strings.Contains(t.Name(), "silence") {
		c.ConnectTimeout = 100 * time.Millisecond
	}
	c.Header = http.Header{"X-Own": {"a", "b"}, "Host": {"named.example"}}
	c.Subprotocols = []string{"p"}
	conn, err := Dial(context.Background(), mustParse(t, "ws://user:word@"+l.Addr().String()+"/here?q=1"), c)
	switch {
	case err == nil:
		said = "connected"
		if strings.Contains(answers[0], "\x81") {
			msg, err := conn.Recv()
			said = fmt.Sprintf("connected, %q, %v", msg, err)
		}
		if strings.Contains(answers[0], "\x88") {
			_, err := conn.Recv()
			said = fmt.Sprintf("connected, %v", err)
		}
		_ = conn.Close()
	default:
		f := wire.AsFault(err)
		said = fmt.Sprintf("%v, %v: %v, %+v", f.Kind, f.Unreached, err, f.HTTP)
	}
	l.Close()
	<-done
	random := regexp.MustCompile(`(Sec-Websocket-Key: |key ")[^"\s]*`)
	blind := func(s string) string {
		return random.ReplaceAllString(strings.ReplaceAll(s, l.Addr().String(), "ADDR"), "${1}KEY")
	}
	return blind(said), blind(heads.String())
}

// answerAll answers the requests of a connection, and returns how many came.
func answerAll(conn net.Conn, answers []string, heads io.Writer) int {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for i, a := range answers {
		req, err := http.ReadRequest(bufio.NewReader(io.TeeReader(oneHead{in}, heads)))
		if err != nil {
			return max(i, 1)
		}
		sum := sha1.Sum([]byte(req.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
		a = strings.Replace(a, "KEY", base64.StdEncoding.EncodeToString(sum[:]), 1)
		a, last := strings.CutSuffix(a, "!")
		for piece := range strings.SplitSeq(a, "|") {
			_, _ = io.WriteString(conn, piece)
			if piece != a {
				time.Sleep(20 * time.Millisecond) // so that it comes by itself
			}
		}
		if last {
			return i + 1
		}
	}
	_, _ = io.Copy(io.Discard, in)
	return len(answers)
}

// oneHead reads a line at a time, so that nothing behind a head is taken.
type oneHead struct{ in *bufio.Reader }

func (h oneHead) Read(p []byte) (int, error) {
	line, err := h.in.ReadSlice('\n')
	return copy(p, line), err
}
