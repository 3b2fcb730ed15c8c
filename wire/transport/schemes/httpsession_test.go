package schemes

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// In a session over HTTP (MCP 2025-11-25, Streamable HTTP), the client sends the server's session id and the dialect's headers.
// Unsolicited messages arrive on the standing event stream, which is reopened after its last event. A response whose stream ends
// early is resumed. DELETE ends the session.
func TestHTTPSession(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	note := func(r *http.Request, what string) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, fmt.Sprintf("%s %s session=%s version=%s last=%s", r.Method, what, r.Header.Get("Mcp-Session-Id"), r.Header.Get("MCP-Protocol-Version"), r.Header.Get("Last-Event-ID")))
	}
	standing := 0
	var ended time.Time
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		note(r, string(body))
		w.Header().Set("Mcp-Session-Id", "s1")
		switch {
		case r.Method == http.MethodPost && strings.Contains(string(body), "hello"):
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		case r.Method == http.MethodPost:
			w.Header().Set("Content-Type", "text/event-stream")
			// The stream ends inside an event, so the client resumes after the previous one.
			fmt.Fprint(w, "id: a7\nretry: 60\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"progress\"}\n\nid: a9\ndata: {\"json")
			ended = time.Now()
		case r.Header.Get("Last-Event-ID") == "a7":
			if waited := time.Since(ended); waited < 60*time.Millisecond {
				t.Errorf("the stream was resumed after %v, not after the server's 60 ms", waited)
			}
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "id: a8\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":\"late\"}\n\n")
		case r.Method == http.MethodGet:
			mu.Lock()
			standing++
			n := standing
			mu.Unlock()
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "id: g%d\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"news\",\"params\":[%d]}\n\n", n, n)
			if n > 1 {
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			}
		}
	}))
	defer server.Close()

	conn := dialed(t, server.URL+"/mcp", transport.Config{})
	post := func(msg string) []string {
		got, err := exchange(t, conn, msg)
		testkit.OK(t, err)
		return got
	}
	post(`{"jsonrpc":"2.0","id":1,"method":"hello"}`)
	s := conn.(wire.HTTPSession)
	s.SetHeader("MCP-Protocol-Version", "2025-11-25")
	s.EndByDelete()
	s.ReadEvents(func() {})
	for i := 1; i <= 2; i++ {
		wantRecv(t, conn, fmt.Sprintf(`{"jsonrpc":"2.0","method":"news","params":[%d]}`, i)) // from the GET
	}
	want := `{"jsonrpc":"2.0","method":"progress"} {"jsonrpc":"2.0","id":2,"result":"late"}`
	testkit.Expect(t, "the response", strings.Join(post(`{"jsonrpc":"2.0","id":2,"method":"work"}`), " "), want)
	start := time.Now()
	if err := conn.Close(); err != nil || time.Since(start) > 3*time.Second {
		t.Errorf("Close took %v: %v", time.Since(start), err)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, line := range []string{
		`POST {"jsonrpc":"2.0","id":1,"method":"hello"} session= version= last=`,
		`GET  session=s1 version=2025-11-25 last=`,
		`GET  session=s1 version=2025-11-25 last=g1`,
		`POST {"jsonrpc":"2.0","id":2,"method":"work"} session=s1 version=2025-11-25 last=`,
		`GET  session=s1 version=2025-11-25 last=a7`,
		`DELETE  session=s1 version=2025-11-25 last=`,
	} {
		if !strings.Contains("\n"+strings.Join(seen, "\n")+"\n", "\n"+line+"\n") {
			t.Errorf("%s is missing in\n%s", line, strings.Join(seen, "\n"))
		}
	}
}

// A server can lack both the event stream and DELETE.
func TestHTTPSessionRefused(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.Error(w, "no", http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Mcp-Session-Id", "s1")
		if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), "cut") {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "id: 1\ndata: {\"method\":\"n\"}\n\n")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	}))
	defer server.Close()
	conn := dialed(t, server.URL, transport.Config{})
	s := conn.(wire.HTTPSession)
	s.EndByDelete()
	s.ReadEvents(func() {})
	for range 2 {
		if _, err := exchange(t, conn, `{"jsonrpc":"2.0","id":1,"method":"m"}`); err != nil {
			t.Error(err)
		}
	}
	if got, err := exchange(t, conn, `{"jsonrpc":"2.0","id":1,"method":"cut"}`); err != nil || len(got) != 1 { // cannot be resumed
		t.Error(got, err)
	}
	testkit.OK(t, conn.Close())
	over := false
	if s.ReadEvents(func() { over = true }); !over {
		t.Error("after Close, there is an event stream")
	}
}

