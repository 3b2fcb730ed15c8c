package session

import (
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/testkit"
	"rpcx/wire/transport"
)

// dialled is a conversation that reconnects to peers in the test. refuse can make the n-th attempt fail. Every other attempt adds
// a peer to fars.
type dialled struct {
	t        *testing.T
	d        *Direct
	refuse   func(ctx context.Context, n int) error
	fars     chan wire.Conn
	attempts []time.Duration // time since began
	began    time.Time
	said     []string // calls to Lost and Back
}

// dialAgain opens a conversation that reconnects for at most 1 min, with the longest pauses.
func dialAgain(t *testing.T, o Options, refuse func(ctx context.Context, n int) error) *dialled {
	t.Helper()
	c := &dialled{t: t, refuse: refuse, fars: make(chan wire.Conn, 100), began: time.Now()}
	o.Reconnect = &Reconnect{
		For:  time.Minute,
		Lost: func(why error) { c.said = append(c.said, why.Error()) },
		Back: func(after time.Duration) { c.said = append(c.said, "back after "+after.String()) },
	}
	d, err := newDirect(endpoint.Endpoint{Dialect: "jsonrpc"}, o)
	testkit.OK(t, err)
	c.d, d.dial = d, c.dial
	d.redialer.jitter = func(most time.Duration) time.Duration { return most }
	testkit.OK(t, d.start(t.Context()))
	t.Cleanup(func() {
		d.Close()
		for len(c.fars) > 0 {
			(<-c.fars).Close()
		}
	})
	return c
}

func (c *dialled) dial(ctx context.Context, _ recording) (wire.Conn, func() error, error) {
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

// nobody returns the error of connecting to a port on which nothing listens.
func nobody(context.Context, int) error {
	return wire.NewFault(wire.Unreachable, "connection refused", nil)
}

// far returns the next peer.
func (c *dialled) far() *farSide { return &farSide{c.t, <-c.fars} }

type farSide struct {
	t    *testing.T
	conn wire.Conn
}

func (f *farSide) gets(want string) {
	f.t.Helper()
	if got, err := f.conn.Recv(); err != nil || string(got) != want {
		f.t.Fatalf("the peer got %s (%v), want %s", got, err, want)
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

// expect compares the next messages, or the failure, of st.
func (c *dialled) expect(st dialect.Stream, want ...string) {
	c.t.Helper()
	for _, want := range want {
		m, err := st.Next(c.t.Context())
		got := string(m.Body)
		switch ev, everr := dialect.EventOf(c.d, m); {
		case err == io.EOF:
			got = "end"
		case err != nil:
			got = testkit.Failed(err)
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
	gapLine   = `{"event":"gap","message":"the connection was lost and restored","missed":null}`
	subscribe = `{"jsonrpc":"2.0","id":1,"method":"ticks"}`
)

func tick(n int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"ticks","params":{"subscription":"s","result":%d}}`, n)
}
