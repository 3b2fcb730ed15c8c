package peer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// A handshaker is a dialect in which the peer sends the first message, items can precede the response, and closing sends a message.
type handshaker struct{ dialect.Codec }

func newHandshaker() *handshaker { return &handshaker{jsonrpc.NewCodec(jsonrpc.Options{})} }

func (g *handshaker) Decode(raw []byte) ([]wire.Message, bool, error) {
	switch {
	case bytes.HasPrefix(raw, []byte("hello")):
		return []wire.Message{{Kind: wire.Handshake, Method: "hello", Raw: raw, Body: raw}}, false, nil
	case bytes.HasPrefix(raw, []byte("item")):
		m := wire.Message{Kind: wire.Item, ID: wire.ID(raw[5:6]), Raw: raw, Body: raw[7:]}
		m.Final = string(m.Body) == "end"
		return []wire.Message{m}, false, nil
	case bytes.HasPrefix(raw, []byte("fatal")):
		return nil, false, wire.NewFault(wire.Protocol, "that is not spoken here", nil)
	}
	return g.Codec.Decode(raw)
}

func (g *handshaker) Abilities() dialect.Abilities {
	a := g.Codec.Abilities()
	a.Handshake, a.Shutdown = g.Handshake, g.Shutdown
	return a
}

func (g *handshaker) Handshake(ctx context.Context, c dialect.Caller) error {
	s, err := c.Open(ctx, dialect.Op{Kind: dialect.Watch, Method: "hello"})
	if err != nil {
		return err
	}
	defer s.Cancel(ctx)
	_, err = s.Next(ctx)
	return err
}

func (g *handshaker) Shutdown(ctx context.Context, c dialect.Caller) error {
	_, err := c.Call(ctx, "bye", nil)
	return err
}

// The handshake is found among other messages. Requests that arrive before it get responses.
func TestHandshake(t *testing.T) {
	for _, when := range []string{"before", "after"} {
		t.Run(when, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, far := transport.Pair()
				defer far.Close()
				if when == "before" {
					far.Send([]byte("hello"))
				}
				p := peer.New(near, newHandshaker(), peer.Options{CloseTimeout: time.Second})
				synctest.Wait()
				if when == "after" {
					go func() {
						far.Send([]byte(`{"jsonrpc":"2.0","id":1,"method":"m"}`))
						far.Recv()
						far.Send([]byte("hello"))
					}()
				}
				testkit.OK(t, p.Handshake(t.Context()))
				start := time.Now() // the closing message gets no response
				p.Close()
				if d := time.Since(start); d > 2*time.Second {
					t.Error("Close took", d)
				}
			})
		})
	}
}

func TestGoodbye(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := transport.Pair()
		defer far.Close()
		p := peer.New(near, newHandshaker(), peer.Options{})
		go func() {
			msg, _ := far.Recv()
			if !strings.Contains(string(msg), "bye") {
				t.Errorf("%s", msg)
			}
			far.Send([]byte(`{"id":1,"result":null}`))
		}()
		start := time.Now()
		p.Close()
		if time.Since(start) > 0 {
			t.Error("Close took", time.Since(start))
		}
	})
}

// Items that have the request's id need no response.
func TestItemsByID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := transport.Pair()
		defer far.Close()
		p := peer.New(near, newHandshaker(), peer.Options{CloseTimeout: 1})
		defer p.Close()
		s := testkit.Start(t, p, dialect.Subscribe, "watch", "")
		for _, msg := range []string{"item 1 a", "item 2 stranger", "item 1 b", "item 1 end", "item 1 late"} {
			far.Send([]byte(msg))
		}
		for _, want := range []string{"a", "b", "end"} {
			testkit.Expect(t, "the next item", testkit.Next(t, s), want)
		}
		testkit.Expect(t, "the end", testkit.Next(t, s), "failed: EOF")
	})
}

// A fatal error of the codec ends the connection and all calls.
func TestDecodeFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := transport.Pair()
		defer far.Close()
		p := peer.New(near, newHandshaker(), peer.Options{})
		s := testkit.Start(t, p, dialect.Call, "x", "")
		far.Send([]byte("fatal"))
		_, err := s.Next(t.Context())
		if f := wire.AsFault(err); f == nil || f.Kind != wire.Protocol || f.Method != "x" {
			t.Error(err)
		}
		<-p.Done()
		testkit.Expect(t, "the end", testkit.Failed(p.Err()), "failed protocol")
		p.Close()
	})
}

