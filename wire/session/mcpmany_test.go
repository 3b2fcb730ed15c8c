package session

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// many is the maximum number of sessions of a listener.
const many = 1000

// A crowd has many clients of one listener, each with its own session, over a few connections.
type crowd struct {
	t      *testing.T
	url    string
	client *http.Client
	ids    []string
}

// do makes an exchange, and returns the HTTP status, the session id and the body of the response.
func (c *crowd) do(method, session, body string) (status int, begun, text string) {
	resp, err := (&mcpClient{c.t, c.url, session}).exchange(c.client, method, body)
	if err != nil {
		c.t.Error(err)
		return 0, "", ""
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header.Get("Mcp-Session-Id"), string(b)
}

// each calls what for every client, for a few clients at a time.
func (c *crowd) each(what func(i int)) {
	c.t.Helper()
	var wg sync.WaitGroup
	next := make(chan int)
	for range 8 {
		wg.Go(func() {
			for i := range next {
				what(i)
			}
		})
	}
	for i := range c.ids {
		next <- i
	}
	close(next)
	wg.Wait()
	if c.t.Failed() {
		c.t.FailNow()
	}
}

func (c *crowd) begin(i int) {
	status, id, text := c.do(http.MethodPost, "", begins)
	if status != http.StatusOK || id == "" {
		c.t.Errorf("client %d: initialize: %d %s", i, status, text)
		return
	}
	c.ids[i] = id
	if status, _, text := c.do(http.MethodPost, id, initialized); status != http.StatusAccepted {
		c.t.Errorf("client %d: initialized: %d %s", i, status, text)
	}
}

// held returns the memory in use and the number of goroutines.
func held() (heap, goroutines int) {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc), runtime.NumGoroutine()
}

// A thousand clients have a session each, with separate state. Memory is bounded, another session is refused until one ends, and no
// state remains when all have ended.
func TestMCPManySessions(t *testing.T) {
	w := newWorld(t, "")
	at, stop := newMCP(t, w, `mine=jq:.n`)
	defer stop()
	c := &crowd{t: t, url: at.url, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}, ids: make([]string, many)}
	defer c.client.CloseIdleConnections()
	heap, goroutines := held()

	c.each(c.begin)
	c.each(func(i int) {
		call := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mine","arguments":{"n":"it is %d"}}}`, i)
		if status, _, text := c.do(http.MethodPost, c.ids[i], call); status != http.StatusOK || !strings.Contains(text, fmt.Sprintf(`"it is %d"`, i)) {
			t.Errorf("client %d: %d %s", i, status, text)
		}
	})
	moreHeap, moreGoroutines := held()
	if each := (moreHeap - heap) / many; each > 48<<10 {
		t.Errorf("an idle session uses %d bytes", each)
	} else {
		t.Logf("a session uses %d bytes and %d goroutines", each, (moreGoroutines-goroutines)/many)
	}

	if status, _, text := c.do(http.MethodPost, "", begins); status != http.StatusServiceUnavailable || !strings.Contains(text, "1000 sessions") {
		t.Errorf("a session above the limit: %d %s", status, text)
	}
	if status, _, _ := c.do(http.MethodDelete, c.ids[7], ""); status != http.StatusNoContent {
		t.Errorf("DELETE: %d", status)
	}
	if status, _, _ := c.do(http.MethodPost, c.ids[7], `{"jsonrpc":"2.0","id":2,"method":"ping"}`); status != http.StatusNotFound {
		t.Errorf("a request to an ended session: %d", status)
	}
	c.begin(7)

	c.each(func(i int) {
		if status, _, _ := c.do(http.MethodDelete, c.ids[i], ""); status != http.StatusNoContent {
			t.Errorf("client %d: DELETE: %d", i, status)
		}
	})
	c.client.CloseIdleConnections()
	deadline := time.Now().Add(20 * time.Second)
	for {
		lessHeap, left := held()
		if left <= goroutines+20 && lessHeap-heap < 4<<20 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("after all sessions ended, %d goroutines and %d bytes remain", left-goroutines, lessHeap-heap)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
