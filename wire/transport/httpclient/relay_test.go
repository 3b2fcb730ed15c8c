package httpclient

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// Headers that apply to a single connection are not forwarded.
func TestEndToEnd(t *testing.T) {
	h := http.Header{}
	for _, name := range []string{
		"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
		"X-One", "X-Two", "X-Three", "Accept", "Authorization",
	} {
		h.Set(name, "v")
	}
	h["Connection"] = []string{"close, x-one", "X-Two"}
	var left []string
	for name := range endToEnd(h) {
		left = append(left, name)
	}
	slices.Sort(left)
	testkit.Expect(t, "the headers", strings.Join(left, " "), "Accept Authorization X-Three")
	if h.Get("X-One") == "" {
		t.Error("the original headers were changed")
	}
}

// compressed returns text in a content encoding.
func compressed(t *testing.T, encoding, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch encoding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "raw deflate":
		w, _ = flate.NewWriter(&b, 9)
	default:
		return []byte(text)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	return b.Bytes()
}

// relayTo returns a Relay to server.
func relayTo(t *testing.T, server http.HandlerFunc) *Relay {
	t.Helper()
	s := httptest.NewServer(server)
	t.Cleanup(s.Close)
	at, _ := url.Parse(s.URL)
	r, err := NewRelay(transport.Address{Scheme: "http", Host: at.Host, URLPath: "/"}, transport.Config{}, "/")
	testkit.OK(t, err)
	t.Cleanup(r.Close)
	return r
}

// relayed forwards one request to server, and returns what the client and the tap get.
func relayed(t *testing.T, server http.HandlerFunc, head http.Header, body []byte, seen func(wire.Direction, string)) (*httptest.ResponseRecorder, []string, error) {
	t.Helper()
	r := relayTo(t, server)
	req := httptest.NewRequestWithContext(t.Context(), "POST", "/", nil)
	if head != nil {
		req.Header = head
	}
	got := httptest.NewRecorder()
	var taps []string
	err := r.Pass(got, req, body, func(d wire.Direction, msg []byte) {
		taps = append(taps, d.String()+" "+string(msg))
		if seen != nil {
			seen(d, string(msg))
		}
	})
	return got, taps, err
}

// The client gets the body in its encoding, and the tap gets it decoded.
func TestRelayOfEncodings(t *testing.T) {
	const text = `{"jsonrpc":"2.0","id":1,"result":"0123456789012345678901234567890123456789"}`
	for _, c := range []struct{ asked, forwarded, encoding, format string }{
		{"gzip, deflate, br;q=1.0, zstd", "gzip, deflate", "gzip", "gzip"},
		{"deflate;q=0.5,*", "deflate;q=0.5", "deflate", "deflate"},
		{"deflate", "deflate", "deflate", "raw deflate"},
		{"br", "identity", "", ""},
		{"", "", "", ""},
		{"identity;q=0, gzip", "identity;q=0, gzip", "x-gzip", "gzip"},
		{"gzip", "gzip", "br", ""},
	} {
		body := compressed(t, c.format, text)
		head := http.Header{}
		if c.asked != "" {
			head.Set("Accept-Encoding", c.asked)
		}
		sent := compressed(t, "gzip", `{"id":1}`)
		head.Set("Content-Encoding", "gzip")
		got, taps, err := relayed(t, func(w http.ResponseWriter, r *http.Request) {
			if accept, ok := r.Header["Accept-Encoding"]; strings.Join(accept, "|") != c.forwarded || ok != (c.forwarded != "") {
				t.Errorf("%q was forwarded as %q", c.asked, accept)
			}
			if b, _ := io.ReadAll(r.Body); !bytes.Equal(b, sent) {
				t.Errorf("the request was changed: %q", b)
			}
			w.Header().Set("Content-Encoding", c.encoding)
			_, _ = w.Write(body)
		}, head, sent, nil)
		if !bytes.Equal(got.Body.Bytes(), body) || got.Header().Get("Content-Encoding") != c.encoding {
			t.Errorf("%+v: the client got %q", c, got.Body)
		}
		want := []string{`send {"id":1}`, "recv " + text}
		if c.encoding == "br" {
			want = want[:1]
		}
		if !slices.Equal(taps, want) || (err != nil) != (c.encoding == "br") || err != nil && wire.AsFault(err).Kind != wire.Protocol {
			t.Errorf("%+v: %q, %v", c, taps, err)
		}
	}
}

// Each event in a compressed stream is forwarded and passed to the tap as soon as it is flushed.
func TestRelayOfCompressedEvents(t *testing.T) {
	one := make(chan bool)
	_, taps, err := relayed(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "text/event-stream")
		zip := gzip.NewWriter(w)
		_, _ = io.WriteString(zip, "data: {\"a\":1}\n\n")
		_ = zip.Flush()
		_ = http.NewResponseController(w).Flush()
		<-one
		_, _ = io.WriteString(zip, "data: {\"a\":2}\n\n")
		_ = zip.Close()
	}, http.Header{}, nil, func(_ wire.Direction, msg string) {
		if msg == `{"a":1}` {
			close(one)
		}
	})
	if err != nil || !slices.Equal(taps, []string{`recv {"a":1}`, `recv {"a":2}`}) {
		t.Error(taps, err)
	}
}

