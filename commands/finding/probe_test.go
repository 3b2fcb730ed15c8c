package finding

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"rpcx/wire/catalog"
	"rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
	"rpcx/wire/hook"
	"rpcx/wire/scan"
	"rpcx/wire/session"
	"rpcx/wire/testkit"
)

// The tests mostly wait for silent peers, so more tests than processors can run at once.
func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", "8")
	m.Run()
}

// serve listens at a listen address with one hook until the test ends, and returns the endpoint.
func serve(t *testing.T, at string) string {
	t.Helper()
	e, err := endpoint.Parse(at, "")
	testkit.OK(t, err)
	answer, err := hook.ParseAnswer("json:1")
	testkit.OK(t, err)
	s, err := session.Listen(t.Context(), e, session.Options{
		Hooks: []hook.Entry{{Pattern: "a_b", Answer: answer}}, Catalog: &catalog.Catalog{Catalog: 1, Methods: []catalog.Method{{Name: "a_b"}}},
	})
	testkit.OK(t, err)
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve() }()
	t.Cleanup(func() { _ = s.Close(); <-done })
	return s.Endpoint()
}

// probe returns the report about an endpoint.
func probe(t *testing.T, at string, limit time.Duration) *Report {
	t.Helper()
	e, err := endpoint.Parse(at, "")
	testkit.OK(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	return (&Prober{Endpoint: e, Typed: at}).Run(ctx)
}

// address returns an endpoint without its dialect and framing.
func address(at string) string {
	scheme, rest, _ := strings.Cut(at, ":")
	return scheme[strings.LastIndexByte(scheme, '+')+1:] + ":" + rest
}

// rpcx detects each dialect and framing of its own servers, over each transport.
func TestEveryDialectIsRecognised(t *testing.T) {
	names := all.Names()
	if len(names) < 17 {
		t.Fatalf("%d dialects", len(names))
	}
	for _, name := range names {
		addresses := []string{"tcp://127.0.0.1:0", "ws://127.0.0.1:0/", "http://127.0.0.1:0/"}
		if runtime.GOOS != "windows" {
			addresses = append(addresses, "unix:"+filepath.Join(t.TempDir(), "s"))
		}
		for _, listen := range addresses {
			if strings.HasPrefix(listen, "http") && all.Named(name).Transport.Duplex {
				continue
			}
			recognised(t, name, "", listen)
		}
	}
	for _, framing := range []string{"line", "header", "nul", "netstring", "varint", "seq", "concat"} {
		for _, name := range []string{"jsonrpc", "mcp", "jsonrpc1"} {
			recognisedIn(t, name, framing)
		}
	}
}

// recognisedIn checks that rpcx detects a server's dialect in a framing.
func recognisedIn(t *testing.T, name, framing string) {
	want := framing
	if framing == "line" || framing == "concat" { // in concat framing, rpcx writes lines
		want = ""
	}
	recognised(t, name, want, framing+"+tcp://127.0.0.1:0")
}

// recognised checks that rpcx detects a server's dialect and framing from its address.
func recognised(t *testing.T, name, framing, listen string) {
	t.Run(name+"+"+strings.SplitN(listen, ":", 2)[0], func(t *testing.T) {
		t.Parallel()
		r := probe(t, address(serve(t, name+"+"+listen)), 10*time.Second)
		if e := r.Endpoint; e == nil || e.Dialect != name || e.Framing != framing {
			t.Errorf("found %v, want %s in framing %q", e, name, framing)
			for _, try := range r.Tried {
				t.Log(try.Line())
			}
		}
	})
}

// rpcx verifies the prefix of an endpoint, and reports the right one.
func TestAWrongPrefixIsCorrected(t *testing.T) {
	at := address(serve(t, "lsp+tcp://127.0.0.1:0"))
	for _, typed := range []string{"mcp+", "nul+", "dap+", "line+"} {
		if r := probe(t, typed+at, 10*time.Second); r.Endpoint == nil || r.Endpoint.String() != "lsp+"+at {
			t.Errorf("%s: found %v", typed, r.Endpoint)
		}
	}
}

// raw listens on a port, and runs talk for each connection.
func raw(t *testing.T, talk func(net.Conn)) string {
	t.Helper()
	return "tcp://" + testkit.Listen(t, "tcp", "127.0.0.1:0", talk)
}

// The report about a server with an unknown protocol names no dialect. It is complete in time, and contains the first bytes.
func TestAnUnknownProtocolIsNotNamed(t *testing.T) {
	for what, talk := range map[string]func(net.Conn){
		"silent": func(c net.Conn) { _, _ = io.Copy(io.Discard, c) },
		"text":   func(c net.Conn) { _, _ = io.WriteString(c, "220 ready\r\n"); _, _ = io.Copy(io.Discard, c) },
		"echo":   func(c net.Conn) { _, _ = io.Copy(c, c) },
		"other JSON": func(c net.Conn) {
			b := make([]byte, 1<<16)
			for {
				if _, err := c.Read(b); err != nil {
					return
				}
				_, _ = io.WriteString(c, "{\"ok\":true}\n")
			}
		},
		"endless": func(c net.Conn) {
			for {
				if _, err := c.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		},
		"closes": func(net.Conn) {},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			r := probe(t, raw(t, talk), 4*time.Second)
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("the probe took %v", took)
			}
			if r.Endpoint != nil && !r.Weak {
				t.Errorf("detected %v", r.Endpoint)
			}
			if what == "closes" && r.Fault != nil { // because rpcx has tried TLS, too
				t.Errorf("the fault blames TLS: %v", r.Fault)
			}
			if (what == "text" || what == "other JSON") && (r.Endpoint != nil || r.FirstBytes() == "") {
				t.Errorf("found %v, first bytes %s", r.Endpoint, r.FirstBytes())
			}
		})
	}
}

