package transport

import (
	"net/http"
	"testing"

	"rpcx/wire"
)

// A header that would go nowhere is refused, and not dropped: it may be a token.
func TestHeadersWithoutHTTP(t *testing.T) {
	noLeaks(t)
	for _, at := range []string{"tcp://127.0.0.1:1", "tls://127.0.0.1:1", "unix:/no/such", "exec:cat", "ipc:cat"} {
		_, err := dial(t.Context(), at, Config{Header: http.Header{"Authorization": {"Bearer t"}}})
		wantFault(t, err, wire.Usage, "has no headers", "ws, wss, http, https")
	}
}
