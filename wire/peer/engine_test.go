package peer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/peer"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

type handler func(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error)

func with(h handler) func(dialect.Caller) dialect.Handler {
	return func(dialect.Caller) dialect.Handler { return dialect.Handler{Handle: h} }
}

// two returns two connected peers, which are closed when the test ends.
func two(t *testing.T, a, b peer.Options) (*peer.Peer, *peer.Peer) {
	ca, cb := transport.Pair()
	pa, pb := newPeer(t, ca, a), newPeer(t, cb, b)
	return pa, pb
}

func newPeer(t *testing.T, c wire.Conn, o peer.Options) *peer.Peer {
	p := peer.New(c, jsonrpc.NewCodec(jsonrpc.Options{}), o)
	t.Cleanup(func() { p.Close() })
	return p
}

// paired returns a peer and the other end of its connection. Both are closed when the test ends.
func paired(t *testing.T, o peer.Options) (*peer.Peer, wire.Conn) {
	near, far := transport.Pair()
	p := newPeer(t, near, o)
	t.Cleanup(func() { far.Close() })
	return p, far
}

// Each side makes a thousand calls with the same ids as the other, and gets the responses out of order.
func TestManyCallsBothWays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		echo := with(func(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
			time.Sleep(rand.N(time.Second))
			return in.Msg.Params, nil
		})
		a, b := two(t, peer.Options{Handler: echo}, peer.Options{Handler: echo})
		var wg sync.WaitGroup
		for i := range 1000 {
			for _, p := range []*peer.Peer{a, b} {
				wg.Go(func() {
					want := fmt.Sprintf("[%d]", i)
					got, err := p.Call(t.Context(), "echo", json.RawMessage(want))
					if err != nil || string(got) != want {
						t.Errorf("got %s %v, want %s", got, err, want)
					}
				})
			}
		}
		wg.Wait()
	})
}

// Calls are nested fifty deep.
func TestNestedCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a, b *peer.Peer
		down := func(other **peer.Peer) func(dialect.Caller) dialect.Handler {
			return with(func(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
				var n []int
				json.Unmarshal(in.Msg.Params, &n)
				if n[0] == 0 {
					return json.RawMessage(`"bottom"`), nil
				}
				return (*other).Call(ctx, "down", json.RawMessage(fmt.Sprintf("[%d]", n[0]-1)))
			})
		}
		a, b = two(t, peer.Options{Handler: down(&a)}, peer.Options{Handler: down(&b)})
		got, err := a.Call(t.Context(), "down", json.RawMessage("[50]"))
		if err != nil || string(got) != `"bottom"` {
			t.Fatal(string(got), err)
		}
	})
}

func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := two(t, peer.Options{}, peer.Options{Handler: with(func(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
			if in.Msg.Method == "quick" {
				return json.RawMessage("1"), nil
			}
			<-ctx.Done()
			return nil, ctx.Err()
		})})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		start := time.Now()
		if _, err := a.Call(ctx, "never", nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Error("never:", err)
		}
		testkit.Expect(t, "the end comes after", time.Since(start), 5*time.Second)
		// The connection still works.
		testkit.Expect(t, "quick", testkit.Call(t, a, "quick", ""), "1")
	})
}

// A peer that reads nothing delays neither a call beyond its deadline nor Close beyond its limit.
func TestPeerThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := paired(t, peer.Options{})
		big := json.RawMessage(`["` + strings.Repeat("x", 600<<10) + `"]`)
		start := time.Now()
		for i := range 8 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			var err error
			if i%2 == 0 {
				_, err = p.Call(ctx, "big", big)
			} else {
				err = p.Notify(ctx, dialect.Op{Kind: dialect.Notify, Method: "big", Params: big})
			}
			if i > 1 && !errors.Is(err, context.DeadlineExceeded) {
				t.Error(i, err)
			}
			cancel()
		}
		p.Close()
		if d := time.Since(start); d > 15*time.Second {
			t.Error("took", d)
		}
	})
}

