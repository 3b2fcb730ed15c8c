package session

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rpcx/wire/testkit"
)

// A mcpClient posts and gets as the protocol's page has it (2025-11-25, Streamable HTTP).
type mcpClient struct {
	t       *testing.T
	url     string
	session string
}

// do makes a request; cancel hangs up.
func (c *mcpClient) do(method, body string, headers ...string) (resp *http.Response, cancel func()) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.url, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
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
	transport := &http.Transport{DisableKeepAlives: true}
	resp, err = (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { resp.Body.Close() })
	return resp, func() { resp.Body.Close() }
}

// status demands the status of an exchange, whose body it returns.
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

// answer demands what an exchange is answered with.
func (c *mcpClient) answer(want, body string, headers ...string) {
	c.t.Helper()
	text := c.status(http.StatusOK, http.MethodPost, body, headers...)
	if !strings.Contains(text, want) {
		c.t.Errorf("%s was answered with %s, want %s", body, text, want)
	}
}

// An sse reads events.
type sse struct {
	t    *testing.T
	in   *bufio.Scanner
	last string // the id of the event read last
}

func eventsOf(t *testing.T, r *http.Response) *sse {
	t.Helper()
	if got := r.Header.Get("Content-Type"); got != "text/event-stream" {
		body, _ := io.ReadAll(r.Body)
		t.Fatalf("the answer is %s %s %s", r.Status, got, body)
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
	begins   = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"sampling":{}},"clientInfo":{"name":"c","version":"1"}}}`
	greeted  = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	callTool = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"TOOL"}}`
)

func newMCP(t *testing.T, w *world, hooks ...string) (c *mcpClient, stop func()) {
	t.Helper()
	s, err := Listen(t.Context(), w.endpoint("mcp+http://127.0.0.1:0/mcp"), w.options(hooks))
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	return &mcpClient{t: t, url: strings.TrimPrefix(s.Endpoint(), "mcp+")}, func() { s.Close(); <-served }
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
	if body := in.status(http.StatusAccepted, http.MethodPost, greeted); body != "" {
		c.t.Errorf("a notification is answered with %s", body)
	}
	return in
}

// A session over HTTP is a connection: it has its own state, which ends with DELETE; nobody
// else's id will do.
func TestMCPSession(t *testing.T) {
	w := newWorld(t, "")
	c, stop := newMCP(t, w, `count=co:n=0; while read -r l; do n=$((n+1)); id=${l#*\"id\":}; echo "{\"id\":${id%%,*},\"result\":\"n$n\"}"; done`)
	defer stop()
	c.status(http.StatusMethodNotAllowed, http.MethodGet, "")
	c.status(http.StatusMethodNotAllowed, http.MethodDelete, "")
	c.status(http.StatusAccepted, http.MethodPost, greeted) // outside of any session
	a, b := c.begin(), c.begin()
	for i, s := range []*mcpClient{a, a, b} {
		s.answer([]string{`"text":"n1"`, `"text":"n2"`, `"text":"n1"`}[i], strings.Replace(callTool, "TOOL", "count", 1))
	}
	a.status(http.StatusBadRequest, http.MethodPost, greeted, "MCP-Protocol-Version", "1999-01-01")
	a.status(http.StatusOK, http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "MCP-Protocol-Version", "2025-06-18")
	a.answer(`"code":-32700`, `{"broken`)
	a.status(http.StatusNotAcceptable, http.MethodGet, "", "Accept", "application/json")
	a.status(http.StatusNoContent, http.MethodDelete, "")
	a.status(http.StatusNotFound, http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	a.status(http.StatusNotFound, http.MethodGet, "")
	b.answer(`"text":"n2"`, strings.Replace(callTool, "TOOL", "count", 1))
	(&mcpClient{t, c.url, strings.Repeat("0", 32)}).status(http.StatusNotFound, http.MethodPost, greeted)
}

// What the server asks in answering a call comes on the stream of that call, what belongs
// to none on the standing one; the answers are posted.
func TestMCPSessionAsks(t *testing.T) {
	w := newWorld(t, "")
	c, stop := newMCP(t, w, `ask=jq:rpc("sampling/createMessage"; {})`, `notifications/roots/list_changed=jq:rpc("roots/list"; null)`)
	defer stop()
	s := c.begin()
	standing, _ := s.do(http.MethodGet, "")
	told := eventsOf(t, standing)
	testkit.Expect(t, "the first event", told.next(), "") // by which all that follows can be asked for

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

// Who hangs up gives nothing up: the answer can be asked for, behind the last event that was
// seen. What is given up gets no answer.
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
	if err := os.WriteFile(filepath.Join(w.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // and again
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
	s.status(http.StatusBadRequest, http.MethodPost, strings.Replace(callTool, "TOOL", "slow", 1)) // its id is taken
	s.status(http.StatusAccepted, http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	testkit.Expect(t, "the first event", none.next(), "")
	testkit.Expect(t, "the end", none.next(), "END")
	w.appears("stopped")
}

// appears waits for a file.
func (w *world) appears(name string) {
	w.t.Helper()
	testkit.Until(w.t, name+" is there", func() bool {
		_, err := os.Stat(filepath.Join(w.dir, name))
		return err == nil
	})
}
