package schemes

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/framing"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// The peer of an accept+ endpoint can send half of a message first. A client that sends anything else is rejected.
func TestAwaitReadsHalfMessages(t *testing.T) {
	for _, c := range []struct{ framing, other, half, rest string }{
		{"line", "GET / HTTP/1.1\r\n", `{"id":`, "1}\n"},
		{"header", "GET / HTTP/1.1\r\n\r\n", "Content-Length: 8\r\n\r\n{\"id", `":1}`},
		{"header", "", "Content-Length: 8\r\nContent-", "Type: a/b\r\n\r\n{\"id\":1}"},
		{"header", "Contact", "Content-Le", "ngth: 8\r\n\r\n{\"id\":1}"},
		{"nul", "GET / HTTP/1.1\r\n", `{"id":`, "1}\x00"},
		{"netstring", "GET / HTTP/1.1\r\n", `8:{"id`, `":1},`},
		{"varint", "", "\x08{\"id", `":1}`},
		{"concat", "GET / HTTP/1.1\r\n", `{"id":`, "1}"},
	} {
		t.Run(c.framing, func(t *testing.T) {
			f, ok := framing.ByName(c.framing)
			if !ok {
				t.Fatal("unknown framing")
			}
			a, err := transport.Parse("tcp://127.0.0.1:0")
			testkit.OK(t, err)
			at, accepted, failed := make(chan string, 1), make(chan wire.Conn, 1), make(chan error, 1)
			go func() {
				ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
				defer cancel()
				conn, err := Await(ctx, a, transport.Config{Framing: f}, func(endpoint string) error { at <- endpoint; return nil })
				accepted <- conn
				failed <- err
			}()
			bound, err := transport.Parse(<-at)
			testkit.OK(t, err)
			dial := func(words string) net.Conn {
				conn, err := net.Dial("tcp", bound.Host)
				testkit.OK(t, err)
				t.Cleanup(func() { conn.Close() })
				_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
				if _, err := io.WriteString(conn, words); err != nil {
					t.Fatal(err)
				}
				return conn
			}
			if c.other != "" {
				if n, err := dial(c.other).Read(make([]byte, 1)); n > 0 || err == nil {
					t.Error("a client with other data got a response")
				}
			}
			far := dial(c.half)
			conn, err := <-accepted, <-failed
			testkit.OK(t, err)
			defer conn.Close()
			if _, err := io.WriteString(far, c.rest); err != nil {
				t.Fatal(err)
			}
			wantRecv(t, conn, `{"id":1}`)
		})
	}
}

// Headers that cannot be sent are rejected and not dropped, because they may contain a token. The same applies to keep-alive.
func TestHeadersWithoutHTTP(t *testing.T) {
	noLeaks(t)
	for _, at := range []string{"tcp://127.0.0.1:1", "tls://127.0.0.1:1", "unix:/no/such", "exec:cat", "ipc:cat"} {
		_, err := dial(t.Context(), at, transport.Config{Header: http.Header{"Authorization": {"Bearer t"}}})
		wantFault(t, err, wire.Usage, "do not apply", "ws, wss, http, https")
	}
	for _, at := range []string{"http://127.0.0.1:1/", "unix:/no/such", "exec:cat"} {
		_, err := dial(t.Context(), at, transport.Config{Ping: time.Second})
		wantFault(t, err, wire.Usage, "--ping does not apply", "ws, wss, ws+unix, tcp and tls")
	}
}

func TestAbilitiesOfTransports(t *testing.T) {
	for scheme, c := range map[string]struct{ pings, headers bool }{
		"ws": {true, true}, "wss": {true, true}, "ws+unix": {true, true}, "http": {false, true}, "https": {false, true}, "http+unix": {false, true},
		"tcp": {true, false}, "tls": {true, false}, "unix": {}, "exec": {}, "ipc": {}, "stdio": {}, "carrier-pigeon": {},
	} {
		a := transport.Address{Scheme: scheme}
		if Pings(a) != c.pings || TakesHeaders(a) != c.headers {
			t.Errorf("%s: kept alive %v, headers %v", scheme, Pings(a), TakesHeaders(a))
		}
	}
	a := transport.Address{Scheme: "carrier-pigeon"}
	_, dialErr := Dial(t.Context(), a, transport.Config{})
	_, listenErr := Listen(t.Context(), a, transport.Config{})
	for _, err := range []error{dialErr, listenErr} {
		wantFault(t, err, wire.Usage, "carrier-pigeon: rpcx cannot ")
	}
}
