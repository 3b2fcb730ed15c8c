package httpserver

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// A client sends a request in its session.
type client func(method, body string, header ...string) *http.Response

// sessionOf opens a session with a listener that waits only briefly for a body.
func sessionOf(t *testing.T) (conn wire.Conn, in client) {
	t.Helper()
	listener := sessionListener(t)
	return sessionWith(t, listener)
}

func sessionListener(t *testing.T) *listener {
	t.Helper()
	l := listening(t, "http", transport.Config{Exchanges: transport.Exchanges{Sessions: &wire.HTTPSessions{
		Header: "X-Session", Begins: func(msg []byte) (bool, bool) { return bytes.Contains(msg, []byte("begin")), false },
	}}})
	requestsTo(l).patience = 20 * time.Millisecond
	return l
}

func sessionWith(t *testing.T, listener *listener) (conn wire.Conn, in client) {
	t.Helper()
	session := ""
	in = func(method, body string, header ...string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), method, listener.Endpoint(), strings.NewReader(body))
		testkit.OK(t, err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("X-Session", session)
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
		testkit.OK(t, err)
		t.Cleanup(func() { resp.Body.Close() })
		return resp
	}
	begun := make(chan *http.Response, 1)
	go func() { begun <- in(http.MethodPost, `{"id":1,"method":"begin"}`) }()
	conn, err := listener.Accept()
	testkit.OK(t, err)
	t.Cleanup(func() { conn.Close() })
	testkit.Recv(t, conn)
	testkit.OK(t, conn.Send([]byte(`{"id":1,"result":{}}`)))
	session = (<-begun).Header.Get("X-Session")
	return conn, in
}

// The time limit for a body does not apply to the standing stream of a session.
func TestSessionStandingStreamLasts(t *testing.T) {
	conn, client := sessionOf(t)
	replaced := client(http.MethodGet, "")
	told := make(chan string, 1)
	conn.(interface {
		OnExchange(func(transport.Exchange))
	}).OnExchange(func(x transport.Exchange) { told <- x.Request.Method })
	standing := client(http.MethodGet, "")
	testkit.Expect(t, "the method of the exchange", <-told, http.MethodGet)
	if text, err := io.ReadAll(replaced.Body); err != nil || len(text) > 0 { // the standing stream has one reader
		t.Errorf("%q, %v", text, err)
	}
	time.Sleep(60 * time.Millisecond) // three times the limit
	testkit.OK(t, conn.Send([]byte(`{"method":"news"}`)))
	testkit.Expect(t, "the event", firstEvent(standing), `data: {"method":"news"}`)
}

// Each refused request in a session is logged with the reason.
func TestSessionRefusalsAreLogged(t *testing.T) {
	listener := sessionListener(t)
	requestsTo(listener).sessions.rules.Values = map[string][]string{"X-Version": {"1", "2"}}
	warned := make(chan string, 20)
	requestsTo(listener).refused.c.Warn = func(text string) { warned <- text }
	conn, client := sessionWith(t, listener)
	pending := make(chan *http.Response, 1)
	go func() { pending <- client(http.MethodPost, `{"id":2,"method":"m"}`) }()
	testkit.Recv(t, conn)
	for _, c := range []struct {
		method, body string
		header       []string
		status       int
		why          string
	}{
		{http.MethodGet, "", []string{"Accept", "application/json"}, 406, "only an event stream"},
		{http.MethodGet, "", []string{"Last-Event-ID", "9.9"}, 400, "no longer available"},
		{http.MethodPost, `{"id":2,"method":"m"}`, nil, 400, "with that id is pending"},
		{http.MethodPost, `{"method":"m"}`, []string{"X-Version", "3"}, 400, `X-Version: "3" is not supported`},
		{http.MethodPost, `{"method":"m"}`, []string{"X-Version", "3", "X-Session", ""}, 400, `X-Version: "3" is not supported`}, // outside a session
		{http.MethodPost, `{"id":3,"method":"m"}`, []string{"X-Session", "other"}, 404, "no such session"},
		{http.MethodDelete, "", nil, 204, ""},
		{http.MethodPost, `{"id":4,"method":"m"}`, nil, 404, "no such session"},
	} {
		testkit.Expect(t, fmt.Sprint(c), client(c.method, c.body, c.header...).StatusCode, c.status)
		if c.why == "" {
			continue
		}
		if text := <-warned; !strings.Contains(text, strconv.Itoa(c.status)) || !strings.Contains(text, c.why) {
			t.Errorf("%v: the log has %q", c, text)
		}
	}
	<-pending
}