// TestLeastIntrusiveFirst checks that messages that begin a session are sent last.
func TestLeastIntrusiveFirst(t *testing.T) {
	begins := []string{"handshake", "initialize", "scriptling.handshake"}
	for _, method := range []string{"", "eth_call"} {
		began := ""
		for _, s := range steps(true, method) {
			sent := scan.String(scan.Get(s.msg, "method")) + scan.String(scan.Get(s.msg, "command"))
			switch {
			case slices.Contains(begins, sent):
				began = s.name
			case sent != "" && began != "":
				t.Errorf("%s of %s is sent after %s has begun a session", sent, s.name, began)
			}
		}
		if began == "" {
			t.Error("no step begins a session")
		}
	}
}

// A message from a server of one dialect is not recognised as a message in another dialect.
func TestMessagesAreRecognisedOnce(t *testing.T) {
	list := steps(true, "")
	for _, c := range []struct{ asked, msg, want string }{
		{"jsonrpc", `{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"method not found"}}`, ""},
		{"jsonrpc", `{"jsonrpc":"2.0","id":ID,"result":"text"}`, ""},
		{"introspect", `{"jsonrpc":"2.0","id":ID,"result":"0x1"}`, ""},
		{"mcp", `{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}`, "mcp"},
		{"mcp", `{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":false},"authMethods":[]}}`, "acp"},
		{"mcp", `{"jsonrpc":"2.0","id":ID,"result":{"capabilities":{"hoverProvider":true},"serverInfo":{"name":"gopls"}}}`, "lsp"},
		{"acp", `{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{}}}`, "mcp"},
		{"lsp", `{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"Invalid params"}}`, ""},
		{"dap", `{"seq":0,"type":"response","request_seq":ID,"success":true,"command":"initialize","body":{}}`, "dap"},
		{"jsonrpc", `{"seq":0,"type":"response","request_seq":0,"success":false,"command":"","message":"Internal Error"}`, "dap"},
		{"cdp", `{"error":{"code":-32601,"message":"'Browser.getVersion' wasn't found"},"id":ID}`, "cdp"},
		{"jsonrpc", `{"error":{"code":-32600,"message":"Message has property other than 'id', 'method', 'sessionId', 'params'"},"id":ID}`, "cdp"},
		{"bidi", `{"type":"success","id":ID,"result":{"ready":false,"message":"Session already started"}}`, "bidi"},
		{"ovsdb", `{"id":ID,"error":null,"result":["Open_vSwitch","_Server"]}`, "ovsdb"},
		{"jsonrpc1", `{"id":ID,"error":{"error":"unknown method"},"result":null}`, ""},
		{"", `{"id":"echo","method":"echo","params":[]}`, "ovsdb"},
		{"jsonrpc1", `{"id":ID,"result":null,"error":"rpc: can't find service rpc.discover"}`, "netrpc"},
		{"jsonrpc1", `{"id":ID,"result":null,"error":"unknown method"}`, ""},
		{"qmp", `{"return":ID}`, "qmp"},
		{"", `{"QMP":{"version":{},"capabilities":[]}}`, "qmp"},
		{"jsonrpc", `{"error":{"class":"GenericError","desc":"QMP input member 'id' is unexpected"}}`, "qmp"},
		{"rpcws", `{"jsonrpc":"2.0","id":ID,"result":["a","b"]}`, "rpcws"},
		{"rpcws", `{"jsonrpc":"2.0","id":ID,"result":{"a":1}}`, ""},
		{"jsonrpc", `{"jsonrpc":"2.0","id":ID,"error":{"code":-32600,"message":"no","data":{"kind":"HandshakeError"}}}`, "scomp"},
		{"", `{"type":"handshake","protocolVersion":2,"host":{"name":"x"}}`, "hotrepl"},
		{"", `{"type":"handshake"}`, ""},
		{"scriptling", `{"jsonrpc":"2.0","id":ID,"result":{"protocol":"1.0","library":"x","schema":{}}}`, "scriptling"},
		{"", `[1,2]`, ""},
		{"", `7`, ""},
		{"", `{}`, ""},
		{"", `{"jsonrpc":{},"error":[],"result":7,"params":"x","type":1}`, ""},
	} {
		recognisedOnce(t, list, c.asked, c.msg, c.want)
	}
}

