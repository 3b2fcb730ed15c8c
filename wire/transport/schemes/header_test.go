package schemes

import (
	"net/http"
	"testing"

	"rpcx/wire"
	"rpcx/wire/transport"
)

// Headers that cannot be sent are rejected, not dropped: one may be a token.
func TestHeadersWithoutHTTP(t *testing.T) {
	noLeaks(t)
	for _, at := range []string{"tcp://127.0.0.1:1", "tls://127.0.0.1:1", "unix:/no/such", "exec:cat", "ipc:cat"} {
		_, err := dial(t.Context(), at, transport.Config{Header: http.Header{"Authorization": {"Bearer t"}}})
		wantFault(t, err, wire.Usage, "do not apply", "ws, wss, http, https")
	}
}

func TestWhatTransportsCan(t *testing.T) {
	for scheme, c := range map[string]struct{ pings, headers bool }{
		"ws": {true, true}, "wss": {true, true}, "ws+unix": {true, true}, "http": {false, true}, "https": {false, true}, "http+unix": {false, true},
		"tcp": {true, false}, "tls": {true, false}, "unix": {}, "exec": {}, "ipc": {}, "stdio": {}, "carrier-pigeon": {},
	} {
		a := transport.Address{Scheme: scheme}
		if Pings(a) != c.pings || TakesHeaders(a) != c.headers {
			t.Errorf("%s: kept alive %v, headers %v", scheme, Pings(a), TakesHeaders(a))
		}
	}
}