// Resuming after the last event of a stream returns an event stream, even if it has no events.
func TestSessionResumesBehindTheLastEvent(t *testing.T) {
	conn, client := sessionOf(t)
	asked := make(chan *http.Response, 1)
	go func() { asked <- client(http.MethodPost, `{"id":2,"method":"m"}`) }()
	testkit.Recv(t, conn)
	testkit.OK(t, conn.(wire.Router).SendAbout(wire.ID("2"), []byte(`{"method":"progress"}`)))
	for _, msg := range []string{`{"method":"other"}`, `{"id":2,"result":7}`} { // without a reader of the standing stream, both are sent here
		testkit.OK(t, conn.Send([]byte(msg)))
	}
	text, err := io.ReadAll((<-asked).Body)
	if err != nil || !bytes.Contains(text, []byte("other")) {
		t.Fatalf("%s, %v", text, err)
	}
	ids := regexp.MustCompile(`(?m)^id: ?(.*)$`).FindAllStringSubmatch(string(text), -1)
	if len(ids) == 0 {
		t.Fatalf("no event has an id: %s", text)
	}
	again := client(http.MethodGet, "", "Last-Event-ID", ids[len(ids)-1][1])
	text, err = io.ReadAll(again.Body)
	if media := again.Header.Get("Content-Type"); err != nil || media != "text/event-stream" || bytes.Contains(text, []byte("data: {")) {
		t.Errorf("%s, %q, %v", media, text, err)
	}
}

// firstEvent returns the first data line of an event stream, or "" if there is none.
func firstEvent(of *http.Response) string {
	lines := bufio.NewScanner(of.Body)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "data:") {
	}
	return lines.Text()
}

