package schemes

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/framing"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// typed sends the text of a request, and returns the whole response.
func typed(t *testing.T, l transport.Listener, request string) string {
	t.Helper()
	c := connect(t, l)
	io.WriteString(c, strings.ReplaceAll(request, "\n", "\r\n"))
	answer, err := io.ReadAll(c)
	testkit.OK(t, err)
	return string(answer)
}

// The guard accepts some of these requests and rejects the others.
func TestListenerGuard(t *testing.T) {
	noLeaks(t)
	const end = "Connection: close\n"
	post := func(path, host, more, body string) string {
		return fmt.Sprintf("POST %s HTTP/1.1\nHost: %s\n%s%sContent-Length: %d\n\n%s", path, host, end, more, len(body), body)
	}
	const js = "Content-Type: application/json; charset=utf-8\n"
	upgrade := func(host, more string) string {
		return "GET /rpc HTTP/1.1\nHost: " + host + "\nUpgrade: websocket\nConnection: Upgrade\n" +
			"Sec-WebSocket-Version: 13\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\n" + more + "\n" + masked(finClose, closing(1000, ""))
	}
	plain := transport.Config{Options: wire.Options{MaxMessage: 100}}
	origin := transport.Config{Listening: transport.Listening{AllowOrigin: []string{"https://app.example"}}}
	token := transport.Config{Listening: transport.Listening{Token: "s3cret"}}
	for name, tt := range map[string]struct {
		on     string
		c      transport.Config
		ask    string
		status int
		holds  string
	}{
		"a POST":                                 {"http://127.0.0.1:0/rpc", plain, post("/rpc", "localhost:1", js, "{}"), 200, "\r\n\r\n{}"},
		"with a query":                           {"http://127.0.0.1:0/rpc", plain, post("/rpc?x=1", "127.0.0.1", js, "{}"), 200, ""},
		"an IPv6 host":                           {"http://127.0.0.1:0/rpc", plain, post("/rpc", "[::1]:80", js, "{}"), 200, ""},
		"another path":                           {"http://127.0.0.1:0/rpc", plain, post("/rpc/", "localhost", js, "{}"), 404, ""},
		"a path below /":                         {"http://127.0.0.1:0/", plain, post("/rpc", "localhost", js, "{}"), 404, ""},
		"a foreign host name":                    {"http://127.0.0.1:0/rpc", plain, post("/rpc", "evil.example:80", js, "{}"), 403, "host"},
		"a host name that begins with localhost": {"http://127.0.0.1:0/rpc", plain, post("/rpc", "localhost.evil.example", js, "{}"), 403, ""},
		"a host name that ends with localhost":   {"http://127.0.0.1:0/rpc", plain, post("/rpc", "evillocalhost", js, "{}"), 403, "host"},
		"a host name below localhost":            {"http://127.0.0.1:0/rpc", plain, post("/rpc", "evil.localhost", js, "{}"), 403, "host"},
		"the host name in the listen address":    {"http://LocalHost:0/rpc", plain, post("/rpc", "localhost.", js, "{}"), 200, ""},
		"a wildcard address, any host name":      {"http://0.0.0.0:0/rpc", transport.Config{Listening: transport.Listening{Token: "t"}}, post("/rpc", "any.example", "Authorization: bearer t\n"+js, "{}"), 200, ""},
		"no Content-Type":                        {"http://127.0.0.1:0/rpc", plain, post("/rpc", "localhost", "", "{}"), 415, ""},
		"another Content-Type":                   {"http://127.0.0.1:0/rpc", plain, post("/rpc", "localhost", "Content-Type: text/plain\n", "{}"), 415, ""},
		"a body that is too large":               {"http://127.0.0.1:0/rpc", plain, post("/rpc", "localhost", js, strings.Repeat(" ", 101)), 413, "100"},
		"a chunked body that is too large":       {"http://127.0.0.1:0/rpc", plain, "POST /rpc HTTP/1.1\nHost: localhost\n" + end + js + "Transfer-Encoding: chunked\n\n65\n" + strings.Repeat(" ", 101) + "\n0\n\n", 413, ""},
		"a body of huge announced length":        {"http://127.0.0.1:0/rpc", plain, "POST /rpc HTTP/1.1\nHost: localhost\n" + end + js + "Content-Length: 9223372036854775807\n\n{", 413, "100"},
		"GET at a ws listener":                   {"ws://127.0.0.1:0/rpc", plain, "GET /rpc HTTP/1.1\nHost: localhost\n" + end + "\n", 426, "Upgrade: websocket"},
		"GET":                                    {"http://127.0.0.1:0/rpc", plain, "GET /rpc HTTP/1.1\nHost: localhost\n" + end + "\n", 405, "Allow: POST"},
		"a foreign origin":                       {"http://127.0.0.1:0/rpc", plain, post("/rpc", "localhost", "Origin: http://localhost\n"+js, "{}"), 403, "origin"},
		"the origin null":                        {"http://127.0.0.1:0/rpc", plain, post("/rpc", "localhost", "Origin: null\n"+js, "{}"), 403, ""},
		"an allowed origin":                      {"http://127.0.0.1:0/rpc", origin, post("/rpc", "localhost", "Origin: https://app.example\n"+js, "{}"), 200, "Access-Control-Allow-Origin: https://app.example"},
		"a longer name than the allowed origin":  {"http://127.0.0.1:0/rpc", origin, post("/rpc", "localhost", "Origin: https://app.example.evil\n"+js, "{}"), 403, ""},
		"two origins":                            {"http://127.0.0.1:0/rpc", origin, post("/rpc", "localhost", "Origin: https://app.example\nOrigin: http://evil\n"+js, "{}"), 403, ""},
		"any origin":                             {"http://127.0.0.1:0/rpc", transport.Config{Listening: transport.Listening{AllowOrigin: []string{"*"}}}, post("/rpc", "localhost", "Origin: null\n"+js, "{}"), 200, "Vary: Origin"},
		"a preflight request": {
			"http://127.0.0.1:0/rpc",
			transport.Config{Listening: transport.Listening{AllowOrigin: origin.AllowOrigin, Token: "t"}},
			"OPTIONS /rpc HTTP/1.1\nHost: localhost\n" + end + "Origin: https://app.example\nAccess-Control-Request-Method: POST\n\n", 204, "Access-Control-Allow-Methods: POST",
		},
		"a preflight request for MCP's headers": {
			"http://127.0.0.1:0/rpc", plain,
			"OPTIONS /rpc HTTP/1.1\nHost: localhost\n" + end + "Origin: http://127.0.0.1:PORT\nAccess-Control-Request-Method: POST\nAccess-Control-Request-Headers: content-type,mcp-session-id,mcp-protocol-version\n\n",
			204, "Mcp-Session-Id, MCP-Protocol-Version, Last-Event-ID",
		},
		"no token":                                  {"http://127.0.0.1:0/rpc", token, post("/rpc", "localhost", js, "{}"), 401, "Www-Authenticate: Bearer"},
		"a wrong token":                             {"http://127.0.0.1:0/rpc", token, post("/rpc", "localhost", "Authorization: Bearer s3cre\n"+js, "{}"), 401, ""},
		"the token as a password":                   {"http://127.0.0.1:0/rpc", token, post("/rpc", "localhost", "Authorization: Basic s3cret\n"+js, "{}"), 401, ""},
		"the token":                                 {"http://127.0.0.1:0/rpc", token, post("/rpc", "localhost", "Authorization: Bearer s3cret\n"+js, "{}"), 200, ""},
		"an upgrade":                                {"ws://127.0.0.1:0/rpc", plain, upgrade("localhost", ""), 101, ""},
		"an upgrade with the token":                 {"ws://127.0.0.1:0/rpc", token, upgrade("localhost", "Authorization: Bearer s3cret\n"), 101, ""},
		"an upgrade without the token":              {"ws://127.0.0.1:0/rpc", token, upgrade("localhost", end), 401, ""},
		"an upgrade from a foreign origin":          {"ws://127.0.0.1:0/rpc", plain, upgrade("localhost", end+"Origin: http://localhost\n"), 403, ""},
		"an upgrade from an allowed origin":         {"ws://127.0.0.1:0/rpc", origin, upgrade("localhost", "Origin: https://app.example\n"), 101, ""},
		"an upgrade with a foreign host name":       {"ws://127.0.0.1:0/rpc", plain, upgrade("evil.example", end), 403, ""},
		"a POST to a ws listener":                   {"ws://127.0.0.1:0/rpc", plain, post("/rpc", "localhost", js, "{}"), 200, "{}"},
		"an upgrade at an http listener":            {"http://127.0.0.1:0/rpc", plain, upgrade("localhost", ""), 101, ""},
		"a POST to a listener without POSTs":        {"ws://127.0.0.1:0/rpc", transport.Config{Listening: transport.Listening{NoPosts: true}}, post("/rpc", "localhost", js, "{}"), 426, "Upgrade: websocket"},
		"json-rpc":                                  {"http://127.0.0.1:0/rpc", plain, post("/rpc", "localhost", "Content-Type: application/json-rpc\n", "{}"), 200, ""},
		"the listener's own origin":                 {"http://127.0.0.1:0/rpc", plain, post("/rpc", "localhost", "Origin: http://127.0.0.1:PORT\n"+js, "{}"), 200, "Access-Control-Allow-Origin: http://127.0.0.1:"},
		"the listener's own origin by name":         {"ws://localhost:0/rpc", plain, upgrade("localhost", "Origin: http://LOCALHOST:PORT\n"), 101, ""},
		"the listener's own origin with https":      {"http://127.0.0.1:0/rpc", plain, post("/rpc", "localhost", "Origin: https://127.0.0.1:PORT\n"+js, "{}"), 403, ""},
		"the listener's own host with another port": {"http://127.0.0.1:0/rpc", plain, post("/rpc", "localhost", "Origin: http://127.0.0.1:1\n"+js, "{}"), 403, ""},
		"the origin of a foreign Host header":       {"http://0.0.0.0:0/rpc", transport.Config{Listening: transport.Listening{Token: "t"}}, post("/rpc", "evil.example:PORT", "Origin: http://evil.example:PORT\nAuthorization: Bearer t\n"+js, "{}"), 403, ""},
		"a subprotocol":                             {"ws://127.0.0.1:0/rpc", transport.Config{Subprotocols: []string{"b", "a"}}, upgrade("localhost", "Sec-WebSocket-Protocol: a, b\n"), 101, "Sec-Websocket-Protocol: b"},
	} {
		t.Run(name, func(t *testing.T) {
			l := listening(t, tt.on, tt.c)
			echo(t, l)
			_, port, _ := net.SplitHostPort(mustParse(t, l.Endpoint()).Host)
			got := typed(t, l, strings.ReplaceAll(tt.ask, "PORT", port))
			if !strings.HasPrefix(got, fmt.Sprintf("HTTP/1.1 %d ", tt.status)) || !strings.Contains(got, tt.holds) {
				t.Errorf("request %q\nresponse %q\nwant %d with %q", tt.ask, got, tt.status, tt.holds)
			}
		})
	}
}

