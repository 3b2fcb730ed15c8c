package peer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/framing"
	"rpcx/wire/peer"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
	"rpcx/wire/transport/schemes"
)

// TestTransports makes parallel calls, a stream, ordered notifications and, except over POSTs, a nested call, over each listener.
func TestTransports(t *testing.T) {
	dir := t.TempDir()
	for _, listen := range []string{
		"tcp://127.0.0.1:0", "unix:" + dir + "/s", "ws://127.0.0.1:0/", "http://127.0.0.1:0/",
		"ws+unix:" + dir + "/w:/x", "http+unix:" + dir + "/h:/x",
	} {
		t.Run(listen[:strings.IndexByte(listen, ':')], func(t *testing.T) { overTransport(t, listen) })
	}
}

func overTransport(t *testing.T, listen string) {
	c := transport.Config{Framing: framing.Line}
	a, err := transport.Parse(listen)
	testkit.OK(t, err)
	l, err := schemes.Listen(t.Context(), a, c)
	testkit.OK(t, err)
	told := make(chan string, 100)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer l.Close()
	wg.Go(func() { accept(t, l, &wg, told) })

	a, err = transport.Parse(l.Endpoint())
	testkit.OK(t, err)
	conn, err := schemes.Dial(t.Context(), a, c)
	testkit.OK(t, err)
	p := newPeer(t, conn, peer.Options{Handler: with(func(_ context.Context, in *dialect.Inbound) (json.RawMessage, error) {
		return json.RawMessage(`"client"`), nil
	})})
	defer p.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	manyCalls(ctx, t, p)
	oneStream(ctx, t, p)
	for i := range 20 {
		testkit.OK(t, p.Notify(ctx, dialect.Op{Kind: dialect.Notify, Method: "told", Params: fmt.Appendf(nil, "[%d]", i)}))
	}
	for i := range 20 {
		testkit.Expect(t, "the next notification", <-told, fmt.Sprintf("[%d]", i))
	}
	if !strings.HasPrefix(listen, "http") {
		if got, err := p.Call(ctx, "nested", nil); err != nil || string(got) != `"client"` {
			t.Error(string(got), err)
		}
	}
	short, stop := context.WithTimeout(ctx, 50*time.Millisecond)
	defer stop()
	if _, err := p.Call(short, "never", nil); err != context.DeadlineExceeded {
		t.Error(err)
	}
	if got, err := p.Call(ctx, "echo", json.RawMessage("[1]")); err != nil || string(got) != "[1]" {
		t.Error("after a deadline:", string(got), err)
	}
}

// accept serves connections until the listener closes.
func accept(t *testing.T, l transport.Listener, wg *sync.WaitGroup, told chan<- string) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		var p *peer.Peer
		ready := make(chan struct{})
		p = peer.New(conn, jsonrpc.NewCodec(jsonrpc.Options{}), peer.Options{Drain: time.Second, Handler: with(func(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
			<-ready
			switch in.Msg.Method {
			case "told":
				told <- string(in.Msg.Params)
			case "nested":
				return p.Call(ctx, "x", nil)
			case "never":
				<-ctx.Done()
				return nil, ctx.Err()
			case "ticks":
				in.Answered = true
				id := wire.ID(`"s"`)
				_ = in.Emit(wire.Event{Kind: wire.Opened, Stream: id})
				for i := range 1000 {
					if err := in.Emit(wire.Event{Stream: id, Data: fmt.Appendf(nil, "%d", i)}); err != nil {
						t.Error(err)
					}
				}
				return nil, in.Emit(wire.Event{Kind: wire.Done, Stream: id})
			}
			return in.Msg.Params, nil
		})})
		close(ready)
		wg.Go(func() {
			<-p.Done()
			p.Close()
		})
	}
}

func manyCalls(ctx context.Context, t *testing.T, p *peer.Peer) {
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			want := fmt.Sprintf(`["%d"]`, i)
			if got, err := p.Call(ctx, "echo", json.RawMessage(want)); err != nil || string(got) != want {
				t.Error(string(got), err)
			}
		})
	}
	wg.Wait()
}

func oneStream(ctx context.Context, t *testing.T, p *peer.Peer) {
	s, err := p.Open(ctx, dialect.Op{Kind: dialect.Subscribe, Method: "ticks"})
	testkit.OK(t, err)
	for i := -1; i < 1000; i++ {
		m, err := s.Next(ctx)
		if err != nil || i >= 0 && string(m.Body) != fmt.Sprint(i) {
			t.Fatalf("item %d is %s, %v", i, m.Body, err)
		}
	}
	if m, err := s.Next(ctx); err != nil || !m.Final {
		t.Fatal(m.Kind, err)
	}
	if _, err := s.Next(ctx); err != io.EOF {
		t.Fatal(err)
	}
}
