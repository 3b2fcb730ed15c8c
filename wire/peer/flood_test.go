package peer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/peer"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// Each unread watch ends on its own. Everything else continues.
func TestSlowWatchesEndOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, far := paired(t, peer.Options{StreamBuffer: 16 << 10, MaxMessage: 16 << 10})
		var watches []dialect.Stream
		for range 3 {
			w := testkit.Start(t, p, dialect.Watch, "", "")
			watches = append(watches, w)
		}
		call, err := p.Open(t.Context(), dialect.Op{Kind: dialect.Call, Method: "x"}) // keeps the reader from stopping
		testkit.OK(t, err)
		for i := range 500 {
			far.Send(fmt.Appendf(nil, `{"method":"n","params":[%d]}`, i))
		}
		far.Send([]byte(`{"id":1,"result":7}`))
		testkit.Expect(t, "the response", testkit.Next(t, call), "7")
		for i, w := range watches {
			n, err := 0, error(nil)
			for ; err == nil; n++ {
				_, err = w.Next(t.Context())
			}
			if f := wire.AsFault(err); f == nil || f.Kind != wire.IO || n < 50 {
				t.Errorf("watch %d ended after %d messages: %v", i, n, err)
			}
		}
	})
}

// The number and the size of unanswered requests are bounded, both for Incoming and for handlers.
func TestRequestsInFlightAreBounded(t *testing.T) {
	for _, c := range []struct {
		name       string
		size, want int
		raw        bool
	}{{"handlers, many requests", 1, 8, false}, {"Incoming, many requests", 1, 8, true}, {"handlers, large requests", 90 << 20, 1, false}, {"Incoming, large requests", 90 << 20, 1, true}} {
		if testkit.Race && c.raw && c.size > 1 { // scripts/check also runs this test without the race detector
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, far := transport.Pair()
				defer far.Close()
				var held atomic.Int64
				o := peer.Options{MaxInbound: 8, Handler: with(func(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
					held.Add(1)
					<-ctx.Done()
					return nil, ctx.Err()
				})}
				if c.raw {
					o.Incoming = func(wire.Message) bool { held.Add(1); return true }
				}
				p := newPeer(t, near, o)
				msg := []byte(`{"jsonrpc":"2.0","id":1,"method":"m","params":["` + strings.Repeat("x", c.size) + `"]}`)
				sent := c.want + 1
				go func() {
					for range sent {
						far.Send(msg)
					}
				}()
				if c.raw { // Incoming takes effect at the next read
					if m, err := far.Recv(); err != nil || !strings.Contains(string(m), `"busy"`) {
						t.Fatal(string(m), err)
					}
				}
				synctest.Wait()
				testkit.Expect(t, "requests that are held", held.Load(), int64(c.want))
				p.RejectOpen(wire.NewError(wire.CodeInternal, "no"))
				if c.raw { // there is room again
					for range c.want {
						far.Recv()
					}
					far.Send([]byte(`{"jsonrpc":"2.0","id":2,"method":"m"}`))
					synctest.Wait()
					testkit.Expect(t, "requests that were taken", held.Load(), int64(c.want)+1)
				}
			})
		})
	}
}

