package endpoint

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/dialect/all"
	"rpcx/wire/serve"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// These endpoints are refused with these errors.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Chdir(dir)
	for name, text := range map[string]string{
		"plain.tape": `{"tape":1}` + "\n", "qmp.tape": `{"tape":1,"dialect":"qmp"}` + "\n", "odd.tape": `{"tape":1,"dialect":"odd"}` + "\n", "bad.tape": "garbage\n",
	} {
		testkit.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	known := "one of " + strings.Join(all.Names(), ", ")
	names := strings.NewReplacer("KNOWN", known[:60]+" …", "DEMOS", strings.Join(serve.DemoNames(), ", "))
	for _, c := range []struct{ text, want string }{
		{"", "usage: the endpoint is empty; ws://host/path, tcp://host:port, unix:PATH or exec:COMMAND"},
		{"host:80", `usage: "host:80" does not begin with a transport; tcp://host:80, ws://host:80/ or http://host:80/`},
		{"jsonrpc+@name", "usage: a name already includes dialect and framing; remove jsonrpc+ before @name"},
		{"header+ws://h/", "usage: ws: has its own framing; remove header+"},
		{"mcp+stdio", `usage: "mcp+stdio" has no colon after its transport; did you mean mcp+stdio:?`},
		{"jsonrpc1+lsp+exec", `usage: "jsonrpc1+lsp+exec" has no colon after its transport; did you mean jsonrpc1+lsp+exec:?`},
		{"lps+exec:x", `usage: "lps" is not a dialect, framing or transport; did you mean lsp+exec:x?`},
		{"zzzzz+exec:x", `usage: "zzzzz" is not a dialect, framing or transport; use KNOWN`},
		{"wss+exec:x", `usage: unknown transport "wss+exec"; use ws, wss, http, https, tcp, tls, unix, ws+unix, http+unix, exec, ipc or stdio`},
		{"tcq://h:1", `usage: unknown transport "tcq"; did you mean tcp://h:1?`},
		{"zzzzz://h:1", `usage: unknown transport "zzzzz"; use ws, wss, http, https, tcp, tls, unix, ws+unix, http+unix, exec, ipc or stdio`},
		{"demo:nosuch", `usage: unknown demo "nosuch"; use DEMOS`},
		{"demo:order", `usage: unknown demo "order"; use DEMOS; did you mean demo:orders?`},
		{"demo:", "demo:orders (jsonrpc     )"},
		{"header+demo:orders", "usage: demo: takes no framing; remove header+"},
		{"jsonrpc1+demo:orders", "usage: demo:orders uses the jsonrpc dialect, not jsonrpc1"},
		{"demo:scomp", "demo:scomp (scomp     )"},
		{"jsonrpc+conversation:/x", "usage: conversation: takes no dialect and no framing"},
		{"line+conversation:/x", "usage: conversation: takes no dialect and no framing"},
		{"conversation:", "usage: conversation: needs the path of a socket"},
		{"conversation:#h1", "usage: conversation: needs the path of a socket"},
		{"conversation:/a#b/c", "conversation:/a#b/c (    /a#b/c )"},
		{"conversation:/a#b/c#h1", "conversation:/a#b/c (    /a#b/c h1)"},
		{"line+line+tcp://h:1", `usage: "line" is not a dialect, framing or transport; use KNOWN`},
		{"jsonrpc+jsonrpc1+ws://h/", `usage: "jsonrpc1" is not a dialect, framing or transport; use KNOWN`},
		{"accept+exec:x", "usage: accept+ goes before tcp, tls, unix, ws, wss, ws+unix, not before exec:"},
		{"dial+demo:", "usage: dial+ goes before tcp, tls, unix, ws, wss, ws+unix, not before demo:"},
		{"accept+tcp://h:1", "accept+tcp://h:1 (jsonrpc  accept   )"},
		{"dial+unix:/a", "dial+unix:/a (jsonrpc  dial   )"},
		{"accept+header+tcp://h:1", `usage: "header" is not a dialect, framing or transport; use KNOWN`},
		{"tape:", "usage: tape: the file name is missing"},
		{"tape:none.tape", "usage: cannot read the tape none.tape: no such file or directory"},
		{"tape:bad.tape", `usage: the tape bad.tape, line 1: no header: a tape begins with a line such as {"tape":1,"dialect":"jsonrpc"}`},
		{"tape:odd.tape", `usage: the tape odd.tape, line 1: unknown dialect "odd"; give its dialect file: --dialect ./odd.toml`},
		{"tape:plain.tape", "tape:plain.tape (jsonrpc   plain.tape  )"},
		{"tape:qmp.tape", "tape:qmp.tape (qmp   qmp.tape  )"},
		{"qmp+tape:qmp.tape", "tape:qmp.tape (qmp   qmp.tape  )"},
		{"jsonrpc+tape:qmp.tape", "usage: the tape qmp.tape uses the qmp dialect, not jsonrpc"},
		{"header+tape:qmp.tape", "usage: tape: takes no framing; remove header+"},
		{"jsonrpc1+lsp+exec:x", "jsonrpc1+header+exec:x (jsonrpc1 header    )"},
		{"lsp+lsp+exec:x", "lsp+header+exec:x (lsp header    )"},
	} {
		e, err := Parse(c.text, "")
		got := fmt.Sprintf("%s (%s %s %s %s %s %s)", e, e.Dialect, e.Framing, e.Reversed, e.Tape, e.Socket, e.Hook)
		if f := wire.AsFault(err); f != nil {
			got = string(f.Kind) + ": " + f.Message
			if f.Hint != "" {
				got += "; " + f.Hint
			}
		}
		got = strings.ReplaceAll(got, dir, "DIR")
		if i := strings.Index(got, "one of "); i > 0 && len(got) > i+60 {
			got = got[:i+60] + " …"
		}
		if want := names.Replace(c.want); got != want {
			t.Errorf("GOLD %q\n got %q\nwant %q", c.text, got, want)
		}
	}
}