// recognisedOnce checks as which dialects rpcx recognises a message after the step named asked. ID in text is the step's id.
func recognisedOnce(t *testing.T, list []*step, asked, text, want string) {
	t.Helper()
	var request json.RawMessage
	msg := []byte(text)
	for _, s := range list {
		if s.name == asked {
			msg, request = []byte(strings.ReplaceAll(text, "ID", string(s.id))), nil
			if s.answeredBy(msg) {
				request = s.msg
			}
		}
	}
	var got []string
	for _, s := range list {
		if !s.Weak && s.recognises(msg, request) {
			got = append(got, s.name)
		}
	}
	if strings.Join(got, " ") != want {
		t.Errorf("%s after %s: recognised as %q, want %q", msg, asked, got, want)
	}
}

// The first bytes identify each framing, even before a message is complete.
func TestUnframed(t *testing.T) {
	msg := []byte(`{"jsonrpc":"2.0","id":1,"result":"{\n[\u0000"}`)
	for _, name := range []string{"line", "header", "nul", "netstring", "varint", "seq"} {
		b := framed(name, msg, nil)
		if got, msgs := unframed(append(b, b...), 0); got != name || len(msgs) != 2 || string(msgs[1]) != string(msg) {
			t.Errorf("%s: %q, %q", name, got, msgs)
		}
		for n := range len(b) - 2 {
			if got, _ := unframed(b[:n], 0); got != "" {
				t.Errorf("%s: got %q for the incomplete message %q", name, got, b[:n])
			}
		}
	}
	for text, want := range map[string]string{
		`{"a":1}{"b":2}`: "concat", "{\n \"a\": 1\n}\n": "concat", "HTTP/1.1 400 Bad Request\r\n\r\n": "", "hello\n": "", "\xff{\"return\":1}\n": "line",
	} {
		if got, _ := unframed([]byte(text), 0); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Each message is looked at once, however its bytes arrive.
func TestEachMessageIsNewOnce(t *testing.T) {
	at, err := session.ParseEndpoint("tcp://127.0.0.1:1", "")
	testkit.OK(t, err)
	a := &attempt{p: &Prober{}, at: at, try: &Try{}}
	var fresh []string
	for _, piece := range []string{"{\"a\":1}\n{\"b\"", ":2}\n", "{\"c\":3}\n"} {
		fresh = append(fresh, string(bytes.Join(a.take([]byte(piece)), []byte(" "))))
	}
	testkit.Expect(t, "the new messages", strings.Join(fresh, "|"), `{"a":1}|{"b":2}|{"c":3}`)
}

// The report says of each dialect that a server without URLs of conversations was not recognised.
func TestServerWithoutConversations(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	e, err := endpoint.Parse(s.URL+"/", "")
	testkit.OK(t, err)
	p := &Prober{report: &Report{}}
	if p.resolve(t.Context(), e) || len(p.report.Tried) == 0 {
		t.Errorf("found %v after %d attempts", p.report.Endpoint, len(p.report.Tried))
	}
	for _, try := range p.report.Tried {
		testkit.Expect(t, try.Endpoint, try.Outcome, "not recognised")
	}
}
