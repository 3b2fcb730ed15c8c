package httpserver

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"rpcx/wire"
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
			if err := c.Send(bytes.Repeat([]byte("1"), 2*maxUnsent)); err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("Send took %v", took)
		}
		if c.Close(); accepted != 6*maxUnsent || held != 0 {
			t.Errorf("%d bytes were held, and %d are after the end", accepted, held)
		}
	})
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
	if got := status(iotest.ErrReader(errors.New("broken"))); got != http.StatusBadRequest {
		t.Errorf("a body that cannot be read: status %d", got)
	}
	l.Close()
	for _, msg := range []string{`{"id":1,"method":"begin"}`, `{"id":1,"method":"m"}`} {
		if got := status(strings.NewReader(msg)); got != http.StatusServiceUnavailable {
			t.Errorf("%s: status %d", msg, got)
		}
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
