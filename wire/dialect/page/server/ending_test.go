package server

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/codec"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/testkit"
)

// hooks answer at once, and record the requests whose context has ended.
type hooks struct {
	testkit.Unrestricted
	ended *[]string
}

func (hooks) Host() dialect.Host                      { return dialect.Host{} }
func (hooks) Catalog() *catalog.Catalog               { return nil }
func (h hooks) Bind(dialect.Caller) dialect.Responder { return h }
func (hooks) Close() error                            { return nil }

func (hooks) Kind(method string) (catalog.Kind, bool) {
	switch method {
	case "work":
		return catalog.Call, true
	case "ticks":
		return catalog.Stream, true
	}
	return "", false
}

func (h hooks) Respond(ctx context.Context, r dialect.Request) (json.RawMessage, error) {
	if r.Begin != nil {
		if err := r.Begin(); err != nil {
			return nil, err
		}
	}
	select {
	case <-ctx.Done():
		*h.ended = append(*h.ended, r.Method)
		return nil, ctx.Err()
	default:
		return json.RawMessage(`"done"`), nil
	}
}

// dialectOf returns the dialect of a dialect file named x.
func dialectOf(t *testing.T, page string) *codec.Dialect {
	t.Helper()
	p, err := load.Parse("x.toml", []byte("name = 'x'\n"+page))
	testkit.OK(t, err)
	d, err := codec.New(p, codec.Native{})
	testkit.OK(t, err)
	return d
}

// client is a client of a server with a dialect file.
type client struct {
	dialect.Caller
	codec dialect.Codec
}

func (c client) Connection() *dialect.Connection { return &dialect.Connection{Codec: c.codec} }

// A cancel or an unsubscribe that is handled before its request starts applies only to earlier requests.
func TestEndingsThatAreHandledFirst(t *testing.T) {
	d := dialectOf(t, `
[serve.stop]
notify = "halt"
when = ".n == $params.n"
result = '"stopped"'
[serve.calls.run]
method = '"work"'
[subscribe.ticks]
item.method = "tick"
end = { notify = "untick", params = "{n: $params.n}" }
[serve.subscribe.ticks]
result = "0"
`)
	for _, c := range []struct {
		ending, params string
		order          uint64 // order of the cancel; the requests have 5
		result, ended  string // the result of the call, and the requests that ended
	}{
		{"halt", `{"n":1}`, 6, `"stopped"`, "[work]"},
		{"halt", `{"n":1}`, 4, `"done"`, "[]"},
		{"halt", `{"n":2}`, 6, `"done"`, "[]"},
		{"halt", fmt.Sprintf("%-*s", endingsBytes, `{"n":1}`), 6, `"stopped"`, "[work]"},
		{"halt", fmt.Sprintf("%-*s", endingsBytes+1, `{"n":1}`), 6, `"done"`, "[]"},
		{"untick", `{"n":1}`, 6, `"done"`, "[ticks]"},
		{"untick", `{"n":1}`, 4, `"done"`, "[]"},
		{"untick", `{"n":2}`, 6, `"done"`, "[]"},
	} {
		var ended []string
		h := New(d, hooks{ended: &ended}, nil).Accept(client{codec: d.NewCodec(dialect.CodecOptions{Serving: true})})
		handle := func(in *dialect.Inbound) json.RawMessage {
			in.Emit = func(wire.Event) error { return nil }
			result, err := h.Handle(t.Context(), in)
			if err != nil {
				t.Errorf("%+v: %s failed: %v", c, in.Msg.Method, err)
			}
			return result
		}
		handle(&dialect.Inbound{Order: c.order, Msg: wire.Message{Kind: wire.Notification, Method: c.ending, Params: json.RawMessage(c.params)}})
		request := func(method string) json.RawMessage {
			return handle(&dialect.Inbound{Order: 5, Msg: wire.Message{Kind: wire.Request, ID: wire.ID("1"), Method: method, Params: json.RawMessage(`{"n":1}`)}})
		}
		result := string(request("run"))
		_ = request("ticks")
		if result != c.result || fmt.Sprint(ended) != c.ended {
			t.Errorf("%+v: the result is %s, and the requests %v ended", c, result, ended)
		}
		for n := range maxEndings { // the latest messages are stored
			handle(&dialect.Inbound{Order: 6, Msg: wire.Message{Kind: wire.Notification, Method: "halt", Params: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n+2))}})
			if n == maxEndings-2 && c.ending == "halt" && c.result == `"stopped"` && string(request("run")) != c.result {
				t.Error("a stored message has no effect")
			}
		}
		if got := string(request("run")); got != `"done"` {
			t.Errorf("%+v: after %d other messages, the result is %s", c, maxEndings, got)
		}
	}
}
