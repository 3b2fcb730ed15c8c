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
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"rpcx/wire"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

func exchange(t *testing.T, c wire.Conn, msg string) ([]string, error) {
	t.Helper()
	var got []string
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	err := c.(wire.Exchanger).Exchange(ctx, []byte(msg), func(b []byte) { got = append(got, string(b)) })
	return got, err
}

func TestHTTPAnswers(t *testing.T) {
	noLeaks(t)
	isFault := func(kind wire.FaultKind, words ...string) func(*testing.T, error) {
		return func(t *testing.T, err error) { t.Helper(); wantFault(t, err, kind, words...) }
	}
	head := func(status int, media string) string {
		if media != "" {
			media = "Content-Type: " + media + "\r\n"
		}
		return fmt.Sprintf("HTTP/1.1 %d %s\r\n%s", status, http.StatusText(status), media)
	}
	fixed := func(status int, media, body string) string {
		return head(status, media) + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	chunked := func(status int, media string, pieces ...string) string {
		s := head(status, media) + "Transfer-Encoding: chunked\r\n\r\n"
		for _, p := range pieces {
			s += fmt.Sprintf("%x\r\n%s\r\n", len(p), p)
		}
		return s
	}
	const end = "0\r\n\r\n"
	big := strings.Repeat("x", 2000)
	for name, tt := range map[string]struct {
		answer string
		want   []string
		fails  func(*testing.T, error)
		hold   bool // the server keeps the connection open after the response
	}{
		"JSON":                                   {answer: fixed(200, "application/json", `{"id":1}`), want: []string{`{"id":1}`}},
		"JSON with spaces and a byte order mark": {answer: fixed(200, "application/json; charset=utf-8", "\xEF\xBB\xBF {\"id\":1}\r\n"), want: []string{`{"id":1}`}},
		"JSON until the connection closes":       {answer: head(200, "application/json") + "\r\n[1]", want: []string{`[1]`}},
		"JSON in chunks":                         {answer: chunked(200, "application/json-rpc", `{"i`, `d":1}`) + end, want: []string{`{"id":1}`}},
		"JSON as text/plain":                     {answer: fixed(200, "text/plain", `{"id":1}`), want: []string{`{"id":1}`}},
		"JSON without a Content-Type":            {answer: fixed(200, "", `{"id":1}`), want: []string{`{"id":1}`}},
		"broken JSON":                            {answer: fixed(200, "application/json", `{"id":`), want: []string{`{"id":`}}, // the codec reports the error
		"accepted":                               {answer: fixed(202, "", "")},
		"accepted with text":                     {answer: fixed(202, "text/plain", "Accepted")},
		"304":                                    {answer: head(304, "") + "\r\n", fails: isFault(wire.Unreachable, "304 Not Modified")},
		"204":                                    {answer: head(204, "") + "\r\n"},
		"empty":                                  {answer: fixed(200, "application/json", "")},
		"an HTML page":                           {answer: fixed(200, "text/html", "<h1>hello</h1>\n"), fails: isFault(wire.Protocol, "text/html", "<h1>hello")},
		"events":                                 {answer: chunked(200, "text/event-stream", "data: 1\n\nda", "ta: 2\n\n") + end, want: []string{"1", "2"}},
		"events, mixed case":                     {answer: chunked(200, "Text/Event-Stream;charset=UTF-8", "data: 1\n\n") + end, want: []string{"1"}},
		"lines":                                  {answer: fixed(200, "application/x-ndjson", "{\"a\":1}\r\n\n[2]"), want: []string{`{"a":1}`, "[2]"}},
		"events that are cut off":                {answer: chunked(200, "text/event-stream", "data: 1\n\n", "data: 2"), want: []string{"1"}, fails: isFault(wire.Closed, "connection in the middle")},
		"a body that is cut off":                 {answer: head(200, "application/json") + "Content-Length: 100\r\n\r\n{", fails: isFault(wire.Closed, "connection in the middle")},
		"closed without a response":              {answer: "", fails: isFault(wire.Closed, "without a response")},
		"not HTTP":                               {answer: "SSH-2.0-OpenSSH_9.9\r\n", fails: isFault(wire.Protocol, `: the response is not valid HTTP: malformed HTTP response "SSH-2.0-OpenSSH_9.9"`)},
		"two lengths":                            {answer: head(200, "application/json") + "Content-Length: 5\r\nContent-Length: 36\r\n\r\n", fails: isFault(wire.Protocol, ": the response is not valid HTTP: message cannot contain multiple Content-Length headers")},
		"endless headers":                        {answer: head(200, "") + strings.Repeat("X: "+strings.Repeat("x", 1000)+"\r\n", 1100), fails: isFault(wire.Protocol, "headers exceeded")},
		"endless interim responses":              {answer: strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 40000), fails: isFault(wire.Protocol, "headers exceeded")},
		"a head that is cut off":                 {answer: head(200, "application/json"), fails: isFault(wire.Closed, "connection in the middle")},
		"401":                                    {answer: fixed(401, "text/plain", "token expired\n"), fails: isFault(wire.Auth, "401 Unauthorized: token expired")},
		"403 in JSON":                            {answer: fixed(403, "application/json", `{"error":"no"}`), fails: isFault(wire.Auth, "403")},
		"403 with a JSON-RPC error without an id": {answer: fixed(403, "application/json", `{"error":{"code":403,"message":"no"}}`), fails: isFault(wire.Auth, "403")},
		"407":                               {answer: fixed(407, "", ""), fails: isFault(wire.Auth, "407")},
		"404":                               {answer: fixed(404, "text/plain", "no such page"), fails: isFault(wire.Unreachable, "404 Not Found: no such page")},
		"502":                               {answer: fixed(502, "text/html", "<html>"), fails: isFault(wire.Unreachable, "502 Bad Gateway: <html>")},
		"500 with a response":               {answer: fixed(500, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-1}}`), want: []string{`{"jsonrpc":"2.0","id":1,"error":{"code":-1}}`}},
		"401 with a response":               {answer: fixed(401, "application/json", `{"result":null,"error":{"code":-1},"id":1}`), fails: isFault(wire.Auth, "401")},
		"400 with a batch":                  {answer: fixed(400, "application/json", `[{"jsonrpc":"2.0","id":1,"error":{}}]`), want: []string{`[{"jsonrpc":"2.0","id":1,"error":{}}]`}},
		"400 with an error without an id":   {answer: fixed(400, "application/json", `{"error":{"code":-32700,"message":"parse"}}`), want: []string{`{"error":{"code":-32700,"message":"parse"}}`}},
		"500 with other JSON":               {answer: fixed(500, "application/json", `{"message":"oops"}`), fails: isFault(wire.RPCError, "500", "oops")},
		"500 with incomplete JSON":          {answer: fixed(500, "application/json", `{"jsonrpc":"2.0","id":1,"error":{`), fails: isFault(wire.RPCError, "500")},
		"500 with an incomplete batch":      {answer: fixed(500, "application/json", `[{"jsonrpc":"2.0","id":1,"error":{}`), fails: isFault(wire.RPCError, "500")},
		"500 with text":                     {answer: fixed(500, "text/plain", `{"jsonrpc":"2.0"}`), fails: isFault(wire.RPCError, "500")},
		"500 with an incomplete body":       {answer: head(500, "text/html") + "Content-Length: 100\r\n\r\n<h1>oops", hold: true, fails: isFault(wire.RPCError, "500", "<h1>oops")},
		"500 with a response as text/plain": {answer: fixed(500, "text/plain", `{"id":1,"error":{"code":-1}}`), want: []string{`{"id":1,"error":{"code":-1}}`}},
		"400 with text":                     {answer: fixed(400, "text/plain", "what?"), fails: isFault(wire.RPCError, "400 Bad Request: what?")},
		"405":                               {answer: fixed(405, "text/plain", ""), fails: isFault(wire.Unreachable, "405")},
		"415":                               {answer: fixed(415, "", ""), fails: isFault(wire.Unreachable, "415")},
		"429":                               {answer: fixed(429, "", ""), fails: isFault(wire.RPCError, "429")},
		"501":                               {answer: fixed(501, "", ""), fails: isFault(wire.RPCError, "501")},
		"503":                               {answer: fixed(503, "", ""), fails: isFault(wire.Unreachable, "503")},
		"301 without a Location":            {answer: head(301, "") + "Content-Length: 0\r\n\r\n", fails: isFault(wire.Unreachable, "301")},
		"307 to ftp": {
			answer: head(307, "") + "Location: ftp://files.example/x\r\nContent-Length: 0\r\n\r\n",
			fails:  isFault(wire.Unreachable, "307", "ftp://files.example/x", "does not follow"),
		},
		"302": {
			answer: head(302, "") + "Location: /login?next=hidden\r\nContent-Length: 0\r\n\r\n",
			fails:  isFault(wire.Unreachable, "302 Found", "/login", "does not follow"),
		},
		"too large":                  {answer: fixed(200, "application/json", big), fails: isFault(wire.Protocol, "1000", "--max-message")},
		"too large in chunks":        {answer: chunked(200, "application/json", big) + end, fails: isFault(wire.Protocol, "--max-message")},
		"an event that is too large": {answer: chunked(200, "text/event-stream", "data: 1\n\ndata: "+big+"\n\n") + end, want: []string{"1"}, fails: isFault(wire.Protocol, "--max-message")},
		"a line that is too large":   {answer: fixed(200, "application/jsonl", "1\n"+big+"\n"), want: []string{"1"}, fails: isFault(wire.Protocol, "--max-message")},
	} {
		t.Run(name, func(t *testing.T) {
			var asked string
			addr := rawServer(t, func(c net.Conn, r *bufio.Reader, req *http.Request) {
				body, _ := io.ReadAll(req.Body)
				asked = fmt.Sprint(req.Method, " ", req.RequestURI, " ", req.Header.Get("Content-Type"), " ",
					req.Header.Get("Accept"), " ", req.Header.Get("X-Key"), " ", string(body))
				io.WriteString(c, tt.answer)
				if tt.hold {
					io.Copy(io.Discard, r)
				}
			})
			c := dialed(t, "http://u:secret@"+addr+"/rpc?k=hidden", transport.Config{
				Options: wire.Options{MaxMessage: 1000}, Header: http.Header{"X-Key": {"a, b"}},
			})
			got, err := exchange(t, c, `{"id":1,"method":"m"}`)
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			switch {
			case tt.fails != nil:
				tt.fails(t, err)
				if s := err.Error(); strings.Contains(s, "hidden") || strings.Contains(s, "secret") {
					t.Errorf("a secret is in the message: %s", s)
				}
			case err != nil:
				t.Error(err)
			}
			c.Close()
			want := `POST /rpc?k=hidden application/json application/json, text/event-stream a, b {"id":1,"method":"m"}`
			testkit.Expect(t, "the request", asked, want)
		})
	}
}

func server(t *testing.T, h http.HandlerFunc) string {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func TestHTTPRedirectThatKeepsPosting(t *testing.T) {
	noLeaks(t)
	url := server(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			http.Redirect(w, r, "/there", http.StatusTemporaryRedirect)
		case "/there":
			w.Header().Set("Content-Type", "application/json")
			io.Copy(w, r.Body)
		default:
			http.Redirect(w, r, r.URL.Path+"x", http.StatusPermanentRedirect)
		}
	})
	c := dialed(t, url, transport.Config{})
	if got, err := exchange(t, c, "[7]"); err != nil || !slices.Equal(got, []string{"[7]"}) {
		t.Errorf("%q %v", got, err)
	}
	_, err := exchange(t, dialed(t, url+"/loop", transport.Config{}), "[7]")
	wantFault(t, err, wire.Unreachable, "redirected more than 5 times")
}

// A redirect to another host carries neither cookies nor credentials.
func TestHTTPRedirectElsewhere(t *testing.T) {
	noLeaks(t)
	var got http.Header
	there := server(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		w.Header().Set("Content-Type", "application/json")
		io.Copy(w, r.Body)
	})
	send := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, there+"/x", http.StatusTemporaryRedirect)
	}
	secret := transport.Config{Header: http.Header{"X-Api-Key": {"k"}, "Authorization": {"Bearer t"}, "X-Trace": {"1"}}}
	_, err := exchange(t, dialed(t, server(t, send)+"/?token=t", secret), "[7]")
	wantFault(t, err, wire.Unreachable, "307", there+"/x", "does not follow")
	safe := httptest.NewTLSServer(http.HandlerFunc(send))
	defer safe.Close()
	_, err = exchange(t, dialed(t, safe.URL, transport.Config{TLS: transport.TLS{Insecure: true}}), "[7]")
	wantFault(t, err, wire.Unreachable, "does not follow")
	if got != nil {
		t.Errorf("a request was sent to another origin: %v", got)
	}
}

// Cookies are sent only to the server that set them.
func TestHTTPCookies(t *testing.T) {
	noLeaks(t)
	var got []string
	url := server(t, func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Cookie"))
		http.SetCookie(w, &http.Cookie{Name: "id", Value: "7", Domain: "127.0.0.1"})
		w.Header().Set("Content-Type", "application/json")
		io.Copy(w, r.Body)
	})
	c := dialed(t, url, transport.Config{})
	for range 2 {
		if _, err := exchange(t, c, "[7]"); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"", "id=7"}; !slices.Equal(got, want) {
		t.Errorf("cookies %q, want %q", got, want)
	}
}

func TestHTTPConnectionsAndSession(t *testing.T) {
	noLeaks(t)
	var conns atomic.Int32
	var sessions []string
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sessions = append(sessions, r.Header.Get("Mcp-Session-Id"))
		w.Header().Set("Mcp-Session-Id", fmt.Sprint("s", len(sessions)))
		w.Header().Set("Content-Type", "application/json")
		io.Copy(w, r.Body)
	}))
	s.Config.ConnState = func(_ net.Conn, st http.ConnState) {
		if st == http.StateNew {
			conns.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	c := dialed(t, s.URL, transport.Config{})
	defer c.Close()
	big := "[" + strings.Repeat("1,", 10<<20) + "1]"
	for _, msg := range []string{"1", "2", big} {
		if got, err := exchange(t, c, msg); err != nil || len(got) != 1 || got[0] != msg {
			t.Errorf("%.20q %v", got, err)
		}
	}
	if !slices.Equal(sessions, []string{"", "s1", "s2"}) {
		t.Errorf("sessions %q", sessions)
	}
	testkit.Expect(t, "connections for three exchanges in a row", conns.Load(), 1)
}

func TestHTTPCancel(t *testing.T) {
	noLeaks(t)
	for name, how := range map[string]func(c wire.Conn, cancel func()){
		"cancelled by its context": func(_ wire.Conn, cancel func()) { cancel() },
		"cancelled by Close":       func(c wire.Conn, _ func()) { c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			hungUp := make(chan struct{})
			url := server(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				io.WriteString(w, "data: 1\n\n")
				http.NewResponseController(w).Flush()
				<-r.Context().Done()
				close(hungUp)
			})
			c := dialed(t, url, transport.Config{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var wg sync.WaitGroup
			err := c.(wire.Exchanger).Exchange(ctx, []byte("{}"), func([]byte) { wg.Go(func() { how(c, cancel) }) })
			if name == "cancelled by Close" {
				if f := wantFault(t, err, wire.Closed); f.Close == nil || !errors.Is(f.Close, net.ErrClosed) {
					t.Errorf("close: %v", f.Close)
				}
				_, err := c.Recv()
				wantClose(t, err, 0, true)
				wantFault(t, c.Send([]byte("1")), wire.Closed)
			} else {
				testkit.Expect(t, "the error", err, context.Canceled)
			}
			<-hungUp
			wg.Wait()
			c.Close()
		})
	}
}

// HTTP connections also support Send and Recv.
func TestHTTPSendAndRecv(t *testing.T) {
	noLeaks(t)
	url := server(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: 1\n\ndata: 2\n\n")
	})
	c := dialed(t, url, transport.Config{})
	sent := make(chan error, 1)
	go func() { sent <- c.Send([]byte("{}")) }()
	for _, want := range []string{"1", "2"} {
		wantRecv(t, c, want)
	}
	testkit.OK(t, <-sent)
	go c.Close()
	_, err := c.Recv()
	wantClose(t, err, 0, true)
	c.Close()
}

// Close waits until Exchange has reported the end, but only for a limited time.
func TestHTTPCloseWaitsForExchanges(t *testing.T) {
	noLeaks(t)
	url := server(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: 1\n\n")
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	c := dialed(t, url, transport.Config{})
	came, closing := make(chan struct{}), make(chan struct{})
	var heard, ended atomic.Bool
	go func() {
		_ = c.(wire.Exchanger).Exchange(context.Background(), []byte("{}"), func([]byte) {
			close(came)
			<-closing
			_, _ = c.Recv() // the connection is closing
			for range 100 {
				runtime.Gosched()
			}
			if ended.Load() {
				t.Error("Close returned too early")
			}
			heard.Store(true)
		})
	}()
	<-came
	close(closing)
	c.Close()
	ended.Store(true)
	if !heard.Load() {
		t.Error("Close returned too early")
	}
}