// Each failure of a peer has these alternatives.
func TestOtherwise(t *testing.T) {
	http := func(status int, body string) *wire.Fault {
		return &wire.Fault{Kind: wire.Unreachable, HTTP: &wire.HTTP{Status: status, Body: body}}
	}
	no := func(message string) *wire.Fault { return wire.NewFault(wire.Unreachable, message, nil) }
	refused := &wire.Fault{Kind: wire.Protocol, RPC: &wire.Error{Code: json.RawMessage("-32601")}}
	said := func(text string) *wire.Fault {
		return &wire.Fault{Kind: wire.Protocol, RPC: &wire.Error{Code: json.RawMessage("-32000"), Message: text}}
	}
	answered := func(method, code, text string) *wire.Fault {
		return &wire.Fault{Kind: wire.RPCError, Method: method, RPC: &wire.Error{Code: json.RawMessage(code), Message: text}}
	}
	for _, c := range []struct {
		typed string
		f     *wire.Fault
		want  string
	}{
		{"wss://h/", no("x: the server does not use TLS"), "ws: try it without TLS"},
		{"tls://h:1", no("x: the server does not use TLS"), "tcp: try it without TLS"},
		{"ws://h/", no("x: the server does not use TLS"), ""},
		{"tls://h:1", no("x: " + transport.NoResponse + ""), "tcp: the peer may not use TLS"},
		{"https://h/", no("x: " + transport.NoResponse + ""), ""},
		{"tls://h:1", wire.NewFault(wire.Closed, "x: "+transport.NoResponse+"", nil), ""},
		{"tls://h:1", no("x hung up"), ""},
		{"http://h/", http(400, "Client sent an HTTP request to an HTTPS server."), "https: the server requires TLS"},
		{"ws://h/", http(400, "please use https"), "wss: the server requires TLS"},
		{"http://h/", http(401, "https"), ""},
		{"http://h/", http(426, ""), "ws: the server requires a WebSocket"},
		{"https://h/", http(426, ""), "wss: the server requires a WebSocket"},
		{"http://h/", http(400, "Can \"Upgrade\" only to \"WebSocket\"."), "ws: the server requires a WebSocket"},
		{"http://h/", http(405, "websocket only"), "ws: the server requires a WebSocket"},
		{"http://h/", http(405, ""), "ws: WebSocket servers refuse POST requests"},
		{"http://h/", http(400, ""), ""},
		{"http://h/", http(406, "upgrade"), ""},
		{"ws://h/", http(400, ""), "http: servers that accept POST requests refuse upgrades"},
		{"wss://h/", http(405, ""), "https: servers that accept POST requests refuse upgrades"},
		{"ws://h/", http(406, ""), "http: servers that accept POST requests refuse upgrades"},
		{"ws://h/", http(415, ""), "http: servers that accept POST requests refuse upgrades"},
		{"ws://h/", http(501, ""), "http: servers that accept POST requests refuse upgrades"},
		{"ws://h:1/x", no(`malformed HTTP status code "bad"`), "tcp: "},
		{"https://h:1/", no("malformed HTTP response"), "tls: "},
		{"http://h/", no("malformed HTTP response"), ""},
		{"ws://h/", http(404, ""), ""},
		{"ws://h/", no("x"), ""},
		{"scomp+ws://h/", refused, "jsonrpc as dialect: the peer does not support this handshake"},
		{"ws://h/", refused, ""},
		{"scomp+ws://h/", said("unknown method handshake"), "jsonrpc as dialect: the peer does not support this handshake"},
		{"scomp+ws://h/", said("Method is not found"), "jsonrpc as dialect: the peer does not support this handshake"},
		{"scomp+ws://h/", said("the version is unknown"), ""},
		{"scomp+ws://h/", &wire.Fault{Kind: wire.Protocol, RPC: &wire.Error{Code: json.RawMessage("-32602")}}, ""},
		{"scomp+ws://h/", &wire.Fault{Kind: wire.RPCError, RPC: refused.RPC}, ""},
		{"scomp+ws://h/", &wire.Fault{Kind: wire.Protocol}, ""},
		{"exec:x", answered("tools/call", "-32602", "Invalid request parameters"), "mcp as dialect: an MCP server requires a handshake first"},
		{"exec:x", answered("tools/list", "0", `method "tools/list" is invalid during session initialization`), "mcp as dialect: an MCP server requires a handshake first"},
		{"http://h/", answered("tools/list", "-32600", "Bad Request: Missing session ID"), "mcp as dialect: an MCP server requires a handshake first"},
		{"exec:x", answered("tools/call", "-32602", "Unknown tool: x"), ""},
		{"exec:x", answered("tools/list", "-32601", "Method not found"), ""},
		{"exec:x", answered("add", "-32600", "not initialized"), ""},
		{"mcp+exec:x", answered("tools/list", "-32000", "not initialized"), ""},
		{"header+exec:x", answered("textDocument/hover", "-32002", "no"), "lsp as dialect: a language server requires a handshake first"},
		{"header+exec:x", answered("textDocument/hover", "-32602", "no"), ""},
	} {
		e, err := Parse(c.typed, "")
		testkit.OK(t, err)
		sign, why := e.Alternative(c.f)
		got := ""
		if sign != nil {
			if got = sign.Scheme; got == "" {
				got = sign.Dialect + " as dialect"
			}
			got += ": " + why
		} else if why != "" {
			got = "nothing, but " + why
		}
		if got != c.want {
			t.Errorf("%s, %+v: %q, want %q", c.typed, c.f, got, c.want)
		}
	}
}

