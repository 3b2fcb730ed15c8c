package session

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"rpcx/wire/dialect"
	"rpcx/wire/scan"
	"rpcx/wire/testkit"
)

// An mcpClient sends POST and GET requests as MCP's specification requires (2025-11-25, Streamable HTTP).
type mcpClient struct {
	t       *testing.T
	url     string
	session string
}

// exchange sends a request with client. headers are pairs of names and values.
func (c *mcpClient) exchange(client *http.Client, method, body string, headers ...string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
		r.Header.Set("MCP-Protocol-Version", "2025-11-25")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return client.Do(r)
}

// do sends a request on a connection of its own. cancel closes it.
func (c *mcpClient) do(method, body string, headers ...string) (resp *http.Response, cancel func()) {
	c.t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.exchange(client, method, body, headers...)
	testkit.OK(c.t, err)
	c.t.Cleanup(func() { resp.Body.Close() })
	return resp, func() { resp.Body.Close() }
}

// status checks the HTTP status of an exchange, and returns the body.
func (c *mcpClient) status(want int, method, body string, headers ...string) string {
	c.t.Helper()
	resp, hangUp := c.do(method, body, headers...)
	defer hangUp()
	text, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != want {
		c.t.Fatalf("%s %s: %s %s, want %d", method, body, resp.Status, text, want)
	}
	return string(text)
}

// answer checks the response in an exchange.
func (c *mcpClient) answer(want, body string, headers ...string) {
	c.t.Helper()
	text := c.status(http.StatusOK, http.MethodPost, body, headers...)
	if !strings.Contains(text, want) {
		c.t.Errorf("%s: got response %s, want %s", body, text, want)
	}
}

// An sse reads the events of an event stream.
type sse struct {
	t    *testing.T
	in   *bufio.Scanner
	last string // id of the latest event
}

func eventsOf(t *testing.T, r *http.Response) *sse {
	t.Helper()
	if got := r.Header.Get("Content-Type"); got != "text/event-stream" {
		body, _ := io.ReadAll(r.Body)
		t.Fatalf("not an event stream: %s %s %s", r.Status, got, body)
	}
	return &sse{t: t, in: bufio.NewScanner(r.Body)}
}

func (e *sse) next() string {
	e.t.Helper()
	for e.in.Scan() {
		if id, ok := strings.CutPrefix(e.in.Text(), "id: "); ok {
			e.last = id
		}
		if data, ok := strings.CutPrefix(e.in.Text(), "data:"); ok {
			return strings.TrimSpace(data)
		}
	}
	return "END"
}

const (
	begins      = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"sampling":{}},"clientInfo":{"name":"c","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	callTool    = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"TOOL"}}`
)

func newMCP(t *testing.T, w *world, hooks ...string) (c *mcpClient, stop func()) {
	t.Helper()
	s, err := Listen(t.Context(), w.endpoint("mcp+http://127.0.0.1:0/mcp"), w.options(hooks))
	testkit.OK(t, err)
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	return &mcpClient{t: t, url: strings.TrimPrefix(s.Endpoint(), "mcp+")}, sync.OnceFunc(func() { s.Close(); <-served })
}

func (c *mcpClient) begin() *mcpClient {
	c.t.Helper()
	resp, hangUp := c.do(http.MethodPost, begins)
	defer hangUp()
	text, _ := io.ReadAll(resp.Body)
	id := resp.Header.Get("Mcp-Session-Id")
	if resp.StatusCode != http.StatusOK || len(id) < 32 || !strings.Contains(string(text), `"protocolVersion":"2025-11-25"`) {
		c.t.Fatalf("initialize: %s %s, session %q", resp.Status, text, id)
	}
	in := &mcpClient{c.t, c.url, id}
	if body := in.status(http.StatusAccepted, http.MethodPost, initialized); body != "" {
		c.t.Errorf("a notification got the response %s", body)
	}
	return in
}

