package session

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/transport"
)

// A dialled is a conversation whose far sides are typed by hand: refuse says
// what becomes of the n-th attempt, and each that succeeds has a far side in
// fars.
type dialled struct {
	t        *testing.T
	d        *direct
	refuse   func(ctx context.Context, n int) error
	fars     chan wire.Conn
	attempts []time.Duration // when, since the beginning
	began    time.Time
	said     []string // what Lost and Back were told
}

// dialAgain opens a conversation that is made again for 1 min. The pauses are as
// long as they can be.
func dialAgain(t *testing.T, o Options, refuse func(ctx context.Context, n int) error) *dialled {
	t.Helper()
	c := &dialled{t: t, refuse: refuse, fars: make(chan wire.Conn, 100), began: time.Now()}
	o.Reconnect = &Reconnect{
		For:  time.Minute,
		Lost: func(why error) { c.said = append(c.said, why.Error()) },
		Back: func(after time.Duration) { c.said = append(c.said, "back after "+after.String()) },
	}
	d, err := newDirect(Endpoint{Dialect: "jsonrpc"}, o)
	if err != nil {
		t.Fatal(err)
	}
	c.d, d.dial = d, c.dial
	d.jitter = func(most time.Duration) time.Duration { return most }
	if err := d.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.Close()
		for len(c.fars) > 0 {
			(<-c.fars).Close()
		}
	})
	return c
}

func (c *dialled) dial(ctx context.Context) (wire.Conn, []func() error, error) {
	c.attempts = append(c.attempts, time.Since(c.began))
	if c.refuse != nil {
		if err := c.refuse(ctx, len(c.attempts)); err != nil {
			return nil, nil, err
		}
	}
	here, there := transport.Pair()
	c.fars <- there
	return here, nil, nil
}

// nobody is what a port says on which nobody listens.
func nobody(context.Context, int) error {
	return wire.NewFault(wire.Unreachable, "connection refused", nil)
}

// far is the next far side.
func (c *dialled) far() *farSide { return &farSide{c.t, <-c.fars} }

type farSide struct {
	t    *testing.T
	conn wire.Conn
}

func (f *farSide) gets(want string) {
	f.t.Helper()
	if got, err := f.conn.Recv(); err != nil || string(got) != want {
		f.t.Fatalf("the far side got %s (%v), want %s", got, err, want)
	}
}

func (f *farSide) says(msgs ...string) {
	for _, m := range msgs {
		f.conn.Send([]byte(m))
	}
}

func (f *farSide) goes() { f.conn.Close() }

func (c *dialled) open(kind dialect.OpKind, method string) dialect.Stream {
	c.t.Helper()
	st, err := c.d.Open(c.t.Context(), dialect.Op{Kind: kind, Method: method})
	if err != nil {
		c.t.Fatal(method, err)
	}
	return st
}

// expect demands messages, or how the stream fails, of st.
func (c *dialled) expect(st dialect.Stream, want ...string) {
	c.t.Helper()
	for _, want := range want {
		m, err := st.Next(c.t.Context())
		got := string(m.Body)
		switch ev, everr := c.d.Event(m); {
		case err == io.EOF:
			got = "end"
		case err != nil:
			got = failed(err)
		case m.Err != nil:
			got = "error " + m.Err.Message
		case everr == nil && ev.Kind == wire.Gap:
			got = string(ev.AppendJSON(nil))
		}
		if got != want {
			c.t.Fatalf("got %s (%v), want %s", got, err, want)
		}
	}
}

const (
	gapLine   = `{"event":"gap","message":"the connection was lost and made again","missed":null}`
	subscribe = `{"jsonrpc":"2.0","id":1,"method":"ticks"}`
)

