package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/session"
	"rpcx/wire/testkit"
)

// Clients of other dialects pass the target and the parent of a request as params.
func TestWithFields(t *testing.T) {
	for _, c := range []struct{ params, hints, want string }{
		{`{"type":"object"}`, "", `{"type":"object"}`},
		{`{"type":"array"}`, `{"target":true}`, `{"type":"array"}`},
		{``, `{"target":true}`, `{"type":"object","properties":{"target":{"type":["string","integer"]}},"required":["target"]}`},
		{``, `{"parent":true,"target":true}`, `{"type":"object","properties":{"target":{"type":["string","integer"]},"parent":{"type":["string","integer"]}},"required":["target","parent"]}`},
		{``, `{}`, `{"type":"object","properties":{},"required":[]}`},
		{
			`{"type":"object","properties":{"a":{},"target":{"type":"integer"}},"required":["a"],"title":"T"}`, `{"target":true}`,
			`{"type":"object","properties":{"a":{},"target":{"type":"integer"}},"required":["a","target"],"title":"T"}`,
		},
	} {
		m := catalog.Method{Params: json.RawMessage(c.params)}
		if c.hints != "" {
			m.Hints = json.RawMessage(c.hints)
		}
		testkit.Expect(t, c.params+" "+c.hints, string(withFields(m)), c.want)
	}
	for _, c := range []struct{ request, params, want string }{
		{`{}`, `{"a":1}`, `{"a":1}`},
		{`{"target":"t"}`, `{"a":1}`, `{"a":1,"target":"t"}`},
		{`{"target":"t","parent":2}`, ``, `{"target":"t","parent":2}`},
		{`{"parent":2}`, `[1]`, `[1]`},
		{`{"target":"t"}`, `{"target":"mine"}`, `{"target":"mine","target":"t"}`},
	} {
		var params json.RawMessage
		if c.params != "" {
			params = json.RawMessage(c.params)
		}
		testkit.Expect(t, c.request+" "+c.params, string(withTarget(json.RawMessage(c.request), params)), c.want)
	}
	for schema, want := range map[string]bool{"": true, `{}`: true, `{"type":"object"}`: true, `{"type":"array"}`: false, `{"type":["object","array"]}`: true} {
		testkit.Expect(t, schema, isObject(json.RawMessage(schema)), want)
	}
}

// An error is passed on with a numeric code, a message, and data that contains its other members.
func TestPlainError(t *testing.T) {
	b := &Bridge{spec: dialect.Spec{Name: "other"}}
	yes, no := true, false
	for _, c := range []struct {
		err  error
		want string
	}{
		{wire.NewError(wire.CodeInvalidParams, "no a"), `{"code":-32602,"message":"no a"}`},
		{&wire.Error{Code: json.RawMessage(`7`), Message: "m", Kind: "k", Retryable: &yes, Data: json.RawMessage(`[1]`), Raw: json.RawMessage(`{}`)}, `{"code":7,"message":"m","data":[1]}`},
		{
			&wire.Error{Code: json.RawMessage(`"full"`), Message: "m", Kind: "busy", Retryable: &no, Data: json.RawMessage(`[1]`)},
			`{"code":-32000,"message":"m","data":{"code":"full","kind":"busy","retryable":false,"data":[1]}}`,
		},
		{&wire.Error{Code: json.RawMessage(`"full"`), Message: "m"}, `{"code":-32000,"message":"m","data":{"code":"full"}}`},
		{&wire.Error{Message: "m", Kind: "busy"}, `{"code":-32000,"message":"m","data":{"kind":"busy"}}`},
		{&wire.Error{Message: "m"}, `{"code":-32000,"message":"m"}`},
		{&wire.Fault{Kind: wire.RPCError, Message: "x", RPC: wire.NewError(5, "five")}, `{"code":5,"message":"five"}`},
		{wire.NewFault(wire.Closed, "connection closed", nil), `{"code":-32000,"message":"the peer behind the bridge: connection closed"}`},
		{errors.New("odd"), `{"code":-32603,"message":"odd"}`},
	} {
		testkit.Expect(t, c.err.Error(), string(b.plainError(c.err).JSON()), c.want)
	}
}