// slowFar opens a subscription to which the peer sends 3,000 items of the given size as fast as it can. sent returns how many were
// accepted.
func slowFar(t *testing.T, o peer.Options, size int, first ...string) (p *peer.Peer, far wire.Conn, s dialect.Stream, sent func() int) {
	p, far = paired(t, o)
	s = testkit.Start(t, p, dialect.Subscribe, "x", "")
	far.Recv()
	far.Send([]byte(`{"id":1,"result":"s"}`))
	for _, msg := range first {
		far.Send([]byte(msg))
	}
	var mu sync.Mutex
	n := 0
	go func() {
		for i := range 3000 {
			msg := fmt.Sprintf(`{"method":"n","params":{"subscription":"s","result":%d,"fill":"%s"}}`, i, strings.Repeat("x", size))
			if far.Send([]byte(msg)) != nil {
				return
			}
			mu.Lock()
			n = i + 1
			mu.Unlock()
		}
	}()
	return p, far, s, func() int { mu.Lock(); defer mu.Unlock(); return n }
}

// The reader stops when a stream's queue is full, and continues when the stream is read. No item is lost.
func TestBackpressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const buffer = 1 << 20
		p, _, s, sent := slowFar(t, peer.Options{StreamBuffer: buffer}, 10<<10)
		synctest.Wait()
		if n := sent(); n < 100 || n > 300 {
			t.Errorf("%d messages of 10 KiB were read with a buffer of 1 MiB", n)
		}
		if m, err := s.Next(t.Context()); err != nil || m.Kind != wire.Response {
			t.Fatal(m.Kind, err)
		}
		for i := range 1000 {
			m, err := s.Next(t.Context())
			if err != nil || string(m.Body) != fmt.Sprint(i) {
				t.Fatalf("item %d is %s, %v", i, m.Body, err)
			}
		}
		// Close does not wait for the consumer.
		p.Close()
		for {
			if _, err := s.Next(t.Context()); err != nil {
				testkit.Expect(t, "the outcome", testkit.Failed(err), "failed closed")
				break
			}
		}
	})
}

// While a response is pending, the reader continues up to one more message of the maximum size. Then the slow stream ends, so that
// the response is found.
func TestSlowStreamDoesNotDelayAnAnswer(t *testing.T) {
	for _, outstanding := range []string{"call", "hook"} {
		t.Run(outstanding, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				var first []string
				if outstanding == "hook" {
					first = append(first, `{"jsonrpc":"2.0","id":9,"method":"m"}`)
				}
				p, far, s, sent := slowFar(t, peer.Options{
					StreamBuffer: 1 << 20, MaxMessage: 2 << 20,
					Handler: with(func(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
						select {
						case <-release:
						case <-ctx.Done():
						}
						return nil, nil
					}),
				}, 10<<10, first...)
				go func() { // what the peer reads
					for {
						if _, err := far.Recv(); err != nil {
							return
						}
					}
				}()
				synctest.Wait()
				stopped := sent()
				if outstanding == "hook" && stopped < 3000 || outstanding == "call" && stopped > 300 {
					t.Error(stopped, "messages were taken")
				}
				var call dialect.Stream
				if outstanding == "call" {
					var err error
					call, err = p.Open(t.Context(), dialect.Op{Kind: dialect.Call, Method: "y"})
					testkit.OK(t, err)
				}
				synctest.Wait()
				if call != nil {
					far.Send([]byte(`{"id":2,"result":"found"}`))
					testkit.Expect(t, "the response", testkit.Next(t, call), `"found"`)
				}
				close(release)
				if n := sent(); n < 3000 {
					t.Errorf("the reader did not continue: %d messages, then %d", stopped, n)
				}
				var err error
				for n := 0; err == nil; n++ {
					if _, err = s.Next(t.Context()); n > 10000 {
						t.Fatal("the stream did not end")
					}
				}
				testkit.Expect(t, "the end", testkit.Failed(err), "failed io")
			})
		})
	}
}

// Close returns after all goroutines have ended.
func TestCloseWhileBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		running := 0
		count := func(n int) { mu.Lock(); running += n; mu.Unlock() }
		busy := with(func(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
			count(1)
			defer count(-1)
			for ctx.Err() == nil {
				_ = in.Emit(wire.Event{Kind: wire.Data, Stream: wire.ID("1"), Data: json.RawMessage("1")})
				time.Sleep(10 * time.Millisecond)
			}
			time.Sleep(100 * time.Millisecond)
			return nil, ctx.Err()
		})
		a, b := two(t, peer.Options{Handler: busy}, peer.Options{Handler: busy})
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() { a.Call(t.Context(), "x", nil) })
			wg.Go(func() { b.Call(t.Context(), "x", nil) })
			wg.Go(func() { b.Notify(t.Context(), dialect.Op{Kind: dialect.Notify, Method: "n"}) })
		}
		time.Sleep(time.Second)
		start := time.Now()
		a.Close()
		b.Close()
		if d := time.Since(start); d > 5*time.Second {
			t.Error("Close took", d)
		}
		testkit.Expect(t, "handlers that outlive Close", running, 0)
		wg.Wait()
		testkit.OK(t, a.Close())
	})
}

