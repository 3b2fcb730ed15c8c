package schemes

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"rpcx/wire"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

func TestUpgradeRefused(t *testing.T) {
	noLeaks(t)
	for _, tt := range []struct {
		status int
		body   string
		kind   wire.FaultKind
		words  []string
	}{
		{401, "token expired\nat line 7", wire.Auth, []string{"401 Unauthorized: token expired"}},
		{403, "", wire.Auth, []string{"403 Forbidden"}},
		{407, "who are you", wire.Auth, []string{"407", "who are you"}},
		{404, "<html>", wire.Unreachable, []string{"404 Not Found: <html>", "refused the upgrade"}},
		{200, "hello", wire.Unreachable, []string{"200 OK: hello"}},
		{503, strings.Repeat("x", 5000), wire.Unreachable, []string{"503", "xxx…"}},
		{500, "\x1b[31mred\x07", wire.Unreachable, []string{": [31mred"}},
	} {
		t.Run(fmt.Sprint(tt.status), func(t *testing.T) {
			addr := rawServer(t, func(c net.Conn, _ *bufio.Reader, _ *http.Request) {
				fmt.Fprintf(c, "HTTP/1.1 %d %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
					tt.status, http.StatusText(tt.status), len(tt.body), tt.body)
			})
			_, err := Dial(t.Context(), mustParse(t, "ws://user:secret@"+addr+"/x?key=hidden"), transport.Config{})
			f := wantFault(t, err, tt.kind, tt.words...)
			if f.HTTP == nil || f.HTTP.Status != tt.status || f.HTTP.Body != tt.body[:min(len(tt.body), 1024)] {
				t.Errorf("http: %+v", f.HTTP)
			}
			if s := f.Error(); strings.Contains(s, "secret") || strings.Contains(s, "hidden") || strings.ContainsAny(s, "\n\x1b") {
				t.Errorf("the message is %q", s)
			}
		})
	}
}

func TestWSRequest(t *testing.T) {
	noLeaks(t)
	got := make(chan *http.Request, 1)
	addr := rawServer(t, func(c net.Conn, r *bufio.Reader, req *http.Request) {
		got <- req
		io.WriteString(c, switching(req, "")+frame(finClose, closing(1000, "")))
		readFrame(r)
	})
	c := dialed(t, "ws://us%20er:p%40ss@"+addr+"/a%2Fb?q=1&r=%20", transport.Config{Header: http.Header{
		"Cookie": {"a=1, b=2; c=3"}, "X-Two": {"one, two", "three"}, "Host": {"elsewhere.example"},
	}})
	defer c.Close()
	req := <-got
	if u, p, _ := req.BasicAuth(); u != "us er" || p != "p@ss" {
		t.Errorf("user %q password %q", u, p)
	}
	if req.RequestURI != "/a%2Fb?q=1&r=%20" || req.Host != "elsewhere.example" {
		t.Errorf("uri %q host %q", req.RequestURI, req.Host)
	}
	if h := req.Header; h.Get("Cookie") != "a=1, b=2; c=3" || strings.Join(h["X-Two"], "|") != "one, two|three" {
		t.Errorf("headers %q", h)
	}
	testkit.Expect(t, "the extensions that are offered", req.Header.Get("Sec-Websocket-Extensions"), "")
}

func TestWSRedirect(t *testing.T) {
	noLeaks(t)
	l := listening(t, "ws://127.0.0.1:0/rpc", transport.Config{})
	for _, status := range []string{"302 Found", "307 Temporary Redirect"} {
		addr := rawServer(t, func(c net.Conn, _ *bufio.Reader, _ *http.Request) {
			io.WriteString(c, "HTTP/1.1 "+status+"\r\nLocation: "+strings.Replace(l.Endpoint(), "ws:", "http:", 1)+"\r\nContent-Length: 0\r\n\r\n")
		})
		_, err := dial(t.Context(), "ws://"+addr, transport.Config{})
		wantFault(t, err, wire.Unreachable, status, "to "+l.Endpoint(), "does not follow")
	}
}

// Redirects are followed within one origin.
func TestWSRedirectWithin(t *testing.T) {
	noLeaks(t)
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/rpc", http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/rpc", func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		ws.Close(websocket.StatusNormalClosure, "here")
	})
	s := httptest.NewServer(mux)
	defer s.Close()
	c := dialed(t, strings.Replace(s.URL, "http:", "ws:", 1), transport.Config{})
	_, err := c.Recv()
	var ce *wire.CloseError
	if !errors.As(err, &ce) || ce.Reason != "here" {
		t.Errorf("%v", err)
	}
	c.Close()
}

// nobody returns an address on which nothing listens.
func nobody(t *testing.T) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.OK(t, err)
	defer ln.Close()
	return ln.Addr().String()
}

