package serve_test

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/hook"
	"rpcx/wire/peer"
	"rpcx/wire/serve"
	"rpcx/wire/transport"
)

// dialDemo returns a client of demo:orders, with hooks for the demo's requests.
func dialDemo(t *testing.T, specs ...string) *peer.Peer {
	t.Helper()
	cat, _ := serve.Demo("orders")
	entries, err := hook.FromCatalog(cat)
	if err != nil {
		t.Fatal(err)
	}
	var ours []hook.Entry
	for _, spec := range specs {
		e, err := hook.Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		ours = append(ours, e)
	}
	here, there := transport.Pair()
	start := func(conn wire.Conn, o serve.Options, entries []hook.Entry) *peer.Peer {
		table, err := hook.NewTable(hook.Options{}, entries...)
		if err != nil {
			t.Fatal(err)
		}
		o.Hooks = table
		server := jsonrpc.NewServer(serve.New(o))
		p := peer.New(conn, jsonrpc.NewCodec(jsonrpc.Options{}), peer.Options{Handler: server.Accept})
		t.Cleanup(func() {
			_ = p.Close()
			_ = server.Close()
		})
		return p
	}
	start(there, serve.Options{Catalog: cat, Check: true, Discoverable: true, Deny: []string{"slow*"}}, entries)
	return start(here, serve.Options{}, ours)
}

func TestConversation(t *testing.T) {
	p := dialDemo(t, "approve=jq:.total < 1000")
	for _, c := range []struct{ method, params, want string }{
		{"approveOrder", `{"id":"o_001"}`, `{"approved":true,"id":"o_001"}`},
		{"approveOrder", `["o_002"]`, `{"approved":false,"id":"o_002"}`},
		{"getOrder", `{"id":"o_000"}`, `no such order: o_000 (code 404)`},
		{"getOrder", `{"ID":"o_001"}`, `invalid params: has no property "ID"; did you mean id? (code -32602)`},
		{"slowReport", `{}`, `refused by policy (code -32001)`},
		{"getOrders", `{}`, `(code -32601)`},
	} {
		result, err := p.Call(t.Context(), c.method, json.RawMessage(c.params))
		got := string(result)
		if err != nil {
			got = err.Error()
		}
		if !strings.HasSuffix(got, c.want) {
			t.Errorf("%s %s:\n got %s\nwant %s", c.method, c.params, got, c.want)
		}
	}
}

func TestConversationStreams(t *testing.T) {
	p := dialDemo(t)
	st, err := p.Open(t.Context(), dialect.Op{Kind: dialect.Subscribe, Method: "watchOrders", Params: json.RawMessage(`{"count":3,"interval":0}`)})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		m, err := st.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if ev, err := dialect.EventOf(p.Connection().Codec, m); err == nil && ev.Kind == wire.Data && m.Kind == wire.Item {
			got = append(got, string(ev.Data))
		}
	}
	want := `{"id":"o_001","n":1,"status":"paid"} {"id":"o_002","n":2,"status":"paid"} {"id":"o_003","n":3,"status":"paid"}`
	if strings.Join(got, " ") != want {
		t.Errorf("got %q", got)
	}
}

// The catalog that a server describes can be served again: it has everything that is needed for checks, but no commands and no
// denied methods.
func TestConversationDescribes(t *testing.T) {
	p := dialDemo(t)
	got, err := p.Connection().Codec.Abilities().Describe(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	own, _ := serve.Demo("orders")
	for _, m := range own.Methods {
		d := got.Method(m.Name)
		switch {
		case m.Name == "slowReport":
			if d != nil {
				t.Error("a denied method is described")
			}
		case d == nil:
			t.Errorf("%s is not described", m.Name)
		case d.Run != "":
			t.Errorf("the description of %s contains run", m.Name)
		case !same(d.Params, m.Params) || !same(d.Result, m.Result):
			t.Errorf("%s: other schemas: %s, %s", m.Name, d.Params, d.Result)
		case d.Kind != m.Kind && !(m.Kind == "" && d.Kind == catalog.Call):
			t.Errorf("%s: kind %s", m.Name, d.Kind)
		}
	}
	for name, def := range own.Defs {
		if !same(got.Defs[name], def) {
			t.Errorf("$defs %s: %s", name, got.Defs[name])
		}
	}
}

func same(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	s, _ := json.Marshal(x)
	u, _ := json.Marshal(y)
	return string(s) == string(u)
}