// A stream that cannot be decoded completely is still forwarded, and the error reports that the tap is incomplete.
func TestRelayOfBrokenStreams(t *testing.T) {
	const events, lines = "text/event-stream", "application/x-ndjson"
	event := func(n int) string { return fmt.Sprintf("data: {\"a\":%d}\n\n", n) }
	whole := compressed(t, "gzip", event(1)+event(2))
	flushed := func(text string) []byte {
		var b bytes.Buffer
		zip := gzip.NewWriter(&b)
		_, _ = io.WriteString(zip, text)
		_ = zip.Flush()
		return b.Bytes()
	}
	for name, c := range map[string]struct {
		media, encoding string
		body            []byte
		seen            int
		broken          bool
	}{
		"whole":                         {events, "gzip", whole, 2, false},
		"compression without an end":    {events, "gzip", flushed(event(1) + event(2)), 2, false},
		"corrupt after the first event": {events, "gzip", append(flushed(event(1)), "\xff\xff\xff\xff and more"...), 1, true},
		"corrupt after the first line":  {lines, "gzip", append(flushed("1\n"), "\xff\xff\xff\xff and more"...), 1, true},
		"corrupt from the start":        {events, "gzip", []byte("no gzip at all"), 0, true},
		"data after the end":            {events, "gzip", append(whole[:len(whole):len(whole)], "behind the end"...), 2, true},
		"wrong checksum":                {events, "gzip", append(whole[:len(whole)-8:len(whole)-8], "12345678"...), 2, true},
		"too long":                      {events, "", []byte(event(1) + "data: " + strings.Repeat("x", 65<<20) + "\n\n"), 1, true},
	} {
		got, taps, err := relayed(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", c.encoding)
			w.Header().Set("Content-Type", c.media)
			_, _ = w.Write(c.body)
		}, http.Header{}, nil, nil)
		if !bytes.Equal(got.Body.Bytes(), c.body) {
			t.Errorf("%s: the client got %d bytes of %d", name, got.Body.Len(), len(c.body))
		}
		if len(taps) != c.seen || (err != nil) != c.broken || err != nil && wire.AsFault(err).Kind != wire.Protocol {
			t.Errorf("%s: %q, %v", name, taps, err)
		}
	}
}

// A byte order mark is forwarded, but is not part of the message.
func TestRelayOfByteOrderMarks(t *testing.T) {
	const mark = "\xEF\xBB\xBF"
	for media, body := range map[string]string{
		"application/json": mark + `{"a":1}`, "text/event-stream": mark + "data: {\"a\":1}\n\n", "application/x-ndjson": mark + "{\"a\":1}\n",
	} {
		got, taps, err := relayed(t, func(w http.ResponseWriter, r *http.Request) {
			if b, _ := io.ReadAll(r.Body); string(b) != mark+`{"b":1}` {
				t.Errorf("the request was changed: %q", b)
			}
			w.Header().Set("Content-Type", media)
			_, _ = io.WriteString(w, body)
		}, http.Header{}, []byte(mark+`{"b":1}`), nil)
		if want := []string{`send {"b":1}`, `recv {"a":1}`}; err != nil || !slices.Equal(taps, want) || got.Body.String() != body {
			t.Errorf("%s: %q, %v, the client got %q", media, taps, err, got.Body)
		}
	}
}