// If the standing stream or the stream of a response yields no messages, it is reopened a limited number of times.
func TestHTTPSessionStopsReopening(t *testing.T) {
	var mu sync.Mutex
	asked := map[string]int{} // numbers of requests, by Last-Event-ID
	brings := map[string]bool{"": true, "g2": true, "p1": true}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Mcp-Session-Id", "s1")
		w.Header().Set("Content-Type", "text/event-stream")
		switch {
		case strings.Contains(string(body), "hello"):
			fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n")
			return
		case r.Method == http.MethodPost:
			fmt.Fprint(w, "id: p1\nretry: 1\ndata:\n\n")
			return
		case r.Method != http.MethodGet:
			return
		}
		mu.Lock()
		defer mu.Unlock()
		last := r.Header.Get("Last-Event-ID")
		asked[last]++
		next := map[string]string{"": "g2", "g2": "g3", "p1": "p2"}[last]
		if brings[last] && asked[last] == 2 { // on the second request
			fmt.Fprintf(w, "id: %s\nretry: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"news\"}\n\n", next)
			return
		}
		fmt.Fprint(w, "retry: 1\n\n")
	}))
	defer server.Close()
	conn := dialed(t, server.URL, transport.Config{})
	defer conn.Close()
	if _, err := exchange(t, conn, `{"jsonrpc":"2.0","id":1,"method":"hello"}`); err != nil {
		t.Fatal(err)
	}
	go func() {
		for _, err := conn.Recv(); err == nil; _, err = conn.Recv() {
		}
	}()
	over := make(chan struct{})
	conn.(wire.HTTPSession).ReadEvents(func() { close(over) })
	<-over
	if _, err := exchange(t, conn, `{"jsonrpc":"2.0","id":2,"method":"work"}`); err != nil {
		t.Error(err)
	}
	mu.Lock()
	defer mu.Unlock()
	// A message restarts the count for the standing stream, but not for the stream of a response.
	want := map[string]int{"": 2, "g2": 2, "g3": 5 - 1, "p1": 2, "p2": 5}
	if !maps.Equal(asked, want) {
		t.Errorf("requests: %v, want %v", asked, want)
	}
}

// DELETE ends a session once, if the dialect uses DELETE and the server has named the session.
func TestHTTPSessionIsEndedByDelete(t *testing.T) {
	for _, c := range []struct {
		session string // the session id from the server
		says    bool   // whether the dialect ends sessions with DELETE
		deletes int32
	}{
		{"s1", true, 1},
		{"s1", false, 0},
		{"", true, 0},
		{"", false, 0},
	} {
		var deletes atomic.Int32
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodDelete {
				deletes.Add(1)
			}
			if c.session != "" {
				w.Header().Set("Mcp-Session-Id", c.session)
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		}))
		conn := dialed(t, server.URL, transport.Config{})
		if c.says {
			conn.(wire.HTTPSession).EndByDelete()
		}
		if _, err := exchange(t, conn, `{"jsonrpc":"2.0","id":1,"method":"m"}`); err != nil {
			t.Error(err)
		}
		for range 2 {
			testkit.OK(t, conn.Close())
		}
		server.Close()
		testkit.Expect(t, fmt.Sprint(c), deletes.Load(), c.deletes)
	}
}

// Over the older HTTP with SSE (MCP 2024-11-05), a POST that fails ends its exchange, and so does the end of the event stream.
func TestHTTPOlderSSE(t *testing.T) {
	firstPost := map[string]int{"answers": 405, "is gone": 410, "aborts": 404} // others: 400
	for does, want := range map[string]string{
		"answers": `[{"id":1,"result":2}] <nil>`, "is gone": "[] unreachable", "refuses": "[] auth", "aborts": "[] closed",
		"ends the stream": "[] closed", "is cancelled": "[] context canceled", "is cancelled early": "[] context canceled",
	} {
		noLeaks(t)
		said := make(chan string, 1)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			say := func(text string) { fmt.Fprint(w, text); _ = http.NewResponseController(w).Flush() }
			switch {
			case r.Method == http.MethodGet && does == "is cancelled early":
				cancel()
				<-r.Context().Done()
			case r.Method == http.MethodGet:
				w.Header().Set("Content-Type", "text/event-stream")
				say("event: endpoint\ndata: /post\n\n")
				select {
				case text := <-said:
					say(text)
				case <-r.Context().Done():
				}
				if does != "ends the stream" {
					<-r.Context().Done()
				}
			case r.URL.Path != "/post":
				w.WriteHeader(max(firstPost[does], 400))
			case does == "refuses":
				http.Error(w, "no", http.StatusForbidden)
			case does == "aborts":
				panic(http.ErrAbortHandler)
			default:
				w.WriteHeader(http.StatusAccepted)
				say("")
				if does == "is cancelled" {
					cancel()
				} else {
					said <- map[string]string{"answers": "data: {\"id\":1,\"result\":2}\n\n"}[does]
				}
			}
		}))
		conn, err := dial(t.Context(), s.URL, transport.Config{Exchanges: transport.Exchanges{Sessions: &wire.HTTPSessions{Header: "Mcp-Session-Id"}}})
		testkit.OK(t, err)
		got := []string{}
		err = conn.(wire.Exchanger).Exchange(ctx, []byte(`{"id":1,"method":"m"}`), func(b []byte) { got = append(got, string(b)) })
		end := fmt.Sprint(err)
		if f := wire.AsFault(err); f != nil {
			end = string(f.Kind)
		}
		testkit.Expect(t, fmt.Sprint(does, err), fmt.Sprint(got, " ", end), want)
		cancel()
		_ = conn.Close()
		s.Close()
	}
}