func TestDialFaults(t *testing.T) {
	noLeaks(t)
	cert, _, _ := certified(t)
	secured := listening(t, "tls://127.0.0.1:0", transport.Config{TLS: cert})
	plain := listening(t, "tcp://127.0.0.1:0", transport.Config{})
	echo(t, plain)
	file := filepath.Join(t.TempDir(), "file")
	testkit.OK(t, os.WriteFile(file, nil, 0o600))
	silent, err := net.Listen("tcp", "127.0.0.1:0") // the system accepts connections, but no program does
	testkit.OK(t, err)
	defer silent.Close()
	mute := silent.Addr().String()
	answers := func(text string) string {
		return "ws://" + rawServer(t, func(c net.Conn, _ *bufio.Reader, _ *http.Request) { io.WriteString(c, text) })
	}
	extended := "ws://" + rawServer(t, func(c net.Conn, r *bufio.Reader, req *http.Request) {
		io.WriteString(c, switching(req, "Sec-WebSocket-Extensions: permessage-deflate\r\n"))
		io.Copy(io.Discard, r)
	})
	rude := strings.TrimPrefix(answers(""), "ws://")
	for name, tt := range map[string]struct {
		to    string
		kind  wire.FaultKind
		words []string
	}{
		"refused":                                {"ws://" + nobody(t) + "/?k=hidden", wire.Unreachable, []string{"connection refused", "127.0.0.1"}},
		"an unknown host name":                   {"ws://no-such-chunked.invalid/", wire.Unreachable, []string{"no-such-chunked.invalid"}},
		"silent":                                 {"ws://" + mute, wire.Unreachable, []string{"no response within 300ms", "--connect-timeout", mute}},
		"silent TLS":                             {"wss://" + mute, wire.Unreachable, []string{"no response within 300ms"}},
		"closed without a response":              {"ws://" + rude, wire.Unreachable, []string{"closed the connection"}},
		"not HTTP":                               {answers("{\"jsonrpc\": \"2.0\"}\n"), wire.Protocol, []string{": the response is not valid HTTP: malformed HTTP status code"}},
		"an extension":                           {extended, wire.Protocol, []string{"ws://", "the server chose the extension permessage-deflate, which rpcx does not use"}},
		"a response that is cut off":             {answers("HTTP/1"), wire.Unreachable, []string{"closed the connection"}},
		"no socket":                              {"ws+unix:/no/such/socket", wire.Unreachable, []string{"no such socket"}},
		"a certificate file that does not exist": {"wss://" + rude, wire.Usage, []string{"--cacert", "nofile"}},
		"http refused":                           {"http://" + nobody(t) + "/?k=hidden", wire.Unreachable, []string{"connection refused", "127.0.0.1"}},
		"http to an unknown host name":           {"http://no-such-host.invalid/", wire.Unreachable, []string{"no-such-host.invalid"}},
		"no socket of http":                      {"http+unix:/no/such/socket", wire.Unreachable, []string{"no such socket"}},
		"silent https":                           {"https://" + mute + "/", wire.Unreachable, []string{"no response within 300ms"}},
		"tcp refused":                            {"tcp://" + nobody(t), wire.Unreachable, []string{"refused"}},
		"tcp to an unknown host name":            {"tcp://no.such.host.invalid:1", wire.Unreachable, []string{"no.such.host.invalid"}},
		"port 0":                                 {"tcp://127.0.0.1:0", wire.Usage, []string{"port 0"}},
		"no Unix socket":                         {"unix:" + file + "x", wire.Unreachable, []string{"no such socket"}},
		"a file that is not a socket":            {"unix:" + file, wire.Unreachable, []string{"refused"}},
		"a path that is too long":                {"unix:/" + strings.Repeat("x", 200), wire.Usage, []string{"201"}},
		"silent tls":                             {"tls://" + mute, wire.Unreachable, []string{"no response within 300ms"}},
		"tls with an unknown authority":          {secured.Endpoint(), wire.Unreachable, []string{"unknown authority"}},
		"tls to tcp":                             {strings.Replace(plain.Endpoint(), "tcp", "tls", 1), wire.Unreachable, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := transport.Config{ConnectTimeout: enough(tt.words...)}
			if slices.Contains(tt.words, "nofile") {
				c.TLS.CACert = "nofile"
			}
			_, err := roundTrip(t, tt.to, c)
			f := wantFault(t, err, tt.kind, tt.words...)
			if strings.Contains(f.Error(), "hidden") {
				t.Errorf("the message is %q", f.Error())
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, to := range []string{"ws://" + mute, plain.Endpoint()} {
		_, err := dial(ctx, to, transport.Config{})
		wantFault(t, err, wire.Unreachable, "stopped connecting")
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s, cancelled: the error does not wrap context.Canceled: %v", to, err)
		}
	}
}

func TestTLS(t *testing.T) {
	noLeaks(t)
	ca, other := newAuthority(t), newAuthority(t)
	cert, key := ca.issue(time.Now().Add(time.Hour))
	old, oldKey := ca.issue(time.Now().Add(-time.Hour))
	strange, strangeKey := other.issue(time.Now().Add(time.Hour))
	server := transport.TLS{Cert: cert, Key: key}
	closedTo := transport.TLS{Cert: cert, Key: key, CACert: ca.File}
	for name, tt := range map[string]struct {
		server, client transport.TLS
		host           string
		kind           wire.FaultKind // "" means success
		words          []string
		warned         bool
	}{
		"with the server's authority": {server: server, client: transport.TLS{CACert: ca.File}},
		"with a host name":            {server: server, client: transport.TLS{CACert: ca.File}, host: "localhost"},
		"unknown authority":           {server: server, kind: wire.Unreachable, words: []string{"unknown authority", "--cacert", "--insecure"}},
		"insecure":                    {server: server, client: transport.TLS{Insecure: true}, warned: true},
		"expired":                     {server: transport.TLS{Cert: old, Key: oldKey}, client: transport.TLS{CACert: ca.File}, kind: wire.Unreachable, words: []string{"expired"}},
		"client certificate":          {server: closedTo, client: transport.TLS{CACert: ca.File, Cert: cert, Key: key}},
		"no client certificate":       {server: closedTo, client: transport.TLS{CACert: ca.File}, kind: wire.Auth, words: []string{"client certificate", "--cert"}},
		"a client certificate of another authority": {server: closedTo, client: transport.TLS{CACert: ca.File, Cert: strange, Key: strangeKey}, kind: wire.Auth, words: []string{"certificate"}},
		"a key without a certificate":               {server: server, client: transport.TLS{Key: key}, kind: wire.Usage, words: []string{"--cert"}},
		"not PEM":                                   {server: server, client: transport.TLS{CACert: key}, kind: wire.Usage, words: []string{"no PEM certificate"}},
	} {
		for _, scheme := range []string{"wss", "https", "tls"} {
			if scheme == "tls" && tt.kind == wire.Auth {
				continue // see TestTLSClientCertificates
			}
			t.Run(scheme+" "+name, func(t *testing.T) {
				l := listening(t, scheme+"://127.0.0.1:0", transport.Config{TLS: tt.server})
				echo(t, l)
				var warned lockedBuffer
				to := l.Endpoint()
				if tt.host != "" {
					to = strings.Replace(to, "127.0.0.1", tt.host, 1)
				}
				msg, err := roundTrip(t, to, transport.Config{TLS: tt.client, Warn: warned.warn})
				if tt.kind == "" && (err != nil || msg != `{"id":1,"result":2}`) {
					t.Errorf("%q %v", msg, err)
				}
				if tt.kind != "" {
					wantFault(t, err, tt.kind, tt.words...)
				}
				testkit.Expect(t, "warnings: "+warned.String(), strings.Contains(warned.String(), "not verified"), tt.warned)
			})
		}
	}
	t.Run("a server without TLS", func(t *testing.T) {
		l := listening(t, "ws://127.0.0.1:0/", transport.Config{})
		_, err := roundTrip(t, "wss"+strings.TrimPrefix(l.Endpoint(), "ws"), transport.Config{})
		wantFault(t, err, wire.Unreachable, "does not use TLS")
	})
}

// roundTrip dials, and sends one message to an echo server.
func roundTrip(t *testing.T, to string, c transport.Config) (string, error) {
	t.Helper()
	conn, err := dial(t.Context(), to, c)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	msg := []byte(`{"id":1,"result":2}`)
	if e, ok := conn.(wire.Exchanger); ok {
		var got string
		err := e.Exchange(t.Context(), msg, func(b []byte) { got += string(b) })
		return got, err
	}
	if err := conn.Send(msg); err != nil {
		return "", err
	}
	got, err := conn.Recv()
	return string(got), err
}

func TestWSSubprotocols(t *testing.T) {
	noLeaks(t)
	for name, tt := range map[string]struct {
		offer  []string
		header http.Header
		warned bool
		fails  bool
		picks  string
	}{
		"accepted":                          {offer: []string{"a.v1", "b"}, picks: "b"},
		"none accepted":                     {offer: []string{"a.v1"}, warned: true},
		"none offered":                      {},
		"offered in a header":               {header: http.Header{"Sec-Websocket-Protocol": {"x, y"}}, picks: "y"},
		"accepted one that was not offered": {offer: []string{"a.v1"}, picks: "z", fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			offered := make(chan string, 1)
			addr := rawServer(t, func(c net.Conn, r *bufio.Reader, req *http.Request) {
				offered <- strings.Join(req.Header["Sec-Websocket-Protocol"], "|")
				extra := ""
				if tt.picks != "" {
					extra = "Sec-WebSocket-Protocol: " + tt.picks + "\r\n"
				}
				io.WriteString(c, switching(req, extra))
				if !tt.fails {
					readFrame(r)
				}
			})
			var warned lockedBuffer
			c, err := Dial(t.Context(), mustParse(t, "ws://"+addr), transport.Config{
				Subprotocols: tt.offer, Header: tt.header, Warn: warned.warn, CloseTimeout: 50 * time.Millisecond,
			})
			if tt.fails {
				wantFault(t, err, wire.Protocol, "handshake", "z")
				return
			}
			testkit.OK(t, err)
			c.Close()
			want := strings.Join(tt.offer, ",")
			if tt.header != nil {
				want = "x,y"
			}
			testkit.Expect(t, "offered", <-offered, want)
			testkit.Expect(t, "warnings: "+warned.String(), warned.String() != "", tt.warned)
		})
	}
}
