package jsonrpc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/peer"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

type backend struct{ cat *catalog.Catalog }

func (backend) Host() dialect.Host                    { return dialect.Host{} }
func (b backend) Catalog() *catalog.Catalog           { return b.cat }
func (backend) Bind(dialect.Caller) dialect.Responder { return responder{} }

type responder struct{ testkit.Unrestricted }

func (responder) Close() error { return nil }

func (responder) Kind(method string) (catalog.Kind, bool) {
	switch method {
	case "count", "failing", "telling", "endless":
		return catalog.Stream, true
	}
	return "", false
}

func (responder) Respond(ctx context.Context, q dialect.Request) (json.RawMessage, error) {
	if q.Begin != nil {
		if err := q.Begin(); err != nil {
			return nil, err
		}
	}
	switch q.Method {
	case "count":
		for i := range 3 {
			if err := q.Emit(wire.Event{Data: fmt.Appendf(nil, "%d", i)}); err != nil {
				return nil, err
			}
		}
		return nil, nil
	case "failing":
		_ = q.Emit(wire.Event{Data: json.RawMessage("0")})
		return nil, wire.Errorf(7, "broke")
	case "telling":
		return nil, q.Emit(wire.Event{Kind: wire.Failure, Err: wire.Errorf(7, "broke")})
	case "endless":
		for i := 0; ; i++ {
			if err := q.Emit(wire.Event{Data: fmt.Appendf(nil, "%d", i)}); err != nil {
				return nil, err
			}
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	}
	return q.Params, nil
}

// serve starts a server and returns a connection to it.
func serve(t *testing.T, srv dialect.Server) wire.Conn {
	near, far := transport.Pair()
	p := peer.New(near, jsonrpc.NewCodec(jsonrpc.Options{}), peer.Options{Handler: srv.Accept})
	t.Cleanup(func() { far.Close(); p.Close() })
	return far
}

func client(t *testing.T, c wire.Conn, o peer.Options) *peer.Peer {
	p := peer.New(c, jsonrpc.NewCodec(jsonrpc.Options{}), o)
	t.Cleanup(func() { p.Close() })
	return p
}

// An unsubscribe ends a stream once, and only on its own connection.
func TestServerUnsubscribe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := jsonrpc.NewServer(backend{})
		a, b := client(t, serve(t, srv), peer.Options{}), client(t, serve(t, srv), peer.Options{})
		s, err := a.Open(t.Context(), dialect.Op{Kind: dialect.Subscribe, Method: "endless"})
		testkit.OK(t, err)
		m, err := s.Next(t.Context())
		testkit.OK(t, err)
		params := json.RawMessage("[" + string(m.Body) + "]")
		if got, err := b.Call(t.Context(), "endless_unsubscribe", params); err != nil || string(got) != "false" {
			t.Error("another's connection:", string(got), err)
		}
		if m, err = s.Next(t.Context()); err != nil || string(m.Body) != "0" {
			t.Error(string(m.Body), err)
		}
		if got, err := a.Call(t.Context(), "endless_unsubscribe", params); err != nil || string(got) != "true" {
			t.Error(string(got), err)
		}
		if got, err := a.Call(t.Context(), "endless_unsubscribe", params); err != nil || string(got) != "false" {
			t.Error("the second call:", string(got), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if m, err = s.Next(ctx); err != context.DeadlineExceeded {
			t.Error(string(m.Raw), err)
		}
	})
}

// An unsubscribe that arrives after the end of a stream has no effect.
func TestServerUnsubscribeBehindTheEnd(t *testing.T) {
	for _, method := range []string{"count", "failing", "telling"} {
		h := jsonrpc.NewServer(backend{}).Accept(caller{})
		ends := 0
		in := &dialect.Inbound{Msg: wire.Message{Kind: wire.Request, ID: wire.ID("1"), Method: method}}
		in.Emit = func(ev wire.Event) error {
			if ev.Kind != wire.Done && ev.Kind != wire.Failure {
				return nil
			}
			ends++
			end := &dialect.Inbound{Msg: wire.Message{Kind: wire.Request, ID: wire.ID("2"), Method: method + "_unsubscribe", Params: []byte("[" + string(ev.Stream) + "]")}}
			if got, err := h.Handle(t.Context(), end); err != nil || string(got) != "false" {
				t.Errorf("%s: after the end: %s, %v", method, got, err)
			}
			return nil
		}
		if _, err := h.Handle(t.Context(), in); err != nil || ends != 1 {
			t.Errorf("%s: %d ends, %v", method, ends, err)
		}
	}
}

// Cancelling a stream on the client ends it on the server.
func TestClientUnsubscribes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := client(t, serve(t, jsonrpc.NewServer(backend{})), peer.Options{})
		for range 3 {
			s, err := a.Open(t.Context(), dialect.Op{Kind: dialect.Subscribe, Method: "endless"})
			testkit.OK(t, err)
			for range 5 {
				if _, err := s.Next(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Cancel(t.Context()); err != nil {
				t.Error(err)
			}
			if _, err := s.Next(t.Context()); err != io.EOF {
				t.Error(err)
			}
		}
	})
}

// A server ignores notifications that are neither handled nor end a stream.
func TestIgnores(t *testing.T) {
	ignores := jsonrpc.NewServer(backend{}).Accept(caller{}).Ignores
	for method, want := range map[string]bool{"none": true, "count": false, "rpc.discover": false, "count_unsubscribe": false, "none_unsubscribe": true} {
		if got := ignores(method); got != want {
			t.Errorf("%s: %t", method, got)
		}
	}
}

type caller struct{ dialect.Caller }

func (caller) Connection() *dialect.Connection { return &dialect.Connection{} }

func TestDescribe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := jsonrpc.NewCodec(jsonrpc.Options{}).Abilities()
		silent := client(t, serve(t, jsonrpc.NewServer(backend{})), peer.Options{})
		if _, err := d.Describe(t.Context(), silent); err != wire.ErrUnsupported {
			t.Error(err)
		}
		cat := &catalog.Catalog{Catalog: 1, Methods: []catalog.Method{{Name: "echo", Description: "says it again", Run: "secret"}, {Name: "count", Kind: catalog.Stream}}}
		open := client(t, serve(t, jsonrpc.NewServer(backend{cat})), peer.Options{})
		got, err := d.Describe(t.Context(), open)
		if err != nil || len(got.Methods) != 2 || got.Methods[0].Description != "says it again" || got.Methods[0].Run != "" || got.Methods[1].Kind != catalog.Stream {
			t.Errorf("%+v %v", got, err)
		}
	})
}
