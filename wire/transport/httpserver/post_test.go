package httpserver

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"rpcx/wire"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// A second message makes the response an event stream at once, even if the first one is large. All messages are reported to OnHold.
func TestPostSecondMessageAfterALargeOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.Header.Set("Accept", "application/json, text/event-stream")
		c := newPostConn(httptest.NewRecorder(), r, nil, transport.Config{CloseTimeout: time.Second})
		accepted, held := 0, 0
		c.OnHold(func(bytes int) { accepted, held = accepted+max(bytes, 0), held+bytes })
		go c.serve()
		began := time.Now()
		for range 3 {
			testkit.OK(t, c.Send(bytes.Repeat([]byte("1"), 2*maxUnsent)))
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("Send took %v", took)
		}
		if c.Close(); accepted != 6*maxUnsent || held != 0 {
			t.Errorf("%d bytes were held, and %d are after the end", accepted, held)
		}
	})
}

// A client that closes its sending direction gets no status instead of a response.
func TestNoStatusWithoutAResponse(t *testing.T) {
	for msg, lacks := range map[string]int{`{"id":1,"method":"m"}`: 0, `{"id":1,"method":"begin"}`: 0, `{"id":`: 1} {
		l := sessionListener(t)
		client, err := net.Dial("tcp", strings.Trim(l.Endpoint(), "htps:/"))
		testkit.OK(t, err)
		defer client.Close()
		const head = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
		fmt.Fprintf(client, head, len(msg)+lacks, msg)
		var post *postConn
		if lacks == 0 {
			conn, err := l.Accept()
			testkit.OK(t, err)
			conn.Recv()
			post, _ = conn.(*postConn)
		}
		client.(*net.TCPConn).CloseWrite()
		if post != nil {
			<-post.PeerClosed()
			post.Close()
			post.OnExchange(func(x transport.Exchange) {
				if x.Err == nil || x.Response != nil {
					t.Errorf("%s: the exchange is %+v", msg, x)
				}
			})
		}
		if got, err := io.ReadAll(client); len(got) > 0 || err != nil {
			t.Errorf("%s: got %q, %v", msg, got, err)
		}
	}
}

// Requests that arrive while the listener is closed, or whose body cannot be read, are refused.
func TestRequestsThatAreNotAccepted(t *testing.T) {
	l := sessionListener(t)
	status := func(body io.Reader) int {
		r, got := httptest.NewRequest(http.MethodPost, "/", body), httptest.NewRecorder()
		r.Host = "localhost"
		r.Header.Set("Content-Type", "application/json")
		requestsTo(l).ServeHTTP(got, r)
		return got.Code
	}
	testkit.Expect(t, "a body that cannot be read: status", status(iotest.ErrReader(errors.New("broken"))), http.StatusBadRequest)
	l.Close()
	for _, msg := range []string{`{"id":1,"method":"begin"}`, `{"id":1,"method":"m"}`} {
		testkit.Expect(t, fmt.Sprint(msg), status(strings.NewReader(msg)), http.StatusServiceUnavailable)
	}
	if n := len(requestsTo(l).sessions.byID); n > 0 {
		t.Errorf("%d sessions were begun", n)
	}
}

// A POST over TLS identifies its client by its certificates, too. The dialect's GET responses name a wss URL.
func TestPostOverTLS(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/json", nil)
	identity := func(certificate string) string {
		r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{{Raw: []byte(certificate)}}}
		return newPostConn(nil, r, nil, transport.Config{}).Identity()
	}
	if a := identity("a"); a == identity("b") || a != identity("a") {
		t.Error("certificates do not distinguish clients")
	}
	url := ""
	h := &handler{guard: guard{path: "/ws", c: transport.Config{Exchanges: transport.Exchanges{Gets: wire.HTTPGets{
		"/json": func(at string) ([]byte, error) { url = at; return nil, nil },
	}}}}}
	if h.get(httptest.NewRecorder(), r); url != "wss://example.com/ws" {
		t.Error(url)
	}
}

// There are at most ten warnings about refused requests in a second, and then their number.
func TestWarningsAboutRefusals(t *testing.T) {
	var warned []string
	f := &refusals{c: transport.Config{Warn: func(text string) { warned = append(warned, text) }}}
	for range maxRefusals + 2 {
		f.report(httptest.NewRequest(http.MethodPost, "/", nil), 405, "no")
	}
	f.since = time.Time{}
	f.report(httptest.NewRequest(http.MethodPost, "/", nil), 405, "no")
	if len(warned) != maxRefusals+2 || warned[maxRefusals] != "more refused requests: 2" {
		t.Errorf("%q", warned)
	}
}