// A session over HTTP is a connection with its own state. It accepts only its own id, and ends with DELETE.
func TestMCPSession(t *testing.T) {
	w := newWorld(t, "")
	c, stop := newMCP(t, w, `count=co:n=0; while read -r l; do n=$((n+1)); id=${l#*\"id\":}; echo "{\"id\":${id%%,*},\"result\":\"n$n\"}"; done`)
	defer stop()
	c.status(http.StatusMethodNotAllowed, http.MethodGet, "")
	c.status(http.StatusMethodNotAllowed, http.MethodDelete, "")
	c.status(http.StatusAccepted, http.MethodPost, initialized) // belongs to no session
	a, b := c.begin(), c.begin()
	for i, s := range []*mcpClient{a, a, b} {
		s.answer([]string{`"text":"n1"`, `"text":"n2"`, `"text":"n1"`}[i], strings.Replace(callTool, "TOOL", "count", 1))
	}
	a.status(http.StatusBadRequest, http.MethodPost, initialized, "MCP-Protocol-Version", "1999-01-01")
	a.status(http.StatusOK, http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "MCP-Protocol-Version", "2025-06-18")
	a.answer(`"code":-32700`, `{"broken`)
	a.status(http.StatusNotAcceptable, http.MethodGet, "", "Accept", "application/json")
	a.status(http.StatusNoContent, http.MethodDelete, "")
	a.status(http.StatusNotFound, http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	a.status(http.StatusNotFound, http.MethodGet, "")
	b.answer(`"text":"n2"`, strings.Replace(callTool, "TOOL", "count", 1))
	(&mcpClient{t, c.url, strings.Repeat("0", 32)}).status(http.StatusNotFound, http.MethodPost, initialized)
}

// During a call, a server's requests arrive on the stream of the call, and at other times on the standing stream. The client posts
// its responses.
func TestMCPSessionAsks(t *testing.T) {
	w := newWorld(t, "")
	c, stop := newMCP(t, w, `ask=jq:rpc("sampling/createMessage"; {})`, `notifications/roots/list_changed=jq:rpc("roots/list"; null)`)
	defer stop()
	s := c.begin()
	standing, _ := s.do(http.MethodGet, "")
	told := eventsOf(t, standing)
	testkit.Expect(t, "the first event", told.next(), "") // its id allows resuming from the start

	call, _ := s.do(http.MethodPost, strings.Replace(callTool, "TOOL", "ask", 1))
	own := eventsOf(t, call)
	testkit.Expect(t, "the first event", own.next(), "")
	if q := own.next(); !strings.HasPrefix(q, `{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage"`) {
		t.Fatal(q)
	}
	s.status(http.StatusAccepted, http.MethodPost, `{"jsonrpc":"2.0","id":1,"result":{"content":"yes"}}`)
	if got := own.next(); !strings.Contains(got, `"structuredContent":{"content":"yes"}`) {
		t.Error(got)
	}
	testkit.Expect(t, "the end of the call's stream", own.next(), "END")

	s.status(http.StatusAccepted, http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
	if got := told.next(); !strings.Contains(got, `"method":"roots/list"`) {
		t.Error(got)
	}
}

// Closing a connection cancels nothing: the client can get the response by resuming after its last event. A cancelled call gets no
// response.
func TestMCPSessionResumes(t *testing.T) {
	w := newWorld(t, "")
	c, stop := newMCP(t, w, `work=touch $T/begun; until test -e $T/go; do sleep 0.01; done; echo '"worked"'`,
		`slow=trap 'touch $T/stopped; exit 1' TERM; touch $T/slow; sleep 30 & wait`)
	defer stop()
	s := c.begin()
	call, hangUp := s.do(http.MethodPost, strings.Replace(callTool, "TOOL", "work", 1))
	first := eventsOf(t, call)
	testkit.Expect(t, "the first event", first.next(), "")
	w.appears("begun")
	hangUp()
	testkit.OK(t, os.WriteFile(filepath.Join(w.dir, "go"), nil, 0o600))
	for range 2 {
		again, _ := s.do(http.MethodGet, "", "Last-Event-ID", first.last)
		rest := eventsOf(t, again)
		testkit.Expect(t, "the first event", rest.next(), "")
		if got := rest.next(); !strings.Contains(got, `"text":"worked"`) {
			t.Error(got)
		}
		testkit.Expect(t, "the end", rest.next(), "END")
	}
	s.status(http.StatusBadRequest, http.MethodGet, "", "Last-Event-ID", "99-1")

	slow, _ := s.do(http.MethodPost, strings.Replace(callTool, "TOOL", "slow", 1))
	none := eventsOf(t, slow)
	w.appears("slow")
	s.status(http.StatusBadRequest, http.MethodPost, strings.Replace(callTool, "TOOL", "slow", 1)) // the id is in use
	s.status(http.StatusAccepted, http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	testkit.Expect(t, "the first event", none.next(), "")
	testkit.Expect(t, "the end", none.next(), "END")
	w.appears("stopped")
}

func (w *world) appears(name string) {
	w.t.Helper()
	testkit.Until(w.t, name+" is there", func() bool {
		_, err := os.Stat(filepath.Join(w.dir, name))
		return err == nil
	})
}

// A client whose session has expired (404) repeats the handshake and the call. Its subscriptions to resources end.
func TestMCPHandshakeIsRepeated(t *testing.T) {
	var mu sync.Mutex
	sessions, seen := 0, []string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		method, id := scan.String(scan.Get(body, "method")), string(scan.Get(body, "id"))
		mu.Lock()
		defer mu.Unlock()
		session := r.Header.Get("Mcp-Session-Id")
		seen = append(seen, r.Method+" "+method+" "+session)
		switch {
		case r.Method == http.MethodGet && session != "":
			w.Header().Set("Content-Type", "text/event-stream")
			w.(http.Flusher).Flush()
			mu.Unlock()
			<-r.Context().Done()
			mu.Lock()
			return
		case r.Method != http.MethodPost:
			http.Error(w, "no", http.StatusMethodNotAllowed)
			return
		case method == "initialize":
			sessions++
			w.Header().Set("Mcp-Session-Id", fmt.Sprintf("s%d", sessions))
		case session != fmt.Sprintf("s%d", sessions) || method == "tools/call" && sessions == 1:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}`)
			return
		case id == "":
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"},"content":[{"type":"text","text":"%s"}]}}`, id, session)
	}))
	defer server.Close()
	w := newWorld(t, "")
	conv := w.open("mcp+" + server.URL)
	watch := w.start(conv, dialect.Subscribe, "resources/subscribe", `{"uri":"x"}`)
	if m, err := watch.Next(t.Context()); err != nil || m.Err != nil {
		t.Fatal(m, err)
	}
	testkit.Expect(t, "the response", w.call(conv, "tool", `{}`), `"s2"`)
	testkit.Expect(t, "the end of the stream of the expired session", testkit.Next(t, watch), "failed closed")
	testkit.OK(t, conv.Close())
	mu.Lock()
	defer mu.Unlock()
	got := strings.Join(seen, ", ")
	if want := "POST tools/call s1, POST initialize , POST notifications/initialized s2, GET  s2, POST tools/call s2"; !strings.Contains(got, want) {
		t.Errorf("requests: %s, want %s", got, want)
	}
}

