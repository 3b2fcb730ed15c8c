package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// The pauses between attempts double up to 30 s, until the time limit.
func TestReconnectEndsAtItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dialAgain(t, Options{}, func(ctx context.Context, n int) error {
			switch n {
			case 1:
				return nil
			case 2:
				return errors.New("a failure of no kind")
			}
			return nobody(ctx, n)
		})
		ticks := c.open(dialect.Subscribe, "ticks")
		c.far().goes()
		<-c.d.Done()
		testkit.Expect(t, "the end comes after", time.Since(c.began), time.Minute)
		const want = "[0s 250ms 750ms 1.75s 3.75s 7.75s 15.75s 31.75s]"
		testkit.Expect(t, "attempts", fmt.Sprint(c.attempts), want)
		f := wire.AsFault(c.d.Err())
		if f == nil || f.Kind != wire.Closed || !strings.HasSuffix(f.Message, "; no new connection within 1m0s (--reconnect-for): connection refused") {
			t.Error(f)
		}
		_, err := ticks.Next(t.Context())
		testkit.Expect(t, "the end", err, c.d.Err())
		for _, kind := range []dialect.OpKind{dialect.Call, dialect.Subscribe, dialect.JobRun} {
			if _, err := c.d.Open(t.Context(), dialect.Op{Kind: kind, Method: "x"}); err != c.d.Err() {
				t.Error(kind, err)
			}
		}
		_, noPreview := c.d.Preview(t.Context(), dialect.Op{Method: "x"})
		_, noCatalog := c.d.Describe(t.Context())
		_, noTypes := c.d.Typing(t.Context(), "x")
		for i, err := range []error{noPreview, noCatalog, noTypes, c.d.Notify(t.Context(), dialect.Op{Kind: dialect.Notify, Method: "x"})} {
			testkit.Expect(t, fmt.Sprint("the end ", i), err, c.d.Err())
		}
	})
}

// After a connection that lasted, the pauses start again with the shortest.
func TestReconnectAfterAStableConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dialAgain(t, Options{}, nil)
		for range 3 {
			f := c.far()
			time.Sleep(stableAfter)
			f.goes()
		}
		c.far()
		testkit.Expect(t, "attempts", fmt.Sprint(c.attempts), "[0s 10.25s 20.5s 30.75s]")
	})
}

// A peer that accepts a connection and closes it counts as unreachable, unless it sends a message.
func TestReconnectToAPeerThatCloses(t *testing.T) {
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
						t.Errorf("the peer sends a message: %v; ended after %v", says, time.Since(c.began))
					}
				case <-end:
					if !says {
						t.Error("the conversation did not end")
					}
				}
				break
			}
			if n := len(c.attempts); n > 30 { // the pauses keep doubling
				t.Errorf("%d connection attempts", n)
			}
		})
	}
}

// Permanent failures are not retried.
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
			testkit.Expect(t, "why", testkit.Failed(c.d.Err()), "failed "+string(kind))
			testkit.Expect(t, "the pause", time.Since(c.began), firstPause)
		})
	}
}

// Renew is called once for each loss, even if a later attempt is refused again.
func TestOneRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := wire.NewFault(wire.Auth, "no", nil)
		c := dialAgain(t, Options{}, func(ctx context.Context, n int) error {
			return []error{nil, refused, nobody(ctx, n), refused, refused}[n-1]
		})
		c.d.o.Reconnect.Renew = func(context.Context, *transport.Config) error { return nil }
		c.far().goes()
		<-c.d.Done()
		if got := testkit.Failed(c.d.Err()); got != "failed auth" || len(c.attempts) != 4 {
			t.Error(got, c.attempts)
		}
	})
}

// broken is a connection on which the peer violates the framing.
type broken struct{ wire.Conn }

func (b broken) Recv() ([]byte, error) {
	msg, err := b.Conn.Recv()
	if err != nil {
		err = wire.NewFault(wire.Protocol, "no message", nil)
	}
	return msg, err
}

// A protocol violation is not retried.
func TestNoReconnectAfterBrokenProtocol(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dialAgain(t, Options{}, nil)
		c.d.dial = func(ctx context.Context, rec recording) (wire.Conn, func() error, error) {
			conn, _, err := c.dial(ctx, rec)
			return broken{conn}, nil, err
		}
		c.far().goes()
		f := c.far()
		ticks := c.open(dialect.Subscribe, "ticks")
		f.gets(subscribe)
		f.goes()
		c.expect(ticks, "failed protocol")
		<-c.d.Done()
		testkit.Expect(t, "why", testkit.Failed(c.d.Err()), "failed protocol")
		testkit.Expect(t, "connection attempts", len(c.attempts), 2)
	})
}

// Close ends reconnecting at any time.
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
				t.Error("Close took", time.Since(now))
			}
			c.expect(ticks, "failed closed")
			testkit.Expect(t, "ended", c.d.Err() != nil, after > time.Minute)
		})
	}
}

// handshaker is a codec that sends a handshake message, and waits for the response.
type handshaker struct{ dialect.Codec }

func (g handshaker) Abilities() dialect.Abilities {
	a := g.Codec.Abilities()
	a.Handshake = g.Handshake
	return a
}

func (handshaker) Handshake(ctx context.Context, c dialect.Caller) error {
	_, err := c.Call(ctx, "hello", nil)
	return err
}

func TestHandshakeIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dialAgain(t, Options{}, nil)
		ticks := c.open(dialect.Subscribe, "ticks")
		codec := c.d.newCodec
		c.d.newCodec = func() dialect.Codec { return handshaker{codec()} }
		c.far().goes()
		silent := c.far() // a peer that does not complete the handshake counts as unreachable
		defer silent.goes()
		f := c.far()
		f.gets(`{"jsonrpc":"2.0","id":1,"method":"hello"}`)
		f.says(`{"jsonrpc":"2.0","id":1,"result":null}`)
		f.gets(`{"jsonrpc":"2.0","id":2,"method":"ticks"}`)
		f.says(`{"jsonrpc":"2.0","id":2,"result":"s"}`, tick(3))
		c.expect(ticks, `"s"`, "3") // the lost stream had not opened, so no event was missed
		testkit.Expect(t, "attempts", fmt.Sprint(c.attempts), "[0s 250ms 15.75s]")
	})
}

func TestEndpointsWithoutReconnect(t *testing.T) {
	for _, at := range []string{"http://127.0.0.1:1/", "stdio:", "ipc:", "conversation:/nosuch"} {
		e, err := ParseEndpoint(at, "")
		testkit.OK(t, err)
		_, err = Open(t.Context(), e, Options{Reconnect: &Reconnect{}})
		testkit.Expect(t, at, testkit.Failed(err), "failed usage")
	}
}