// When the listener closes, idle keep-alive connections close, too.
func TestKeptConnectionsEndWithTheListener(t *testing.T) {
	noLeaks(t)
	l := listening(t, "http://127.0.0.1:0/rpc", transport.Config{})
	echo(t, l)
	c := connect(t, l)
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	io.WriteString(c, "POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
	answer := make([]byte, 0, 1000)
	for !strings.HasSuffix(string(answer), "\r\n\r\n{}") {
		n, err := c.Read(answer[len(answer):cap(answer)])
		if answer = answer[:len(answer)+n]; err != nil {
			t.Fatalf("%q: %v", answer, err)
		}
	}
	if strings.Contains(string(answer), "Connection: close") {
		t.Fatalf("the connection is not kept alive: %q", answer)
	}
	testkit.OK(t, l.Close())
	if n, err := c.Read(make([]byte, 1)); n > 0 || !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("after the listener closed: %d bytes, %v", n, err)
	}
}

// Warnings name rejected clients, and are summarised if there are many.
func TestRefusedAreNamed(t *testing.T) {
	noLeaks(t)
	var mu sync.Mutex
	var said []string
	l := listening(t, "http://127.0.0.1:0/rpc", transport.Config{Warn: func(s string) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, s)
	}})
	for range 20 {
		typed(t, l, "GET /rpc HTTP/1.1\nHost: localhost\nConnection: close\n\n")
	}
	mu.Lock()
	defer mu.Unlock()
	if len(said) < 1 || len(said) >= 20 || !strings.HasPrefix(said[0], "refused 127.0.0.1:") || !strings.Contains(said[0], ": 405, ") {
		t.Errorf("warnings: %q", said)
	}
}