// oldServer starts a server that uses HTTP with SSE (2024-11-05): it sends all messages in the response to a GET. The first events
// there have the addresses in more, and then the address for POSTs.
func oldServer(t *testing.T, more ...string) *httptest.Server {
	said := make(chan string, 8)
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.Method == http.MethodGet && r.URL.Path == "/sse":
			w.Header().Set("Content-Type", "text/event-stream")
			for _, address := range append(more, "/messages?session=5") {
				fmt.Fprintf(w, "event: endpoint\ndata: %s\n\n", address)
			}
			for {
				w.(http.Flusher).Flush()
				select {
				case msg := <-said:
					fmt.Fprintf(w, "event: message\ndata: %s\n\n", msg)
				case <-r.Context().Done():
					return
				}
			}
		case r.URL.Path == "/messages" && r.URL.Query().Get("session") == "5":
			id := string(scan.Get(body, "id"))
			w.WriteHeader(http.StatusAccepted)
			fmt.Fprint(w, "Accepted")
			switch scan.String(scan.Get(body, "method")) {
			case "initialize":
				said <- `{"jsonrpc":"2.0","id":` + id + `,"result":{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}}`
			case "tools/call":
				said <- `{"jsonrpc":"2.0","id":"q","method":"roots/list"}`
				said <- `{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"old"}]}}`
			}
		default:
			http.Error(w, "no", http.StatusMethodNotAllowed)
		}
	}))
}

// A server of 2024-11-05 has one event stream and an address for POSTs. It cannot make the client post to another origin.
func TestMCPOlderHTTP(t *testing.T) {
	var posted atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { posted.Add(1) }))
	defer other.Close()
	for _, more := range [][]string{nil, {other.URL + "/messages?session=5", "http://[bad/"}} {
		server := oldServer(t, more...)
		defer server.Close()
		w := newWorld(t, "")
		conv := w.open("mcp+"+server.URL+"/sse", `roots/list=touch $T/asked; echo '{"roots":[]}'`)
		testkit.Expect(t, "the response", w.call(conv, "old", `{}`), `"old"`)
		w.appears("asked")
		testkit.OK(t, conv.Close())
	}
	testkit.Expect(t, "messages that were posted to another origin", posted.Load(), 0)
}

// Resource updates arrive on the session's standing event stream.
func TestMCPSubscribesOverHTTP(t *testing.T) {
	w := newWorld(t, "")
	c, stop := newMCP(t, w, "resources/subscribe=lines:touch $T/watched; until test -e $T/go; do sleep 0.01; done; echo '{}'; exec sleep 30")
	defer stop()
	o := w.options(nil)
	o.Settings = json.RawMessage(`{"version":"2025-11-25"}`) // newer versions have no sessions
	conv, err := Open(t.Context(), w.endpoint("mcp+"+c.url), o)
	testkit.OK(t, err)
	t.Cleanup(func() { conv.Close() })
	watch := w.start(conv, dialect.Subscribe, "resources/subscribe", `{"uri":"file:///a"}`)
	if m, err := watch.Next(t.Context()); err != nil || m.Err != nil {
		t.Fatal(m, err)
	}
	w.appears("watched")
	testkit.OK(t, os.WriteFile(filepath.Join(w.dir, "go"), nil, 0o600))
	if m, err := watch.Next(t.Context()); err != nil || !strings.Contains(string(m.Raw), `notifications/resources/updated`) {
		t.Error(string(m.Raw), err)
	}
	stop()
	testkit.Expect(t, "the end of the stream", testkit.Next(t, watch), "failed closed")
}