// A conn is a connection whose writes and reads can be slow or fail.
type conn struct {
	wire.Conn
	mu      sync.Mutex
	buf     [][]byte
	writes  int
	slow    time.Duration // how long a write takes
	sendErr error
	lost    error // returned by Flush
	recvErr error
}

func (c *conn) SendBuffered(msg []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sendErr != nil {
		return c.sendErr
	}
	c.buf = append(c.buf, bytes.Clone(msg))
	return nil
}

func (c *conn) Flush() error {
	c.mu.Lock()
	buf := c.buf
	c.buf = nil
	slow, lost := c.slow, c.lost
	if len(buf) > 0 {
		c.writes++
	}
	c.mu.Unlock()
	if lost != nil {
		return lost
	}
	time.Sleep(slow)
	for _, msg := range buf {
		if err := c.Conn.Send(msg); err != nil {
			return err
		}
	}
	return nil
}

func (c *conn) Send(msg []byte) error {
	return errors.Join(c.SendBuffered(msg), c.Flush())
}

func (c *conn) Recv() ([]byte, error) {
	msg, err := c.Conn.Recv()
	if err != nil && c.recvErr != nil {
		err = c.recvErr
	}
	return msg, err
}

// Messages that are sent during a write are written together afterwards.
func TestWritesAreCoalesced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := transport.Pair()
		c := &conn{Conn: near, slow: time.Second}
		p := newPeer(t, c, peer.Options{})
		newPeer(t, far, peer.Options{Handler: with(func(context.Context, *dialect.Inbound) (json.RawMessage, error) {
			return nil, nil
		})})
		var wg sync.WaitGroup
		for range 64 {
			wg.Go(func() {
				if _, err := p.Call(t.Context(), "x", nil); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if c.writes > 3 {
			t.Errorf("%d writes for 64 calls", c.writes)
		}
		start := time.Now()
		if _, err := p.Call(t.Context(), "x", nil); err != nil || time.Since(start) != time.Second {
			t.Error("a single message takes", time.Since(start), err)
		}
	})
}

// The error from reading takes precedence over a failed write.
func TestWriteFails(t *testing.T) {
	broken := errors.New("broken pipe")
	child := &wire.Child{Command: "plugin", Exit: 3}
	for _, test := range []struct {
		name    string
		recv    error // returned by Recv after a moment; if nil, Recv blocks
		want    string
		message string
	}{
		{"the read returns the reason", &wire.CloseError{Child: child}, "plugin ended with status 3", `plugin ended with status 3, before "x" was answered`},
		{"the read does not return", nil, "connection lost: broken pipe", `connection lost: broken pipe, before "x" was answered`},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, far := transport.Pair()
				c := &conn{Conn: near, sendErr: broken, recvErr: test.recv}
				p := newPeer(t, c, peer.Options{})
				if test.recv != nil {
					time.AfterFunc(10*time.Millisecond, func() { far.Close() })
				}
				_, err := p.Call(t.Context(), "x", nil)
				if f := wire.AsFault(err); f == nil || f.Kind != wire.Closed || f.Error() != test.message || test.recv != nil && f.Child != child {
					t.Errorf("%+v", err)
				}
				<-p.Done()
				if p.Err() == nil {
					t.Error("the connection ended without an error")
				}
				far.Close()
			})
		})
	}
}

// Messages, including notifications, that were buffered but not written are reported as unsent.
func TestAFailedFlushIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := transport.Pair()
		defer far.Close()
		p := newPeer(t, &conn{Conn: near, lost: errors.New("no space left")}, peer.Options{})
		err := p.Notify(t.Context(), dialect.Op{Kind: dialect.Notify, Method: "x"})
		if f := wire.AsFault(err); f == nil || f.Kind != wire.Closed || f.Error() != "connection lost: no space left" {
			t.Errorf("%+v", err)
		}
	})
}