// CloseWith sends pending messages before it closes.
func TestCloseWith(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, far := paired(t, peer.Options{})
		_ = p.Notify(t.Context(), dialect.Op{Kind: dialect.Notify, Method: "evicted"})
		testkit.OK(t, p.CloseWith(1000, "displaced"))
		<-p.Done()
		if msg, err := far.Recv(); err != nil || !strings.Contains(string(msg), "evicted") {
			t.Error(string(msg), err)
		}
		if _, err := far.Recv(); err == nil || err == io.EOF {
			t.Error(err)
		}
		testkit.OK(t, p.Err())
	})
}

// Messages that the handler sends when it is created precede all others.
func TestHandlerSendsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := transport.Pair()
		defer far.Close()
		far.Send([]byte(`{"jsonrpc":"2.0","id":1,"method":"x"}`))
		newPeer(t, near, peer.Options{Handler: func(c dialect.Caller) dialect.Handler {
			_ = c.Notify(t.Context(), dialect.Op{Kind: dialect.Notify, Method: "handshake"})
			return dialect.Handler{Handle: func(context.Context, *dialect.Inbound) (json.RawMessage, error) { return nil, nil }}
		}})
		if msg, _ := far.Recv(); !strings.Contains(string(msg), "handshake") {
			t.Error(string(msg))
		}
	})
}

// Notifications are lost only if their handler is slow while the reader cannot stop. The loss is reported.
func TestNotificationsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var got []string
		var notes []peer.Note
		p, far := paired(t, peer.Options{
			Note: func(n peer.Note) { mu.Lock(); defer mu.Unlock(); notes = append(notes, n) },
			Handler: with(func(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
				time.Sleep(time.Millisecond)
				mu.Lock()
				defer mu.Unlock()
				got = append(got, string(in.Msg.Params))
				return nil, nil
			}),
		})
		const many, inArray = 20_000, 10_000
		go func() {
			far.Send([]byte("[" + strings.Repeat(`{"method":"n"},`, inArray-1) + `{"method":"n"}]`))
			for i := range many {
				far.Send(fmt.Appendf(nil, `{"method":"n","params":[%d]}`, i))
			}
		}()
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(got) != inArray+many || got[inArray+many-1] != fmt.Sprintf("[%d]", many-1) || len(notes) > 0 {
			t.Fatalf("%d notifications were handled, notes %v", len(got), notes)
		}
		// A call is pending.
		testkit.Start(t, p, dialect.Call, "never", "")
		got = nil
		go func() {
			for i := range many {
				far.Send(fmt.Appendf(nil, `{"method":"n","params":[%d]}`, i))
			}
		}()
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(got) >= many || len(notes) == 0 || notes[0].Kind != peer.NoteDropped || got[len(got)-1] != fmt.Sprintf("[%d]", many-1) {
			t.Errorf("%d notifications were handled, %d notes", len(got), len(notes))
		}
		p.Close()
		if want := fmt.Sprintf("notifications lost in total: %d", many-len(got)); len(notes) != 2 || notes[1].Text != want {
			t.Errorf("%v, not %s", notes, want)
		}
	})
}

// After the response, a handler can send no further events.
func TestEventsAfterTheResponseFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var was *dialect.Inbound
		_, far := paired(t, peer.Options{Handler: with(func(_ context.Context, in *dialect.Inbound) (json.RawMessage, error) {
			was = in
			return json.RawMessage("1"), nil
		})})
		testkit.OK(t, far.Send([]byte(`{"jsonrpc":"2.0","id":1,"method":"m"}`)))
		if m, err := far.Recv(); err != nil || !strings.Contains(string(m), `"result":1`) {
			t.Error(string(m), err)
		}
		synctest.Wait()
		if was.Emit(wire.Event{Kind: wire.Data, Data: json.RawMessage("2")}) == nil {
			t.Error("an event was sent")
		}
	})
}
