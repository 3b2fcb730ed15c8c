package transport

import (
	"bufio"
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"rpcx/wire"
)

// sessionOf begins a session with a listener whose client has little time for a body.
func sessionOf(t *testing.T) (conn wire.Conn, client func(method, body string) *http.Response) {
	t.Helper()
	a, err := Parse("http://127.0.0.1:0/")
	if err != nil {
		t.Fatal(err)
	}
	listener, err := Listen(t.Context(), a, Config{Exchanges: Exchanges{Sessions: &wire.HTTPSessions{
		Header: "X-Session", Begins: func(msg []byte) (bool, bool) { return bytes.Contains(msg, []byte("begin")), false },
	}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	listener.(*httpListener).patience = 20 * time.Millisecond
	session := ""
	client = func(method, body string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), method, listener.Endpoint(), strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("X-Session", session)
		resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		return resp
	}
	begun := make(chan *http.Response, 1)
	go func() { begun <- client(http.MethodPost, `{"id":1,"method":"begin"}`) }()
	if conn, err = listener.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := conn.Recv(); err != nil {
		t.Fatal(err)
	}
	if err := conn.Send([]byte(`{"id":1,"result":{}}`)); err != nil {
		t.Fatal(err)
	}
	session = (<-begun).Header.Get("X-Session")
	return conn, client
}

// The standing stream of a session lasts longer than a body may take.
func TestSessionStandingStreamLasts(t *testing.T) {
	conn, client := sessionOf(t)
	standing := client(http.MethodGet, "")
	time.Sleep(60 * time.Millisecond) // three times the patience
	if err := conn.Send([]byte(`{"method":"news"}`)); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(standing.Body)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "data:") {
	}
	if lines.Text() != `data: {"method":"news"}` {
		t.Errorf("%q %v", lines.Text(), lines.Err())
	}
}

// What nobody asks for is kept up to a bound, the newest of it.
func TestSessionKeepsSome(t *testing.T) {
	conn, client := sessionOf(t)
	big := `{"method":"news","params":"` + strings.Repeat("x", keptBytes/4) + `"}`
	for range 8 {
		if err := conn.Send([]byte(big)); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.Send([]byte(`{"method":"last"}`)); err != nil {
		t.Fatal(err)
	}
	lines, n := bufio.NewReader(client(http.MethodGet, "").Body), 0
	for line := ""; line != "data: {\"method\":\"last\"}\n"; n++ {
		var err error
		if line, err = lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	if n < 6 || n > 4*3 {
		t.Errorf("%d lines were kept", n)
	}
}