// The newest unread events are kept, up to a limit. A reader that has closed does not delay further ones.
func TestSessionKeepsSome(t *testing.T) {
	conn, client := sessionOf(t)
	big := `{"method":"news","params":"` + strings.Repeat("x", keptBytes/4) + `"}`
	for range 8 {
		testkit.OK(t, conn.Send([]byte(big)))
	}
	testkit.OK(t, conn.Send([]byte(`{"method":"last"}`)))
	standing := client(http.MethodGet, "").Body
	lines, n := bufio.NewReader(standing), 0
	for line := ""; line != "data: {\"method\":\"last\"}\n"; n++ {
		var err error
		if line, err = lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	if n < 6 || n > 4*3 {
		t.Errorf("%d lines were stored", n)
	}
	standing.Close()
	defer time.AfterFunc(10*time.Second, func() { conn.Close() }).Stop()
	for range 8 {
		testkit.OK(t, conn.Send([]byte(big)))
	}
}

// The total size of the events that all sessions keep is bounded.
func TestSessionsKeepNoMoreInAll(t *testing.T) {
	listener := sessionListener(t)
	requestsTo(listener).sessions.keeps = 2 * keptBytes
	var clients []client
	news := `{"method":"news","params":"` + strings.Repeat("x", keptBytes/16) + `"}`
	for range 8 {
		conn, in := sessionWith(t, listener)
		clients = append(clients, in)
		for range 20 {
			testkit.OK(t, conn.Send([]byte(news)))
		}
		testkit.OK(t, conn.Send([]byte(`{"method":"last"}`)))
	}
	kept := 0
	for i, in := range clients {
		events, own := bufio.NewReader(in(http.MethodGet, "").Body), 0
		for line := ""; line != "data: {\"method\":\"last\"}\n"; own += len(line) {
			var err error
			if line, err = events.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		if own < keptBytes/16 {
			t.Errorf("session %d: only %d bytes are stored", i, own)
		}
		kept += own
	}
	if kept > 2*keptBytes+8*1024 {
		t.Errorf("%d bytes are stored", kept)
	}
}

// When an idle session ends, its connection gets the reason, and its client gets a 404. A session with a reader continues, even
// after further exchanges.
func TestSessionIdles(t *testing.T) {
	listener := sessionListener(t)
	requestsTo(listener).sessions.idle = time.Second
	reads, readsIn := sessionWith(t, listener)
	standing := readsIn(http.MethodGet, "")
	posted := make(chan int, 1)
	go func() { posted <- readsIn(http.MethodPost, `{"method":"x"}`).StatusCode }()
	if msg, err := reads.Recv(); err != nil || string(msg) != `{"method":"x"}` || <-posted != http.StatusAccepted {
		t.Fatalf("a notification during the GET: %s %v", msg, err)
	}
	rests, restsIn := sessionWith(t, listener)
	if _, err := rests.Recv(); err == nil || !strings.Contains(err.Error(), "idle for too long") {
		t.Errorf("an idle session: %v", err)
	}
	testkit.Expect(t, "the client of the idle session", restsIn(http.MethodPost, `{"id":2,"method":"x"}`).StatusCode, http.StatusNotFound)
	testkit.OK(t, reads.Send([]byte(`{"method":"news"}`)))
	testkit.Expect(t, "the event", firstEvent(standing), `data: {"method":"news"}`)
	standing.Body.Close()
	if _, err := reads.Recv(); err == nil || !strings.Contains(err.Error(), "idle for too long") {
		t.Errorf("a session whose reader has closed: %v", err)
	}
}

func TestBehind(t *testing.T) {
	one, two := &eventLog{number: 1, carries: true}, &eventLog{number: 2}
	c := &sessionConn{streams: []*eventLog{two, one}}
	for _, x := range []struct {
		id string
		s  *eventLog
		at int
	}{{"1-5", one, 5}, {"1-0", one, 0}, {"2-5", nil, 0}, {"3-5", nil, 0}, {"1-x", nil, 0}, {"x-5", nil, 0}, {"1", nil, 0}, {"", nil, 0}, {"1-", nil, 0}} {
		if s, at := c.behind(x.id); s != x.s || at != x.at {
			t.Errorf("%q: %v, %d", x.id, s, at)
		}
	}
}

func TestRequestsOfAMessage(t *testing.T) {
	for _, c := range []struct{ msg, requests, answers string }{
		{`{"id":1,"method":"m"}`, "[1] true", "[]"},
		{`{"method":"m"}`, "[] true", "[]"},
		{`{"id":1,"result":2}`, "[] true", "[1]"},
		{`{"id":"a","error":{}}`, "[] true", `["a"]`},
		{`[{"id":1,"method":"m"},{"id":2,"result":3},{"id":4,"error":{}}]`, "[1] true", "[2 4]"},
		{`[{"id":1,"method":"m"},{"id":1,"method":"m"}]`, "[] false", "[]"},
		{`[]`, "[] false", "[]"},
		{`7`, "[] false", "[]"},
		{`{"id":1}`, "[] false", "[1]"},
		{`{"id":1,"method":2}`, "[] false", "[]"},
		{`{"id":{},"method":"m"}`, "[] false", "[]"},
		{`{"id":`, "[] false", "[]"},
	} {
		ids, ok := requestsOf([]byte(c.msg))
		if got, answers := fmt.Sprint(ids, ok), fmt.Sprint(answersOf([]byte(c.msg))); got != c.requests || ok && answers != c.answers {
			t.Errorf("%s: %s, %s", c.msg, got, answers)
		}
	}
}

// An array is not listed in memory, because the list takes more memory than the array.
func TestRequestsOfALargeArray(t *testing.T) {
	allocs := func(elements int) float64 {
		msg := []byte("[1" + strings.Repeat(",1", elements-1) + "]")
		return testing.AllocsPerRun(10, func() { requestsOf(msg) })
	}
	testkit.Expect(t, "allocations", allocs(10_000), allocs(1))
}

// A message that waits for a client, or for Recv, is not accepted when the session ends.
func TestSessionEndsWhileMessagesWait(t *testing.T) {
	c := newSessionConn("s", "", &sessions{idle: time.Hour, byID: map[string]*sessionConn{}, refused: &refusals{}}, false)
	c.streams[0].reader, c.streams[0].unsent = &answerer{}, 1
	time.AfterFunc(10*time.Millisecond, func() { c.end(errSessionEnded) })
	if err := c.Send([]byte(`{"method":"m"}`)); !errors.Is(err, errSessionEnded) {
		t.Error(err)
	}
	got := httptest.NewRecorder()
	c.post(got, httptest.NewRequest(http.MethodPost, "/", nil), []byte(`{"id":1,"method":"m"}`), []string{"1"})
	if got.Code != http.StatusNotFound || len(c.streams) != 1 {
		t.Errorf("status %d, %d streams", got.Code, len(c.streams))
	}
}