func TestListenFaults(t *testing.T) {
	noLeaks(t)
	taken, tcp := listening(t, "http://127.0.0.1:0/", transport.Config{}), listening(t, "tcp://127.0.0.1:0", transport.Config{})
	ca := newAuthority(t)
	cert, key := ca.issue(time.Now().Add(time.Hour))
	server, mutual := transport.TLS{Cert: cert, Key: key}, transport.TLS{Cert: cert, Key: key, CACert: ca.File}
	token := transport.Config{Listening: transport.Listening{Token: "x"}}
	for name, tt := range map[string]struct {
		on    string
		c     transport.Config
		kind  wire.FaultKind // "" means success
		words []string
	}{
		"all interfaces without a token":          {"ws://0.0.0.0:0/", transport.Config{}, wire.Usage, []string{"--token", "--cacert", "--public"}},
		"an empty host":                           {"http://:0/", transport.Config{}, wire.Usage, []string{"--public"}},
		"all interfaces with --public":            {"ws://0.0.0.0:0/", transport.Config{Listening: transport.Listening{Public: true}}, "", nil},
		"all interfaces with a token":             {"http://:0/", transport.Config{Listening: transport.Listening{Token: "t"}}, "", nil},
		"all interfaces with client certificates": {"https://0.0.0.0:0/", transport.Config{TLS: transport.TLS{Cert: cert, Key: key, CACert: ca.File}}, "", nil},
		"ws with --cacert but no TLS":             {"ws://0.0.0.0:0/", transport.Config{TLS: transport.TLS{CACert: ca.File}}, wire.Usage, []string{"--token", "--cacert"}},
		"http with --cacert but no TLS":           {"http://0.0.0.0:0/", transport.Config{TLS: transport.TLS{CACert: ca.File}}, wire.Usage, []string{"--token", "--cacert"}},
		"no certificate":                          {"wss://127.0.0.1:0/", transport.Config{}, wire.Usage, []string{"--cert", "--key"}},
		"a key file that does not exist":          {"https://127.0.0.1:0/", transport.Config{TLS: transport.TLS{Cert: cert, Key: "nofile"}}, wire.Usage, []string{"nofile"}},
		"a file that is not the key":              {"https://127.0.0.1:0/", transport.Config{TLS: transport.TLS{Cert: cert, Key: ca.File}}, wire.Usage, nil},
		"the port is taken":                       {taken.Endpoint(), transport.Config{}, wire.Conflict, []string{"address already in use"}},
		"an unknown host name":                    {"ws://no-such-host.invalid:0/", transport.Config{}, wire.Unreachable, []string{"no-such-host.invalid"}},
		"a password":                              {"ws://u:p@127.0.0.1:0/", transport.Config{}, wire.Usage, []string{"--token"}},
		"a query":                                 {"ws://127.0.0.1:0/?a=b", transport.Config{}, wire.Usage, []string{"query"}},
		"a directory that does not exist":         {"ws+unix:/no/such/folder/s:/", transport.Config{}, wire.Unreachable, []string{"no such file"}},
		"tcp on all interfaces":                   {"tcp://0.0.0.0:0", transport.Config{}, wire.Usage, []string{"--public"}},
		"tcp with an empty host":                  {"tcp://:0", transport.Config{}, wire.Usage, []string{"--public"}},
		"tcp on all interfaces of IPv6":           {"tcp://[::]:0", transport.Config{}, wire.Usage, []string{"--public"}},
		"tcp with certificates":                   {"tcp://0.0.0.0:0", transport.Config{TLS: mutual}, wire.Usage, []string{"--public"}},
		"tls without client certificates":         {"tls://0.0.0.0:0", transport.Config{TLS: server}, wire.Usage, []string{"--public"}},
		"tls with client certificates":            {"tls://0.0.0.0:0", transport.Config{TLS: mutual}, "", nil},
		"tcp with --public":                       {"tcp://0.0.0.0:0", transport.Config{Listening: transport.Listening{Public: true}}, "", nil},
		"another loopback address":                {"tcp://127.0.0.2:0", transport.Config{}, "", nil},
		"tls without a certificate":               {"tls://127.0.0.1:0", transport.Config{}, wire.Usage, []string{"--cert"}},
		"tcp with a token":                        {"tcp://127.0.0.1:0", token, wire.Usage, []string{"token"}},
		"a Unix socket with a token":              {"unix:" + socketPath(t), token, wire.Usage, []string{"token"}},
		"stdio with a token":                      {"stdio:", token, wire.Usage, []string{"token"}},
		"exec":                                    {"exec:cat", transport.Config{}, wire.Usage, []string{"cannot listen on"}},
		"ping":                                    {"http://127.0.0.1:0/", transport.Config{Ping: time.Second}, wire.Usage, []string{"--ping does not apply"}},
		"ipc without a parent":                    {"ipc:", transport.Config{}, wire.Usage, []string{"NODE_CHANNEL_FD is not set"}},
		"ipc with a token":                        {"ipc:", token, wire.Usage, []string{"token"}},
		"all interfaces of IPv6 with --public":    {"tcp://[::]:0", transport.Config{Listening: transport.Listening{Public: true}}, "", nil},
		"the port of tcp is taken":                {tcp.Endpoint(), transport.Config{}, wire.Conflict, []string{"in use"}},
	} {
		t.Run(name, func(t *testing.T) {
			tt.c.Framing = framing.Line
			l, err := Listen(t.Context(), mustParse(t, tt.on), tt.c)
			if tt.kind != "" {
				wantFault(t, err, tt.kind, tt.words...)
				return
			}
			testkit.OK(t, err)
			if host := mustParse(t, l.Endpoint()).Host; !strings.HasPrefix(host, map[bool]string{false: "127.0.0.", true: "[::1]:"}[strings.Contains(tt.on, "::")]) || strings.HasSuffix(host, ":0") {
				t.Errorf("the endpoint is %q", l.Endpoint())
			}
			l.Close()
		})
	}
}

