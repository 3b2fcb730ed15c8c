package schemes

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
	"rpcx/wire/transport/httpserver"
)

// posts sends a POST, and returns the server's connection for it.
func posts(t *testing.T, l transport.Listener, accept string) (wire.Conn, <-chan *http.Response, func()) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, l.Endpoint(), strings.NewReader(`{"id":1,"method":"m"}`))
	testkit.OK(t, err)
	req.Header.Set("Content-Type", "application/json")
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	tr := &http.Transport{}
	answers := make(chan *http.Response, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		resp, err := tr.RoundTrip(req)
		if err == nil {
			answers <- resp
		}
		close(answers)
	})
	t.Cleanup(func() { wg.Wait(); tr.CloseIdleConnections() })
	c := mustAccept(t, l)
	wantRecv(t, c, `{"id":1,"method":"m"}`)
	if _, err := c.Recv(); err != io.EOF {
		t.Fatalf("Recv: %v, want io.EOF", err)
	}
	if _, ok := c.(wire.SingleExchange); !ok {
		t.Error("a POST is not marked as a single exchange")
	}
	return c, answers, tr.CloseIdleConnections
}

const both = "application/json, text/event-stream"

func TestPostAnswers(t *testing.T) {
	noLeaks(t)
	l := listening(t, "http://127.0.0.1:0/", transport.Config{})
	note, result, other := `{"method":"n"}`, `{"id":1,"result":2}`, `{"id":2,"result":3}`
	large := `{"id":1,"result":"` + strings.Repeat("x", 100<<10) + `"}`
	for name, tt := range map[string]struct {
		accept string
		sent   []string
		errs   []error
		status int
		media  string
		body   string
	}{
		"nothing":                           {accept: both, status: 204},
		"one response":                      {accept: both, sent: []string{result}, status: 200, media: "application/json", body: result},
		"a notification and a result":       {accept: both, sent: []string{note, result}, status: 200, media: "text/event-stream", body: "data: " + note + "\n\ndata: " + result + "\n\n"},
		"a message of several lines":        {accept: both, sent: []string{"{\r\n\"method\":\n\r1}", result}, status: 200, media: "text/event-stream", body: "data: {\ndata: \"method\":\ndata: \ndata: 1}\n\ndata: " + result + "\n\n"},
		"a client that accepts only events": {accept: "text/event-stream", sent: []string{result}, status: 200, media: "text/event-stream", body: "data: " + result + "\n\n"},
		"a client that accepts no events":   {accept: "application/json", sent: []string{note, result, other}, errs: []error{httpserver.ErrNoStream, nil, httpserver.ErrNoStream}, status: 200, media: "application/json", body: result},
		"a client that accepts anything":    {accept: "*/*", sent: []string{note, result}, errs: []error{httpserver.ErrNoStream, nil}, status: 200, media: "application/json", body: result},
		"a client without an Accept header": {sent: []string{`[{"id":1,"result":2}]`}, status: 200, media: "application/json", body: `[{"id":1,"result":2}]`},
		"more after a large response":       {accept: "application/json", sent: []string{large, other, note}, errs: []error{nil, httpserver.ErrNoStream, httpserver.ErrNoStream}, status: 200, media: "application/json", body: large},
		"only a notification":               {sent: []string{note}, errs: []error{httpserver.ErrNoStream}, status: 204},
	} {
		t.Run(name, func(t *testing.T) {
			c, answers, _ := posts(t, l, tt.accept)
			for i, msg := range tt.sent {
				var want error
				if tt.errs != nil {
					want = tt.errs[i]
				}
				if err := c.Send([]byte(msg)); !errors.Is(err, want) {
					t.Errorf("Send(%s): %v, want %v", msg, err, want)
				}
			}
			c.Close()
			resp := <-answers
			body, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if resp.StatusCode != tt.status || resp.Header.Get("Content-Type") != tt.media || string(body) != tt.body {
				t.Errorf("%d %q %q, want %d %q %q", resp.StatusCode, resp.Header.Get("Content-Type"), body, tt.status, tt.media, tt.body)
			}
			if tt.media == "application/json" && resp.ContentLength != int64(len(tt.body)) {
				t.Errorf("Content-Length %d", resp.ContentLength)
			}
			if err := c.Send([]byte(result)); err == nil {
				t.Error("Send succeeded after Close")
			}
		})
	}
}

// The client gets each message of a slow response as soon as it is sent.
func TestPostAnswerThatTakesTime(t *testing.T) {
	noLeaks(t)
	l := listening(t, "http://127.0.0.1:0/", transport.Config{})
	c, answers, _ := posts(t, l, both)
	testkit.OK(t, c.Send([]byte(`{"method":"n"}`)))
	resp := <-answers // without further requests
	defer resp.Body.Close()
	want := "data: {\"method\":\"n\"}\n\n"
	got := make([]byte, len(want))
	if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != want {
		t.Errorf("%q %v", got, err)
	}
	for _, s := range []string{"1", "2"} {
		testkit.OK(t, c.Send([]byte(s)))
	}
	got = make([]byte, len("data: 1\n\ndata: 2\n\n"))
	if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != "data: 1\n\ndata: 2\n\n" {
		t.Errorf("%q %v", got, err)
	}
	c.Close()
	if rest, err := io.ReadAll(resp.Body); len(rest) > 0 || err != nil {
		t.Errorf("%q %v", rest, err)
	}
}

func TestPostWhoseClientCloses(t *testing.T) {
	noLeaks(t)
	l := listening(t, "http://127.0.0.1:0/", transport.Config{})
	raw := connect(t, l)
	io.WriteString(raw, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
	c := mustAccept(t, l)
	raw.Close()
	<-c.(interface{ PeerClosed() <-chan struct{} }).PeerClosed()
	wantRecv(t, c, "{}") // although the client has closed
	_, err := c.Recv()
	wantClose(t, err, 0, false)
	wantClose(t, c.Send([]byte("{}")), 0, false)
	c.Close()
}

// A client that does not read a large response delays only itself.
func TestPostCloseIsBounded(t *testing.T) {
	noLeaks(t)
	l := listening(t, "http://127.0.0.1:0/", transport.Config{CloseTimeout: 100 * time.Millisecond})
	for name, sent := range map[string]int{"one response": 1, "events": 2} {
		t.Run(name, func(t *testing.T) {
			raw := connect(t, l)
			io.WriteString(raw, "POST / HTTP/1.1\r\nHost: localhost\r\nAccept: "+both+
				"\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
			c := mustAccept(t, l)
			done := make(chan struct{})
			started := make(chan struct{})
			go func() {
				defer close(done)
				big := bytes.Repeat([]byte("1"), 16<<20)
				for i := range sent {
					if i == sent-1 {
						close(started)
					}
					c.Send(big)
				}
			}()
			<-started
			if sent == 1 {
				<-done
			}
			returns(t, "Close", func() { c.Close() })
			<-done
		})
	}
}