// rpcx reads more slowly from a server whose replies contain too many requests.
func TestExchangeAnswersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var posting, most atomic.Int64
		p := post(t, peer.Options{}, func(ctx context.Context, msg string, say func(string)) error {
			if strings.Contains(msg, `"method":"x"`) {
				for i := range 1000 {
					say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"sampling"}`, i))
				}
				say(`{"jsonrpc":"2.0","id":1,"result":1}`)
				return nil
			}
			most.Store(max(most.Load(), posting.Add(1)))
			defer posting.Add(-1)
			for range 3 { // the peer sends further requests
				say(`{"jsonrpc":"2.0","id":"again","method":"sampling"}`)
			}
			time.Sleep(time.Second)
			return nil
		})
		if got, err := p.Call(t.Context(), "x", nil); err != nil || string(got) != "1" {
			t.Error(string(got), err)
		}
		if n := most.Load(); n > 64 {
			t.Error(n, "answers were posted at once")
		}
	})
}

// The number of open POSTs is also bounded if the reply to a notification contains requests without end.
func TestExchangeOfANotificationIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var posting, most, asked atomic.Int64
		p := post(t, peer.Options{Handler: with(func(context.Context, *dialect.Inbound) (json.RawMessage, error) {
			return json.RawMessage("1"), nil
		})}, func(ctx context.Context, msg string, say func(string)) error {
			if !strings.Contains(msg, `"method":"x"`) {
				most.Store(max(most.Load(), posting.Add(1)))
				defer posting.Add(-1)
			}
			for i := 0; ctx.Err() == nil && i < 10_000; i++ {
				asked.Add(1)
				say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"sampling"}`, i))
			}
			<-ctx.Done()
			return ctx.Err()
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := p.Notify(ctx, dialect.Op{Kind: dialect.Notify, Method: "x"}); err == nil {
			t.Error("the notification was sent")
		}
		if n := most.Load(); n > 64 {
			t.Error(n, "answers were posted at once")
		}
		start := time.Now()
		p.Close()
		if took := time.Since(start); took > 5*time.Second {
			t.Error("Close took", took)
		}
	})
}

// If the reader never stops, a slow watch loses its oldest messages and reports how many, and a streaming call ends. Fast readers
// are not affected.
func TestLossyStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, far := paired(t, peer.Options{StreamBuffer: 256 << 10, Lossy: true})
		watch := testkit.Start(t, p, dialect.Watch, "", "")
		call := testkit.Start(t, p, dialect.Call, "x", "")
		const sent = 5000
		for i := range sent {
			far.Send(fmt.Appendf(nil, `{"method":"n","params":[%d,%q]}`, i, strings.Repeat("x", 500)))
		}
		far.Send([]byte(`{"id":1,"result":7}`))
		testkit.Expect(t, "the response", testkit.Next(t, call), "7")
		m, err := watch.Next(t.Context())
		if err != nil || m.Event == nil || m.Event.Kind != wire.Gap {
			t.Fatal("the first event is not a gap:", m.Event, err)
		}
		got := m.Event.Missed
		for ; got < sent; got++ {
			m, err := watch.Next(t.Context())
			if err != nil || !strings.HasPrefix(string(m.Body), fmt.Sprintf("[%d,", got)) {
				t.Fatalf("message %d is %.20s, %v", got, m.Body, err)
			}
		}
	})
}

// The reader waits once, briefly, for a consumer that does not read.
func TestReaderWaitsOnlyAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, far := paired(t, peer.Options{StreamBuffer: 8 << 20})
		testkit.Start(t, p, dialect.Watch, "unread", "")
		read := testkit.Start(t, p, dialect.Watch, "read", "")
		for range 20 {
			far.Send(fmt.Appendf(nil, `{"method":"unread","params":[%q]}`, strings.Repeat("x", 64<<10)))
		}
		far.Send([]byte(`{"method":"read","params":[1]}`))
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if m, err := read.Next(ctx); err != nil || string(m.Body) != "[1]" {
			t.Error(string(m.Body), err)
		}
	})
}

// An item that arrives before the response to its subscription, and is too large to be stored, is a notification.
func TestLargeEarlyItem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 16 << 10
		got := make(chan int, 2)
		p, far := paired(t, peer.Options{StreamBuffer: limit, MaxMessage: limit, Handler: with(func(_ context.Context, in *dialect.Inbound) (json.RawMessage, error) {
			got <- len(in.Msg.Raw)
			return nil, nil
		})})
		testkit.Start(t, p, dialect.Subscribe, "sub", "")
		large := fmt.Appendf(nil, `{"method":"n","params":{"subscription":"s","result":%q}}`, strings.Repeat("x", limit-100))
		far.Send(large)
		far.Send([]byte(`{"method":"n","params":[1]}`))
		testkit.Expect(t, "the size of the first notification", <-got, len(large))
	})
}
