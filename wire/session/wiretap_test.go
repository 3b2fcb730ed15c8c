package session

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// newWiretap returns a wiretap for POSTs to an endpoint.
func newWiretap(t *testing.T, to string) *Wiretap {
	t.Helper()
	from, err := ParseEndpoint("http://127.0.0.1:0/", "")
	testkit.OK(t, err)
	e, err := ParseEndpoint(to, "")
	testkit.OK(t, err)
	w, err := ListenTap(t.Context(), from, e, Options{}, transport.Config{})
	testkit.OK(t, err)
	return w
}

// An endpoint whose framing does not exist is not listened at.
func TestListenTapWithoutFraming(t *testing.T) {
	from, err := ParseEndpoint("tcp://127.0.0.1:0", "")
	testkit.OK(t, err)
	to := from
	from.Framing = "nosuch"
	if w, err := ListenTap(t.Context(), from, to, Options{}, transport.Config{}); err == nil {
		_ = w.Close()
		t.Error("it listens")
	}
}

// Close also ends the demo to which POSTs are forwarded.
func TestCloseEndsTheDemoOfPosts(t *testing.T) {
	w := newWiretap(t, "demo:hotrepl")
	served := make(chan error, 1)
	go func() { served <- w.Serve(t.Context()) }()
	resp, err := http.Post(w.Endpoint(), "application/json", strings.NewReader(`{"type":"reset","id":"r"}`))
	testkit.OK(t, err)
	_ = resp.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	_ = w.Close()
	testkit.OK(t, <-served)
	stacks := make([]byte, 1<<20)
	if stacks = stacks[:runtime.Stack(stacks, true)]; strings.Contains(string(stacks), "/hotrepl.") {
		t.Error("the demo is still running")
	}
}

// A POST that is accepted while the wiretap closes is not forwarded, because Close would not end its connection to the
// peer.
func TestPostWhileClosing(t *testing.T) {
	w := newWiretap(t, "demo:orders")
	_ = w.Close()
	here, there := transport.Pair()
	defer there.Close()
	testkit.OK(t, there.Send([]byte(`{"jsonrpc":"2.0","id":1,"method":"x"}`)))
	refused := httptest.NewRecorder()
	w.relay(refused, httptest.NewRequest(http.MethodPost, "/", nil), nil)
	if refused.Code != http.StatusServiceUnavailable || w.Serve(t.Context()) != nil {
		t.Errorf("status %d", refused.Code)
	}
	w.post(t.Context(), here)
	if _, err := there.Recv(); err == nil || w.up != nil {
		t.Errorf("%v: connected to the peer: %v", err, w.up != nil)
	}
}
