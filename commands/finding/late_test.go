package finding

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/framing"
	"rpcx/wire/scan"
)

// A server that does not respond to POST requests, such as Chromium, gives its WebSocket URL in a response to GET.
func TestPostsWithoutAResponse(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /json/version", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"webSocketDebuggerUrl":"ws://`+r.Host+`/devtools/browser/b"}`)
	})
	mux.HandleFunc("POST /", func(http.ResponseWriter, *http.Request) { <-done })
	s := httptest.NewServer(mux)
	t.Cleanup(func() { close(done); s.Close() })
	if r := probe(t, s.URL+"/", 6*time.Second); r.Endpoint == nil || r.Endpoint.Dialect != "cdp" {
		t.Errorf("found %v", r.Endpoint)
	}
}

// rpcx recognises a language server that needs a second for initialize, although it responds to other requests at once.
func TestALateHandshakeIsRecognised(t *testing.T) {
	t.Parallel()
	at := raw(t, func(c net.Conn) {
		in := framing.Header(c, wire.Options{})
		for {
			msg, err := in.Recv()
			if err != nil {
				return
			}
			id := bytes.Clone(scan.Get(msg, "id"))
			if !bytes.Contains(msg, []byte(`"initialize"`)) {
				_ = in.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, id))
				continue
			}
			answer := func() {
				_ = in.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"capabilities":{"hoverProvider":true},"serverInfo":{"name":"late"}}}`, id))
			}
			time.AfterFunc(time.Second, answer)
		}
	})
	if r := probe(t, at, 8*time.Second); r.Endpoint == nil || r.Endpoint.Dialect != "lsp" {
		t.Errorf("found %v", r.Endpoint)
	}
}
