package schemes

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"rpcx/wire"
	"rpcx/wire/transport"
)

// DELETE ends a session once, if the dialect uses it and the server has named the session.
func TestHTTPSessionIsEndedByDelete(t *testing.T) {
	for _, c := range []struct {
		session string // the server's session id
		says    bool   // the dialect ends sessions with DELETE
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
		a, err := transport.Parse(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := Dial(t.Context(), a, transport.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if c.says {
			conn.(wire.HTTPSession).EndByDelete()
		}
		if err := conn.(wire.Exchanger).Exchange(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"method":"m"}`), func([]byte) {}); err != nil {
			t.Error(err)
		}
		for range 2 {
			if err := conn.Close(); err != nil {
				t.Error(err)
			}
		}
		server.Close()
		if got := deletes.Load(); got != c.deletes {
			t.Errorf("%+v: %d times DELETE", c, got)
		}
	}
}
