package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/hook"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

func TestStreamsContinueOnTheNextConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dialAgain(t, Options{}, func(ctx context.Context, n int) error {
			if n == 2 {
				return nobody(ctx, n)
			}
			return nil
		})
		watch := c.open(dialect.Watch, "news")
		ticks := c.open(dialect.Subscribe, "ticks")
		over := c.open(dialect.Subscribe, "over")
		f := c.far()
		f.gets(subscribe)
		f.gets(`{"jsonrpc":"2.0","id":2,"method":"over"}`)
		f.says(`{"jsonrpc":"2.0","id":1,"result":"s"}`, tick(1), `{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"no"}}`, tick(2))
		f.goes()
		// A watch opens before other operations are repeated, and so gets the first messages.
		f = c.far()
		f.says(`{"jsonrpc":"2.0","method":"news","params":1}`)
		f.gets(subscribe)
		f.says(`{"jsonrpc":"2.0","id":1,"result":"s"}`, tick(7))
		c.expect(watch, gapLine, "1")
		c.expect(ticks, `"s"`, "1", "2", gapLine, `"s"`, "7")
		c.expect(over, "error no", "end")
		synctest.Wait()
		testkit.Expect(t, "attempts, reconnects and streams", fmt.Sprint(c.attempts, c.d.Reconnects.Load(), len(c.d.streams)), "[0s 250ms 750ms] 1 2")
		testkit.Expect(t, "notes", strings.Join(c.said, ", "), "the peer closed the connection, back after 750ms")
		// If a connection is lost again before the handshake, there is only one gap.
		f.goes()
		c.far().goes()
		f = c.far()
		f.gets(subscribe)
		f.says(`{"jsonrpc":"2.0","id":1,"result":"s"}`, tick(9))
		c.expect(ticks, gapLine, `"s"`, "9")
		// A cancelled subscription is not reopened.
		if err := ticks.Cancel(canceled()); err == nil {
			t.Error("Cancel succeeded without a response")
		}
		f.gets(`{"jsonrpc":"2.0","id":2,"method":"ticks_unsubscribe","params":["s"]}`)
		f.goes()
		f = c.far()
		c.expect(ticks, "end")
		f.says(`{"jsonrpc":"2.0","method":"news","params":2}`)
		c.expect(watch, gapLine, "2")
		c.d.Close()
		if m, err := f.conn.Recv(); err == nil {
			t.Errorf("the subscription was opened again: %s", m)
		}
		c.expect(watch, "failed closed")
		testkit.OK(t, c.d.Err())
	})
}

func canceled() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	context.AfterFunc(ctx, cancel)
	return ctx
}

func TestCallsAroundALoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dialAgain(t, Options{}, nil)
		call := c.open(dialect.Call, "pay")
		f := c.far()
		f.gets(`{"jsonrpc":"2.0","id":1,"method":"pay"}`)
		f.goes()
		c.expect(call, "failed closed") // the peer may have run the call
		// An operation that is opened while there is no connection waits until its context ends.
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := c.d.Open(ctx, dialect.Op{Kind: dialect.Call, Method: "x"}); err != context.DeadlineExceeded {
			t.Error(err)
		}
		call = c.open(dialect.Call, "again")
		testkit.OK(t, c.d.Notify(t.Context(), dialect.Op{Kind: dialect.Notify, Method: "note"}))
		f = c.far()
		f.gets(`{"jsonrpc":"2.0","id":1,"method":"again"}`)
		f.gets(`{"jsonrpc":"2.0","method":"note"}`)
		f.says(`{"jsonrpc":"2.0","id":1,"result":5}`)
		c.expect(call, "5", "end")
	})
}

func TestResubscriptionIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dialAgain(t, Options{}, nil)
		ticks := c.open(dialect.Subscribe, "ticks")
		f := c.far()
		f.gets(subscribe)
		f.says(`{"jsonrpc":"2.0","id":1,"result":"s"}`, tick(1))
		c.expect(ticks, `"s"`, "1")
		f.goes()
		f = c.far()
		f.gets(subscribe)
		f.says(`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no more"}}`)
		c.expect(ticks, "error no more", "end")
		testkit.Expect(t, "registered streams", len(c.d.streams), 0)
	})
}

// After a reconnect, raw traffic continues and reports lost responses.
func TestRawTrafficContinues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dialAgain(t, Options{Raw: true}, nil)
		pipe, err := c.d.Raw()
		testkit.OK(t, err)
		recv := func(want string) {
			t.Helper()
			if m, _, err := pipe.Recv(); err != nil || string(m.Raw) != want {
				t.Fatalf("%s %v, want %s", m.Raw, err, want)
			}
		}
		send := func(msg string) {
			t.Helper()
			testkit.OK(t, pipe.Send(t.Context(), json.RawMessage(msg)))
		}
		f := c.far()
		send(`{"id":1,"method":"a"}`)
		f.gets(`{"id":1,"method":"a"}`)
		f.says(`{"jsonrpc":"2.0","id":9,"method":"ask"}`)
		recv(`{"jsonrpc":"2.0","id":9,"method":"ask"}`)
		f.goes()
		synctest.Wait() // otherwise the message would be sent on the connection that is about to end
		send(`{"id":2,"method":"b"}`)
		f = c.far()
		f.gets(`{"id":2,"method":"b"}`)
		testkit.Expect(t, "a response to a request from a lost connection", testkit.Failed(pipe.Send(t.Context(), json.RawMessage(`{"id":9,"result":1}`))), "failed usage")
		f.says(`{"jsonrpc":"2.0","id":2,"result":1}`)
		recv(`{"jsonrpc":"2.0","id":2,"result":1}`)
		err = pipe.Finish(t.Context())
		if f := wire.AsFault(err); f == nil || f.Kind != wire.Closed || !strings.Contains(f.Message, `before "a" was answered`) {
			t.Error(err)
		}
		pipe.Stop()
		if _, _, err := pipe.Recv(); err != io.EOF {
			t.Error(err)
		}
	})
}