// For clients, positional params with titles have names. The peer gets them in order.
func TestTitles(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"array","prefixItems":[{"title":"a"},{"title":"b"}]}`:                 "a b",
		`{"type":"array","prefixItems":[{"title":"a"},{"title":"a"}]}`:                 "",
		`{"type":"array","prefixItems":[{"title":"a"},{}]}`:                            "",
		`{"type":"array","prefixItems":[{"title":"a"}],"items":{"type":"string"}}`:     "",
		`{"type":"array","prefixItems":[{"title":"a"}],"items":false,"minItems":1e99}`: "a",
		`{"type":"object"}`: "", `{"type":"array"}`: "", ``: "",
	} {
		testkit.Expect(t, schema, strings.Join(titles(json.RawMessage(schema)), " "), want)
	}
	const positional = `{"type":"array","prefixItems":[{"title":"a"},{"title":"b","type":"string"}],"minItems":1,"maxItems":2,"description":"d"}`
	const named = `{"type":"object","properties":{"a":{"title":"a"},"b":{"title":"b","type":"string"}},"required":["a"],"additionalProperties":false,"description":"d"}`
	testkit.Expect(t, "by name", string(titled(json.RawMessage(positional), []string{"a", "b"})), named)
	for params, want := range map[string]string{`{"b":2.0,"a":1e1}`: `[1e1,2.0]`, `{"a":1}`: `[1]`, `{}`: `[]`, `{"b":2}`: "", `{"a":1,"c":3}`: ""} {
		got, err := inOrder(json.RawMessage(params), []string{"a", "b"})
		if string(got) != want || (err != nil) != (want == "") {
			t.Errorf("%s: %s, %v, want %s", params, got, err, want)
		}
	}
}

// slow is a conversation that takes a second to close, during which the pool must not be locked.
type slow struct {
	session.Conversation
	t *testing.T
	p *pool
}

func (s slow) Close() error {
	if !s.p.mu.TryLock() {
		s.t.Error("other clients wait until a connection is closed")
		return nil
	}
	s.p.mu.Unlock()
	time.Sleep(time.Second)
	return nil
}

// The pool serves other clients while it closes connections, and closes several at the same time.
func TestThePoolClosesWithoutWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pool
		for range maxIdle + 1 {
			_ = p.give(&upstream{conv: slow{t: t, p: &p}})
		}
		begun := time.Now()
		_ = p.close()
		testkit.Expect(t, "closing takes", time.Since(begun), time.Second)
	})
}

// While another call connects to the peer, a call waits only as long as its context.
func TestGetEndsWithItsContext(t *testing.T) {
	u := newUpstream(&Bridge{})
	u.dial <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := u.get(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A request from the peer goes to the only client, or to the only client with a pending call.
func TestAsked(t *testing.T) {
	u, idle, busy := newUpstream(&Bridge{}), &client{}, &client{}
	busy.calls.Add(1)
	for _, c := range []struct {
		join *client
		want *client
		only bool
	}{{idle, idle, true}, {busy, busy, true}, {&client{}, busy, true}} {
		u.join(c.join)
		if one, only := u.asked(); one != c.want || only != c.only {
			t.Errorf("%d clients: %p, %v", len(u.clients), one, only)
		}
	}
	idle.calls.Add(1)
	if _, only := u.asked(); only {
		t.Error("one of two busy clients is asked")
	}
	u.leave(idle)
	if one, only := u.asked(); one != busy || !only {
		t.Error("a client that has left is asked")
	}
}

// unhooked is a responder without hooks.
type unhooked struct{ dialect.Responder }

func (unhooked) Allows(string) bool               { return true }
func (unhooked) Kind(string) (catalog.Kind, bool) { return "", false }

// lost is a connection that has ended.
type lost struct{ session.Conversation }

func (lost) Open(context.Context, dialect.Op) (dialect.Stream, error) {
	return nil, wire.NewFault(wire.Closed, "the connection has ended", nil)
}

func TestRequestOverALostConnection(t *testing.T) {
	b := &Bridge{offers: map[string]*offer{"m": {name: "m"}}}
	u := newUpstream(b)
	u.conv = lost{}
	r := &responder{Responder: unhooked{}, bridge: b, client: &client{}, up: u}
	_, err := r.Respond(t.Context(), dialect.Request{Method: "m"})
	if e, ok := errors.AsType[*wire.Error](err); !ok || !strings.Contains(e.Message, "ended") {
		t.Error(err)
	}
}