func TestListenerCloseLeavesConnections(t *testing.T) {
	noLeaks(t)
	l := listening(t, "ws://127.0.0.1:0/", transport.Config{})
	c := dialed(t, l.Endpoint(), transport.Config{})
	far := mustAccept(t, l)
	unused := connect(t, l)
	errs := make(chan error, 1)
	go func() { _, err := l.Accept(); errs <- err }()
	l.Close()
	l.Close()
	if err := <-errs; err != net.ErrClosed {
		t.Errorf("Accept: %v", err)
	}
	testkit.OK(t, far.Send([]byte("1")))
	wantRecv(t, c, "1")
	if n, err := unused.Read(make([]byte, 1)); err == nil {
		t.Errorf("%d bytes on a connection without a request", n)
	}
	if _, err := Dial(t.Context(), mustParse(t, l.Endpoint()), transport.Config{}); err == nil {
		t.Error("the closed listener accepts a connection")
	}
	go far.Recv()
	c.Close()
	far.Close()

	h := listening(t, "http://127.0.0.1:0/", transport.Config{})
	p, answers, _ := posts(t, h, both)
	h.Close()
	p.Send([]byte(`{"id":1,"result":2}`))
	p.Close()
	resp := <-answers
	if body, _ := io.ReadAll(resp.Body); string(body) != `{"id":1,"result":2}` {
		t.Errorf("%q", body)
	}
	resp.Body.Close()
}

// rpcx is both client and server, over a Unix socket.
func TestHTTPOverUnixSocket(t *testing.T) {
	noLeaks(t)
	path := socketPath(t)
	l := listening(t, "http+unix:"+path, transport.Config{})
	if want := "http+unix:" + path + ":/"; l.Endpoint() != want {
		t.Errorf("Endpoint %q, want %q", l.Endpoint(), want)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			msg, _ := c.Recv()
			for i := range 3 {
				c.Send(fmt.Appendf(nil, `{"n":%d,"of":%s}`, i, msg))
			}
			c.Close()
		}
	})
	c := dialed(t, l.Endpoint(), transport.Config{})
	big := `"` + strings.Repeat("x", 20<<20) + `"`
	for _, msg := range []string{"7", big} {
		got, err := exchange(t, c, msg)
		want := []string{`{"n":0,"of":` + msg + `}`, `{"n":1,"of":` + msg + `}`, `{"n":2,"of":` + msg + `}`}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%d messages, %v", len(got), err)
		}
	}
	c.Close()
	l.Close()
	wg.Wait()
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
