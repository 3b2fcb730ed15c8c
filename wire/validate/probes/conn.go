package probes

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
	"rpcx/wire/tape/match"
)

// A Conn lets probes share a connection with its user. A probe can send its own messages, and receives a copy of each
// message. Responses that arrive during a probe belong to the probe, because the user has no pending request at that
// time.
type Conn struct {
	inner wire.Conn
	shape dialect.Shape
	tap   wire.Tap // receives all messages

	// CommonParams returns the params of a request with the dialect's additions, or nil if there are none.
	CommonParams func(method string, params json.RawMessage) (json.RawMessage, error)

	open    sync.WaitGroup // waits for running exchanges
	pending int            // the number of running exchanges

	received atomic.Bool // a message has arrived

	mu      sync.Mutex
	arrived *sync.Cond
	probing bool
	queue   []arrival
	held    int   // the number of bytes in queue
	err     error // why the connection has ended, or nil while it is open
}

// arrival is a received message, or the error with which an exchange failed.
type arrival struct {
	msg []byte
	err error
}

// NewConn wraps inner, whose dialect has the given shape. tap receives all messages in both directions.
func NewConn(inner wire.Conn, shape dialect.Shape, tap wire.Tap) *Conn {
	c := &Conn{inner: inner, shape: shape, tap: tap}
	c.arrived = sync.NewCond(&c.mu)
	return c
}

// User returns a connection that hides the messages of probes.
func (c *Conn) User() wire.Conn {
	x, ok := c.inner.(wire.Exchanger)
	if !ok {
		return &user{c}
	}
	if s, ok := c.inner.(wire.HTTPSession); ok {
		return &sessionUser{exchangingUser{user{c}, x}, s}
	}
	return &exchangingUser{user{c}, x}
}

type user struct{ *Conn }

func (u *user) Recv() ([]byte, error) {
	for {
		msg, err := u.inner.Recv()
		if err != nil {
			u.ended(err)
			return nil, err
		}
		if !u.take(msg) {
			return msg, nil
		}
	}
}

func (u *user) Send(msg []byte) error {
	u.tap(wire.Send, msg)
	return u.inner.Send(msg)
}

func (u *user) Close() error { return u.inner.Close() }

// CloseWith closes the connection with a code, if its transport has codes.
func (u *user) CloseWith(code int, reason string) error { return wire.CloseWith(u.inner, code, reason) }

type exchangingUser struct {
	user
	exchanger wire.Exchanger
}

func (u *exchangingUser) Exchange(ctx context.Context, msg []byte, recv func(msg []byte)) error {
	u.tap(wire.Send, msg)
	return u.exchanger.Exchange(ctx, msg, func(m []byte) {
		u.tap(wire.Recv, m)
		recv(m)
	})
}

type sessionUser struct {
	exchangingUser
	wire.HTTPSession
}

// Listen starts to read a connection that only probes use. It queues messages for the first probe, which may start
// later. The returned channel is closed when the connection ends.
func (c *Conn) Listen() <-chan struct{} {
	c.begin()
	return wire.Go(func() {
		for {
			msg, err := c.inner.Recv()
			if err != nil {
				c.ended(err)
				return
			}
			if !c.take(msg) {
				c.refuse(msg)
			}
		}
	})
}

// Close ends the connection.
func (c *Conn) Close() error { return c.inner.Close() }

// take passes a message to the running probe. It returns true if the user must not receive the message.
func (c *Conn) take(msg []byte) bool {
	c.tap(wire.Recv, msg)
	c.received.Store(true)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.probing {
		return false
	}
	c.enqueue(arrival{msg: bytes.Clone(msg)})
	if scan.Valid(msg, wire.DefaultMaxDepth) != nil {
		return true
	}
	if _, batch := match.Elements(&c.shape, msg); batch {
		return true
	}
	p := match.Parse(&c.shape, msg, false)
	return p.Kind != wire.Request && p.Kind != wire.Notification
}

// Limits for messages that wait for the probe.
const (
	maxQueued      = 10_000
	maxQueuedBytes = 2 * wire.DefaultMaxMessage
)

// enqueue queues h for the probe. The caller must hold c.mu.
func (c *Conn) enqueue(h arrival) {
	if len(c.queue) < maxQueued && (c.held < maxQueuedBytes || h.err != nil) {
		c.queue = append(c.queue, h)
		c.held += len(h.msg)
	}
	c.arrived.Broadcast()
}

func (c *Conn) ended(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = cmp.Or(c.err, err)
	c.arrived.Broadcast()
}

// Ended returns why the connection ended, or nil while it is open.
func (c *Conn) Ended() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// HasReceived reports whether a message has arrived.
func (c *Conn) HasReceived() bool { return c.received.Load() }

// begin starts a probe, which from then on receives all responses.
func (c *Conn) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.probing = true
}

// finish ends the probe and waits for its exchanges, which the caller must have cancelled.
func (c *Conn) finish() {
	c.open.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.probing, c.queue, c.held = false, nil, 0
}

// errReplied marks the end of an HTTP exchange, with or without a response.
var errReplied = errors.New("the reply contains no response")

// Post sends msg. In an HTTP exchange, Post does not wait for the reply, and ctx bounds the exchange. If awaited is set,
// a failure of the exchange is queued for next.
func (c *Conn) Post(ctx context.Context, msg []byte, awaited bool) error {
	c.tap(wire.Send, msg)
	x, ok := c.inner.(wire.Exchanger)
	if !ok {
		return c.inner.Send(msg)
	}
	c.mu.Lock()
	c.pending++
	c.mu.Unlock()
	c.open.Go(func() {
		err := x.Exchange(ctx, msg, func(m []byte) {
			c.tap(wire.Recv, m)
			c.mu.Lock()
			defer c.mu.Unlock()
			c.enqueue(arrival{msg: bytes.Clone(m)})
		})
		if err == nil || !awaited {
			err = errReplied
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.pending--
		c.enqueue(arrival{err: err})
	})
	return nil
}

// more reports whether another message may arrive.
func (c *Conn) more() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pending > 0 || len(c.queue) > 0
}

// next returns the next message for the probe, or the error of ctx, the connection or an exchange.
func (c *Conn) next(ctx context.Context) ([]byte, error) {
	stop := context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.arrived.Broadcast()
	})
	defer stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		switch {
		case len(c.queue) > 0:
			h := c.queue[0]
			c.queue = c.queue[1:]
			c.held -= len(h.msg)
			return h.msg, h.err
		case c.err != nil:
			return nil, c.err
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		}
		c.arrived.Wait()
	}
}