// Hints for a silent peer depend on its endpoint.
func TestSilence(t *testing.T) {
	for typed, want := range map[string]string{
		"http://h/":         "no response to the request",
		"https://h/":        "no response to the request",
		"ws://h/":           "no message from the peer",
		"wss://h/":          "no message from the peer",
		"ws+unix:/a:/":      "no message from the peer",
		"tcp://h:1":         "no response; the peer may expect another framing, such as header+",
		"line+tcp://h:1":    "no response; the peer may expect another framing",
		"lsp+exec:x":        "no response; the peer may expect another framing, or a header such as Content-Type (--header)",
		"hotrepl+tcp://h:1": "no handshake, although a hotrepl host sends one immediately; the peer may use another dialect",
		"hotrepl+ws://h/":   "no handshake, although a hotrepl host sends one immediately; the peer may use another dialect",
		"demo:orders":       "",
		"conversation:/a":   "",
		"jsonrpc+unix:/a":   "no response; the peer may expect another framing, such as header+",
		"header+exec:x y":   "no response; the peer may expect another framing, or a header such as Content-Type (--header)",
		"ovsdb+tcp://h:66":  "no response; the peer may expect another framing",
	} {
		e, err := Parse(typed, "")
		testkit.OK(t, err)
		testkit.Expect(t, typed, e.SilenceHint(), want)
	}
}