// A message over the peer's limit fails, and other messages do not.
func TestOneMessageFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := transport.Pair()
		defer far.Close()
		c := &conn{Conn: near, sendErr: wire.NewFault(wire.Usage, "the message is too large", nil)}
		p := newPeer(t, c, peer.Options{})
		_, err := p.Call(t.Context(), "x", nil)
		testkit.Expect(t, "a call", fmt.Sprint(err), "the message is too large")
		testkit.Expect(t, "a notification", fmt.Sprint(p.Notify(t.Context(), dialect.Op{Kind: dialect.Notify, Method: "x"})), "the message is too large")
		c.mu.Lock()
		c.sendErr = nil
		c.mu.Unlock()
		testkit.OK(t, p.Notify(t.Context(), dialect.Op{Kind: dialect.Notify, Method: "x"}))
	})
}

// A singleExchange is a POST that accepts one response.
type singleExchange struct {
	*conn
	sent int
	gone chan struct{}
}

func (o *singleExchange) SingleExchange()             {}
func (o *singleExchange) PeerClosed() <-chan struct{} { return o.gone }
func (o *singleExchange) SendBuffered(msg []byte) error {
	if o.sent++; o.sent > 1 {
		return errors.New("one answer and no event stream")
	}
	return o.conn.SendBuffered(msg)
}

// A POST gets its response, however late. A stream that a POST cannot carry ends, and handlers end when the peer has closed.
func TestSingleExchange(t *testing.T) {
	for _, method := range []string{"slow", "stream", "gone"} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, far := transport.Pair()
				defer far.Close()
				o := &singleExchange{conn: &conn{Conn: near}, gone: make(chan struct{})}
				far.Send([]byte(`{"jsonrpc":"2.0","id":1,"method":"` + method + `"}`))
				far.(wire.HalfCloser).CloseSend()
				var ended error
				p := newPeer(t, o, peer.Options{Handler: with(func(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
					switch method {
					case "slow":
						time.Sleep(time.Hour)
						return json.RawMessage("1"), nil
					case "gone":
						close(o.gone)
						<-ctx.Done()
						ended = ctx.Err()
						return nil, ended
					}
					in.Answered = true
					for ended = in.Emit(wire.Event{Kind: wire.Opened, Stream: wire.ID("1")}); ended == nil; time.Sleep(time.Second) {
						ended = in.Emit(wire.Event{Data: json.RawMessage("1"), Stream: wire.ID("1")})
					}
					return nil, nil
				})})
				<-p.Done()
				if method != "slow" && ended == nil {
					t.Error("the handler was not cancelled")
				}
				if msg, err := far.Recv(); method != "gone" && (err != nil || !strings.HasPrefix(string(msg), `{"jsonrpc":"2.0","id":1,"result":1`)) {
					t.Error(string(msg), err)
				}
			})
		})
	}
}

// Open requests are rejected when the connection ends.
func TestRejectOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, far := paired(t, peer.Options{Incoming: func(wire.Message) bool { return true }})
		far.Send([]byte(`{"jsonrpc":"2.0","id":"a","method":"m"}`))
		synctest.Wait()
		p.RejectOpen(wire.NewError(wire.CodeInternal, "nobody is here"))
		msg, _ := far.Recv()
		testkit.Expect(t, "the response", string(msg), `{"jsonrpc":"2.0","id":"a","error":{"code":-32603,"message":"nobody is here"}}`)
		p.RejectOpen(wire.NewError(wire.CodeInternal, "again"))
	})
}

// The tap gets each message byte for byte, and a sent one before it is written.
func TestTap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := transport.Pair()
		defer far.Close()
		var mu sync.Mutex
		var seen []string
		p := newPeer(t, near, peer.Options{Tap: func(d wire.Direction, msg []byte) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, d.String()+" "+string(msg))
		}})
		go func() {
			msg, _ := far.Recv()
			mu.Lock()
			testkit.Expect(t, "what was seen", strings.Join(seen, "|"), "send "+string(msg))
			mu.Unlock()
			far.Send([]byte(` {"id":1, "result":1.10} `))
		}()
		if _, err := p.Call(t.Context(), "x", nil); err != nil {
			t.Error(err)
		}
		if len(seen) != 2 || seen[1] != `recv  {"id":1, "result":1.10} ` {
			t.Errorf("%q", seen)
		}
	})
}