func abort(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// The client receives what the server sends, or status 502, and the error tells the user.
func TestRelayOfFailures(t *testing.T) {
	for name, c := range map[string]struct {
		server http.HandlerFunc
		head   http.Header
		status int
		kind   wire.FaultKind
		why    string
	}{
		"a redirect":                    {server: func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/there", http.StatusFound) }, status: 302},
		"a request in another encoding": {server: func(http.ResponseWriter, *http.Request) {}, head: http.Header{"Content-Encoding": {"br"}}, status: 200, kind: wire.Protocol, why: "a request is not on the tape"},
		"no response":                   {server: abort, status: 502, kind: wire.Unreachable, why: "without a response"},
	} {
		got, _, err := relayed(t, c.server, c.head, []byte("{}"), nil)
		f := wire.AsFault(err)
		if got.Code != c.status || (f == nil) != (c.why == "") || f != nil && (f.Kind != c.kind || !strings.Contains(f.Message, c.why)) {
			t.Errorf("%s: status %d, %v", name, got.Code, err)
		}
	}
	// A client can send a URL that cannot be forwarded.
	r, req, got := relayTo(t, abort), httptest.NewRequest("POST", "/", nil), httptest.NewRecorder()
	req.URL.RawQuery = "a#%zz"
	err := r.Pass(got, req, nil, nil)
	if _, _, upErr := r.Upgrade(got, req); wire.AsFault(err) == nil || wire.AsFault(upErr) == nil || strings.Count(got.Body.String(), "cannot reach") != 2 {
		t.Error(err, upErr, got.Body)
	}
	// A client that has disconnected is no reason to warn.
	ctx, cancel := context.WithCancel(t.Context())
	req = httptest.NewRequestWithContext(ctx, "POST", "/", nil)
	testkit.OK(t, relayTo(t, abort).Pass(httptest.NewRecorder(), req, []byte("{}"), func(wire.Direction, []byte) { cancel() }))
}

type brokenWriter struct{ http.ResponseWriter }

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// When the client of a stream disconnects, the request to the server ends.
func TestRelayOfStreamsEndsWithTheClient(t *testing.T) {
	ended := make(chan bool, 1)
	r := relayTo(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: 1\n\n")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
			ended <- true
		case <-time.After(20 * time.Second):
			ended <- false
		}
	})
	err := r.Pass(brokenWriter{httptest.NewRecorder()}, httptest.NewRequest("POST", "/", nil), nil, func(wire.Direction, []byte) {})
	if ok := <-ended; err != nil || !ok {
		t.Error(err, ok)
	}
}

// A request for a WebSocket offers only extensions that rpcx can decode. If a connection cannot be made, the other is closed.
func TestRelayOfUpgrades(t *testing.T) {
	for asked, want := range map[string]string{
		"x-other, permessage-deflate; client_max_window_bits ,permessage-deflate": "permessage-deflate; client_max_window_bits, permessage-deflate",
		"x-other": "",
	} {
		offered, rest := "", make(chan error, 1)
		r := relayTo(t, func(w http.ResponseWriter, r *http.Request) {
			offered = strings.Join(r.Header["Sec-Websocket-Extensions"], "|")
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
			_, err = conn.Read(make([]byte, 1))
			rest <- err
		})
		req := httptest.NewRequest("GET", "/", nil)
		req.Header = http.Header{"Upgrade": {"websocket"}, "Sec-Websocket-Extensions": {asked}}
		client, peer, err := r.Upgrade(httptest.NewRecorder(), req) // a Recorder cannot be upgraded
		if client != nil || peer != nil || err != nil || <-rest != io.EOF || offered != want {
			t.Errorf("%v %v %v, %q was offered as %q", client, peer, err, asked, offered)
		}
	}
	got := httptest.NewRecorder()
	_, peer, err := relayTo(t, abort).Upgrade(got, httptest.NewRequest("GET", "/", nil))
	if f := wire.AsFault(err); f == nil || f.Kind != wire.Unreachable || peer != nil || got.Code != http.StatusBadGateway {
		t.Error(peer, err, got.Code)
	}
}

// Wrong settings and addresses are reported by each kind of client.
func TestWrongSettings(t *testing.T) {
	wrong := transport.Config{TLS: transport.TLS{CACert: "/nowhere.pem"}}
	at := transport.Address{Scheme: "http+unix", Path: "/nowhere", URLPath: "/"}
	for want, f := range map[string]func() error{
		"--cacert": func() error { _, err := NewRelay(at, wrong, "/"); return err },
		"cacert":   func() error { _, err := Anywhere(wrong, nil).Get("https://example.invalid/"); return err },
		"address":  func() error { _, err := Get(t.Context(), at, "/%zz", transport.Config{}); return err },
	} {
		if f := wire.AsFault(f()); f == nil || f.Kind != wire.Usage || !strings.Contains(f.Message, want) {
			t.Errorf("%s: %v", want, f)
		}
	}
}

// Every body is a message, except a text with the status 202.
func TestRelayOfBodies(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		seen   bool
	}{{200, "{}", true}, {202, "{}", true}, {200, "oops", true}, {202, "Accepted", false}, {200, " ", false}} {
		_, taps, err := relayed(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}, nil, []byte("1"), nil)
		testkit.OK(t, err)
		testkit.Expect(t, fmt.Sprintf("%d %q was seen", c.status, c.body), slices.Contains(taps, "recv "+c.body), c.seen)
	}
}

// A token is added to a copy of the request, as http.RoundTripper demands.
func TestAuthorized(t *testing.T) {
	req := httptest.NewRequestWithContext(t.Context(), "POST", "/", nil)
	testkit.Expect(t, "the header of the copy", authorized(req, "t").Header.Get("Authorization"), "Bearer t")
	testkit.Expect(t, "the header of the request", req.Header.Get("Authorization"), "")
}

func TestIsJSON(t *testing.T) {
	for media, want := range map[string]bool{
		"application/json": true, "application/json-rpc": true, "application/jsonrequest": true, "application/problem+json": true,
		"": false, "text/plain": false, "application/jsonl": false,
	} {
		testkit.Expect(t, media, isJSON(media), want)
	}
}