// Finish waits for a running hook, but only until its context ends.
func TestRawTrafficWaitsForHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer, err := hook.ParseAnswer("jq:sleep(60)")
		testkit.OK(t, err)
		c := dialAgain(t, Options{Raw: true, Hooks: []hook.Entry{{Pattern: "ask", Answer: answer}}}, nil)
		pipe, err := c.d.Raw()
		testkit.OK(t, err)
		c.far().says(`{"jsonrpc":"2.0","id":9,"method":"ask"}`)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := pipe.Finish(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		pipe.Stop()
	})
}

// A request that the user has answered is no longer pending.
func TestAnswersOfTheUserFreeTheirPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dialAgain(t, Options{Raw: true}, nil)
		pipe, err := c.d.Raw()
		testkit.OK(t, err)
		f := c.far()
		for n := range 1200 {
			f.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ask"}`, n))
			_, _, err := pipe.Recv()
			testkit.OK(t, err)
			answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":1}`, n)
			testkit.OK(t, pipe.Send(t.Context(), []byte(answer)))
			f.gets(answer)
		}
		if _, theirs := c.d.current().p.Pending(); theirs != 0 {
			t.Error(theirs, "are in flight")
		}
	})
}

// A watch that is announced before connecting gets all messages.
func TestWatchFromTheBeginning(t *testing.T) {
	seesTheFirst(t, "jsonrpc", dialect.Op{Kind: dialect.Watch, Method: "news"}, `{"jsonrpc":"2.0","method":"news","params":1}`)
}

// seesTheFirst checks that op, announced as Options.First, gets a message that the peer sends as soon as it is connected.
func seesTheFirst(t *testing.T, dialectName string, op dialect.Op, sent string) {
	t.Helper()
	for _, again := range []*Reconnect{nil, {}} {
		synctest.Test(t, func(t *testing.T) {
			d, err := newDirect(endpoint.Endpoint{Dialect: dialectName}, Options{First: &op, Reconnect: again})
			testkit.OK(t, err)
			here, there := transport.Pair()
			defer there.Close()
			there.Send([]byte(sent))
			d.dial = func(context.Context, recording) (wire.Conn, func() error, error) { return here, nil, nil }
			testkit.OK(t, d.start(t.Context()))
			defer d.Close()
			synctest.Wait() // the message has been read
			st, err := d.Open(t.Context(), op)
			testkit.OK(t, err)
			for m := (wire.Message{}); m.Kind != wire.Item && string(m.Body) != "1"; {
				m, err = st.Next(t.Context())
				testkit.OK(t, err)
			}
		})
	}
}

// numbered is a codec that makes the number of its connection the data of each event.
type numbered struct {
	dialect.Codec
	n int
}

func (c numbered) Event(_ *wire.Message, ev *wire.Event) error {
	*ev = wire.Event{Kind: wire.Data, Data: fmt.Append(nil, c.n)}
	return nil
}

// A message is decoded by the codec of its connection, even after another connection has opened.
func TestMessagesOfAFormerConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dialAgain(t, Options{}, nil)
		codec, n := c.d.newCodec, 1
		c.d.newCodec = func() dialect.Codec { n++; return numbered{codec(), n} }
		c.far().goes()
		f := c.far()
		ticks := c.open(dialect.Subscribe, "ticks")
		call := c.open(dialect.Call, "a")
		f.gets(subscribe)
		f.gets(`{"jsonrpc":"2.0","id":2,"method":"a"}`)
		f.says(`{"jsonrpc":"2.0","id":1,"result":"s"}`, `{"jsonrpc":"2.0","id":2,"result":1}`)
		f.goes()
		f = c.far()
		f.gets(subscribe)
		f.says(`{"jsonrpc":"2.0","id":1,"result":"s"}`)
		synctest.Wait()
		read := func(st dialect.Stream, want string) {
			t.Helper()
			m, err := st.Next(t.Context())
			testkit.OK(t, err)
			ev, err := dialect.EventOf(c.d, m)
			if got := ev.Kind.String() + string(ev.Data); err != nil || got != want {
				t.Error(got, err, "want", want)
			}
		}
		if w := ticks.(interface{ Waiting() bool }); !w.Waiting() {
			t.Error("no message is waiting")
		}
		read(ticks, "data2")
		read(ticks, "gap")
		read(ticks, "data3")
		read(call, "data2")
	})
}
