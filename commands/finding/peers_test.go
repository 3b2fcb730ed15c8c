package finding

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rpcx/wire/scan"
	"rpcx/wire/testkit"
)

// browser is a server like Chromium's: it refuses upgrades, never responds to POST, closes connections that are not HTTP, and lists
// the WebSocket URLs of its targets.
func browser(c net.Conn) {
	in := bufio.NewReader(c)
	for {
		if verb, err := in.Peek(4); err != nil || string(verb) != "GET " && string(verb) != "POST" {
			return
		}
		r, err := http.ReadRequest(in)
		switch {
		case err != nil:
			return
		case r.Method == http.MethodPost:
			_, _ = io.Copy(io.Discard, in)
			return
		case r.URL.Path == "/json/version":
			body := fmt.Sprintf(`{"Browser":"x/1","webSocketDebuggerUrl":"ws://%s/devtools/browser/1"}`, r.Host)
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		default:
			fmt.Fprint(c, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
		}
	}
}

func TestABrowserIsRecognisedOverOtherTransports(t *testing.T) {
	at := testkit.Listen(t, "tcp", "127.0.0.1:0", browser)
	for _, scheme := range []string{"tcp", "ws", "http"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			r := probe(t, scheme+"://"+at, 8*time.Second)
			if r.Endpoint == nil || r.Endpoint.Dialect != "cdp" || r.Endpoint.Address.Scheme != "http" {
				t.Errorf("found %v", r.Endpoint)
			}
		})
	}
}

// Each attempt to upgrade to WebSocket ends with the server's refusal: it is not repeated.
func TestARefusedUpgradeIsNotRepeated(t *testing.T) {
	var upgrades atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "" {
			upgrades.Add(1)
		}
		http.NotFound(w, r)
	}))
	defer s.Close()
	at := "ws" + strings.TrimPrefix(s.URL, "http") + "/"
	tried := int32(0)
	for _, try := range probe(t, at, 8*time.Second).Tried {
		if try.Endpoint == at {
			tried++
		}
	}
	if n := upgrades.Load(); n != tried || n == 0 {
		t.Errorf("%d upgrades in %d attempts", n, tried)
	}
}

// strict is a server with header framing. If refuse returns true, strict does not answer a message without Content-Type.
func strict(refuse func(c net.Conn) bool) func(c net.Conn) {
	return func(c net.Conn) {
		in := textproto.NewReader(bufio.NewReader(c))
		for {
			head, err := in.ReadMIMEHeader()
			if err != nil {
				return
			}
			size, _ := strconv.Atoi(head.Get("Content-Length"))
			msg := make([]byte, size)
			if _, err := io.ReadFull(in.R, msg); err != nil || size == 0 {
				return
			}
			if head.Get("Content-Type") == "" {
				if !refuse(c) {
					return
				}
				continue
			}
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"method not found"}}`, scan.OrNull(scan.Get(msg, "id")))
			fmt.Fprintf(c, "Content-Length: %d\r\n\r\n%s", len(body), body)
		}
	}
}

func TestAPeerThatNeedsContentTypeIsRecognised(t *testing.T) {
	for name, refuse := range map[string]func(c net.Conn) bool{
		"silent": func(net.Conn) bool { return true },
		"closes": func(net.Conn) bool { return false },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := probe(t, raw(t, strict(refuse)), 8*time.Second)
			if r.Endpoint == nil || r.Endpoint.Framing != "header" || r.Header != contentType {
				t.Errorf("found %v with %q", r.Endpoint, r.Header)
				for _, try := range r.Tried {
					t.Log(try.Line())
				}
			}
		})
	}
	// For a peer that requires no header, the report has none.
	if r := probe(t, address(serve(t, "header+tcp://127.0.0.1:0")), 8*time.Second); r.Header != "" {
		t.Errorf("a header that the peer does not require: %q", r.Header)
	}
}

// A server that refuses POST requests may name another address for them in an event stream: the older HTTP with SSE of MCP.
func TestAnOlderMCPServerIsRecognised(t *testing.T) {
	said := make(chan []byte, 64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodGet && r.URL.Path == "/sse":
			w.Header().Set("Content-Type", "text/event-stream")
			for msg := []byte("/posts\nevent: endpoint"); r.Context().Err() == nil; {
				fmt.Fprintf(w, "data: %s\n\n", msg)
				w.(http.Flusher).Flush()
				select {
				case msg = <-said:
				case <-r.Context().Done():
				}
			}
		case r.URL.Path == "/posts":
			body, _ := io.ReadAll(r.Body)
			w.WriteHeader(http.StatusAccepted)
			answer := `"error":{"code":-32601,"message":"Method not found"}`
			if scan.String(scan.Get(body, "method")) == "initialize" {
				answer = `"result":{"protocolVersion":"2024-11-05","capabilities":{},"serverInfo":{"name":"s","version":"1"}}`
			}
			said <- fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,%s}`, scan.Get(body, "id"), answer)
		default:
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
	}))
	defer s.Close()
	if r := probe(t, s.URL+"/sse", 8*time.Second); r.Endpoint == nil || r.Endpoint.String() != "mcp+"+s.URL+"/sse" {
		t.Errorf("found %v", r.Endpoint)
	}
}