func tick(n int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"ticks","params":{"subscription":"s","result":%d}}`, n)
}

func TestStreamsGoOnOverTheNextConnection(t *testing.T) {
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
		// A watch is there before anything is asked for again: news that come at once are not lost.
		f = c.far()
		f.says(`{"jsonrpc":"2.0","method":"news","params":1}`)
		f.gets(subscribe)
		f.says(`{"jsonrpc":"2.0","id":1,"result":"s"}`, tick(7))
		c.expect(watch, gapLine, "1")
		c.expect(ticks, `"s"`, "1", "2", gapLine, `"s"`, "7")
		c.expect(over, "error no", "end")
		synctest.Wait()
		if got := fmt.Sprint(c.attempts, c.d.Reconnects(), len(c.d.streams)); got != "[0s 250ms 750ms] 1 2" {
			t.Error(got)
		}
		if got := strings.Join(c.said, ", "); got != "the far side ended the connection, back after 750ms" {
			t.Error(got)
		}
		// What is lost again before it stands has one gap.
		f.goes()
		c.far().goes()
		f = c.far()
		f.gets(subscribe)
		f.says(`{"jsonrpc":"2.0","id":1,"result":"s"}`, tick(9))
		c.expect(ticks, gapLine, `"s"`, "9")
		// Nobody wants it any more: it is ended here, and not opened again.
		if err := ticks.Cancel(canceled()); err == nil {
			t.Error("the far side did not answer")
		}
		f.gets(`{"jsonrpc":"2.0","id":2,"method":"ticks_unsubscribe","params":["s"]}`)
		f.goes()
		f = c.far()
		c.expect(ticks, "end")
		f.says(`{"jsonrpc":"2.0","method":"news","params":2}`)
		c.expect(watch, gapLine, "2")
		c.d.Close()
		if m, err := f.conn.Recv(); err == nil {
			t.Errorf("opened again: %s", m)
		}
		c.expect(watch, "failed closed")
		if err := c.d.Err(); err != nil {
			t.Error(err)
		}
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
		c.expect(call, "failed closed") // it may have been paid
		// One that is opened meanwhile waits, as long as its context does.
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := c.d.Open(ctx, dialect.Op{Kind: dialect.Call, Method: "x"}); err != context.DeadlineExceeded {
			t.Error(err)
		}
		call = c.open(dialect.Call, "again")
		if err := c.d.Notify(t.Context(), dialect.Op{Kind: dialect.Notify, Method: "note"}); err != nil {
			t.Error(err)
		}
		f = c.far()
		f.gets(`{"jsonrpc":"2.0","id":1,"method":"again"}`)
		f.gets(`{"jsonrpc":"2.0","method":"note"}`)
		f.says(`{"jsonrpc":"2.0","id":1,"result":5}`)
		c.expect(call, "5", "end")
	})
}

// The pauses double up to 30 s; then the time is over.
func TestReconnectGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dialAgain(t, Options{}, func(ctx context.Context, n int) error {
			if n == 1 {
				return nil
			}
			return nobody(ctx, n)
		})
		ticks := c.open(dialect.Subscribe, "ticks")
		c.far().goes()
		<-c.d.Done()
		if got := time.Since(c.began); got != time.Minute {
			t.Error("after", got)
		}
		const want = "[0s 250ms 750ms 1.75s 3.75s 7.75s 15.75s 31.75s]"
		if got := fmt.Sprint(c.attempts); got != want {
			t.Error(got)
		}
		f := wire.AsFault(c.d.Err())
		if f == nil || f.Kind != wire.Closed || !strings.HasSuffix(f.Message, ", and within 1m0s (--reconnect-for) there was no other: connection refused") {
			t.Error(f)
		}
		_, err := ticks.Next(t.Context())
		if err != c.d.Err() {
			t.Error(err)
		}
		if _, err := c.d.Open(t.Context(), dialect.Op{Kind: dialect.Call, Method: "x"}); err != c.d.Err() {
			t.Error(err)
		}
	})
}

// What accepts and hangs up is as good as nobody; what says something is not.
func TestReconnectToWhatHangsUp(t *testing.T) {
	for _, says := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := dialAgain(t, Options{}, nil)
			end := time.After(10 * time.Minute)
			for {
				select {
				case far := <-c.fars:
					if says {
						far.Send([]byte(`{"jsonrpc":"2.0","method":"bye"}`))
					}
					far.Close()
					continue
				case <-c.d.Done():
					if says || time.Since(c.began) > 2*time.Minute {
						t.Errorf("%v: ended after %v", says, time.Since(c.began))
					}
				case <-end:
					if !says {
						t.Error("never ended")
					}
				}
				break
			}
			if n := len(c.attempts); n > 30 { // the pauses go on growing
				t.Errorf("%d attempts", n)
			}
		})
	}
}

// Some failures would be the same each time.
func TestReconnectEndsAtOnce(t *testing.T) {
	for _, kind := range []wire.FaultKind{wire.Auth, wire.Usage, wire.Conflict, wire.NotFound} {
		synctest.Test(t, func(t *testing.T) {
			c := dialAgain(t, Options{}, func(_ context.Context, n int) error {
				if n == 1 {
					return nil
				}
				return wire.NewFault(kind, "no", nil)
			})
			ticks := c.open(dialect.Subscribe, "ticks")
			c.far().goes()
			c.expect(ticks, "failed "+string(kind))
			<-c.d.Done()
			expect(t, "why", failed(c.d.Err()), "failed "+string(kind))
			if time.Since(c.began) != firstPause {
				t.Error(time.Since(c.began))
			}
		})
	}
}

// broken is a connection whose end is that the far side broke the framing.
type broken struct{ wire.Conn }

func (b broken) Recv() ([]byte, error) {
	msg, err := b.Conn.Recv()
	if err != nil {
		err = wire.NewFault(wire.Protocol, "no message", nil)
	}
	return msg, err
}

// A far side that breaks its protocol would do so again.
func TestNoReconnectAfterBrokenProtocol(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dialAgain(t, Options{}, nil)
		c.d.dial = func(ctx context.Context) (wire.Conn, []func() error, error) {
			conn, _, err := c.dial(ctx)
			return broken{conn}, nil, err
		}
		c.far().goes()
		f := c.far()
		ticks := c.open(dialect.Subscribe, "ticks")
		f.gets(subscribe)
		f.goes()
		c.expect(ticks, "failed protocol")
		<-c.d.Done()
		expect(t, "why", failed(c.d.Err()), "failed protocol")
		if len(c.attempts) != 2 {
			t.Error(c.attempts)
		}
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
		if len(c.d.streams) != 0 {
			t.Error("it is kept")
		}
	})
}

// Close ends the dialling, wherever it is.
func TestCloseWhileDialling(t *testing.T) {
	hang := func(ctx context.Context, n int) error {
		if n == 1 {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	}
	for _, after := range []time.Duration{0, 100 * time.Millisecond, time.Second, 2 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			c := dialAgain(t, Options{}, hang)
			ticks := c.open(dialect.Subscribe, "ticks")
			c.far().goes()
			time.Sleep(after)
			synctest.Wait()
			now := time.Now()
			c.d.Close()
			<-c.d.Done()
			if time.Since(now) > 0 {
				t.Error("it took", time.Since(now))
			}
			c.expect(ticks, "failed closed")
			if gave := after > time.Minute; (c.d.Err() != nil) != gave {
				t.Error(c.d.Err())
			}
		})
	}
}

// greeter says hello, and waits for the answer.
type greeter struct{ dialect.Codec }

func (greeter) Greet(ctx context.Context, c dialect.Caller) error {
	_, err := c.Call(ctx, "hello", nil)
	return err
}

func TestGreetsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dialAgain(t, Options{Greeting: 5 * time.Second}, nil)
		ticks := c.open(dialect.Subscribe, "ticks")
		codec := c.d.newCodec
		c.d.newCodec = func() dialect.Codec { return greeter{codec()} }
		c.far().goes()
		silent := c.far() // who does not greet in time is not there
		defer silent.goes()
		f := c.far()
		f.gets(`{"jsonrpc":"2.0","id":1,"method":"hello"}`)
		f.says(`{"jsonrpc":"2.0","id":1,"result":null}`)
		f.gets(`{"jsonrpc":"2.0","id":2,"method":"ticks"}`)
		f.says(`{"jsonrpc":"2.0","id":2,"result":"s"}`, tick(3))
		c.expect(ticks, `"s"`, "3") // it had not stood before: nothing was missed
		if got := fmt.Sprint(c.attempts); got != "[0s 250ms 5.75s]" {
			t.Error(got)
		}
	})
}

// The traffic itself goes on, and what was lost with a connection is told.
func TestRawTrafficGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dialAgain(t, Options{Raw: true}, nil)
		pipe, err := c.d.Raw()
		if err != nil {
			t.Fatal(err)
		}
		recv := func(want string) {
			t.Helper()
			if m, _, err := pipe.Recv(); err != nil || string(m.Raw) != want {
				t.Fatalf("%s %v, want %s", m.Raw, err, want)
			}
		}
		send := func(msg string) {
			t.Helper()
			if err := pipe.Send(t.Context(), json.RawMessage(msg)); err != nil {
				t.Fatal(err)
			}
		}
		f := c.far()
		send(`{"id":1,"method":"a"}`)
		f.gets(`{"id":1,"method":"a"}`)
		f.says(`{"jsonrpc":"2.0","id":9,"method":"ask"}`)
		recv(`{"jsonrpc":"2.0","id":9,"method":"ask"}`)
		f.goes()
		synctest.Wait() // else it is sent to whom is about to be gone
		send(`{"id":2,"method":"b"}`)
		f = c.far()
		f.gets(`{"id":2,"method":"b"}`)
		if err := pipe.Send(t.Context(), json.RawMessage(`{"id":9,"result":1}`)); failed(err) != "failed usage" {
			t.Errorf("the answer to nobody: %v", err)
		}
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

func TestWhatCannotBeDialledAgain(t *testing.T) {
	for _, at := range []string{"http://127.0.0.1:1/", "stdio:", "ipc:", "conversation:/nosuch"} {
		e, err := ParseEndpoint(at, "")
		if err != nil {
			t.Fatal(err)
		}
		_, err = Open(t.Context(), e, Options{Reconnect: &Reconnect{}})
		expect(t, at, failed(err), "failed usage")
	}
}

// A request that the user has answered is in flight no more.
func TestAnswersOfTheUserFreeTheirPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dialAgain(t, Options{Raw: true}, nil)
		pipe, err := c.d.Raw()
		if err != nil {
			t.Fatal(err)
		}
		f := c.far()
		for n := range 1200 {
			f.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ask"}`, n))
			if _, _, err := pipe.Recv(); err != nil {
				t.Fatal(err)
			}
			answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":1}`, n)
			if err := pipe.Send(t.Context(), []byte(answer)); err != nil {
				t.Fatal(err)
			}
			f.gets(answer)
		}
		if _, theirs := c.d.current().p.Pending(); theirs != 0 {
			t.Error(theirs, "are in flight")
		}
	})
}

// A watch that was announced sees what comes before anything else can be done.
func TestWatchFromTheBeginning(t *testing.T) {
	for _, again := range []*Reconnect{nil, {}} {
		synctest.Test(t, func(t *testing.T) {
			watch := dialect.Op{Kind: dialect.Watch, Method: "news"}
			d, err := newDirect(Endpoint{Dialect: "jsonrpc"}, Options{Watch: &watch, Reconnect: again})
			if err != nil {
				t.Fatal(err)
			}
			here, there := transport.Pair()
			defer there.Close()
			there.Send([]byte(`{"jsonrpc":"2.0","method":"news","params":1}`))
			d.dial = func(context.Context) (wire.Conn, []func() error, error) { return here, nil, nil }
			if err := d.start(t.Context()); err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			synctest.Wait() // it has been read
			st, err := d.Open(t.Context(), watch)
			if err != nil {
				t.Fatal(err)
			}
			if m, err := st.Next(t.Context()); err != nil || string(m.Body) != "1" {
				t.Error(string(m.Body), err)
			}
		})
	}
}
