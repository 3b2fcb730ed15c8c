package codec

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/dialect/page/program"
)

// awaitedMessages stores messages during the handshake, for steps that await a message.
type awaitedMessages struct {
	messages []json.RawMessage
	arrived  chan struct{} // receives a value for each new message; nil while no step is waiting
}

// Limits of the stored messages, because the peer determines their number.
const (
	maxAwaited      = 256
	maxAwaitedBytes = 1 << 20
)

// keepForHandshake stores m for steps that await a message. If m is not a message of the dialect but meets a step's
// condition, it becomes a Handshake. A notification that meets a condition gets the mark Awaited.
func (c *Codec) keepForHandshake(m *wire.Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.awaited == nil || c.o.Serving || m.Kind != wire.Invalid && m.Kind != wire.Notification {
		return nil
	}
	fits, err := c.fitsHandshake(m.Raw)
	switch {
	case m.Kind == wire.Notification:
		m.Awaited = fits
	case err != nil:
		return err
	case fits:
		*m = wire.Message{Kind: wire.Handshake, Raw: m.Raw, Body: m.Raw}
	}
	size := len(m.Raw)
	for _, msg := range c.awaited.messages {
		size += len(msg)
	}
	if len(c.awaited.messages) < maxAwaited && size <= maxAwaitedBytes {
		c.awaited.messages = append(c.awaited.messages, bytes.Clone(m.Raw))
	}
	if c.awaited.arrived != nil {
		wire.Wake(c.awaited.arrived)
	}
	return nil
}

// fitsHandshake reports whether a step of the handshake awaits the message raw. The caller holds the lock.
func (c *Codec) fitsHandshake(raw []byte) (bool, error) {
	conn := c.conn
	for i := range c.d.Page.Handshake {
		if step := &c.d.Page.Handshake[i]; step.Await != nil {
			if ok, err := step.Await.Holds(raw, (&program.Scope{Conn: &conn}).Value); ok || err != nil {
				return ok, err
			}
		}
	}
	return false, nil
}

// endAwaiting discards the stored messages after the handshake.
func (c *Codec) endAwaiting() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.awaited = nil
}

// await waits until a stored message meets the step's condition. It removes and returns the oldest such message. After
// the step's timeout, the error of an optional step is errAwaitTimeout.
func (c *Codec) await(ctx context.Context, caller dialect.Caller, step *load.Step) (json.RawMessage, error) {
	cond := step.Await
	var late <-chan time.Time
	if limit := step.Limit(); limit > 0 {
		late = time.After(limit)
	}
	arrived := make(chan struct{}, 1)
	c.mu.Lock()
	c.awaited.arrived = arrived
	c.mu.Unlock()
	ended, stop := c.watchEnd(ctx, caller)
	defer stop()
	for {
		msg, err := c.find(cond)
		if msg != nil || err != nil {
			return msg, err
		}
		select {
		case <-arrived:
		case err := <-ended:
			if msg, ferr := c.find(cond); msg != nil || ferr != nil {
				return msg, ferr
			}
			return nil, err
		case <-late:
			if !step.Optional {
				return nil, wire.NewFault(wire.Timeout, "the message that the handshake awaits did not arrive within "+step.Within, nil)
			}
			return nil, errAwaitTimeout
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// errAwaitTimeout is the error of an optional await after its timeout.
var errAwaitTimeout = errors.New("no message arrived")

// watchEnd returns a channel that receives the reason why the connection closes, and a function that stops watching.
func (c *Codec) watchEnd(ctx context.Context, caller dialect.Caller) (<-chan error, func()) {
	ended := make(chan error, 1)
	st, err := caller.Open(ctx, dialect.Op{Kind: dialect.Watch, Method: "\x00nothing"})
	if err != nil {
		ended <- asEnd(err)
		return ended, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := wire.Go(func() {
		_, err := st.Next(ctx)
		ended <- asEnd(err)
	})
	return ended, func() {
		cancel()
		<-done
		_ = st.Cancel(context.Background())
	}
}

// asEnd converts the error at the end of the connection to an error of the handshake, without the method of the
// internal watch.
func asEnd(err error) error {
	f := wire.AsFault(err)
	if f == nil {
		return err
	}
	g := *f
	g.Method = ""
	if f.Kind == wire.Closed {
		g.Message += ", before the handshake"
	}
	return &g
}

// find removes and returns the oldest message that meets cond, or returns nil.
func (c *Codec) find(cond load.Prog) (json.RawMessage, error) {
	sc := c.Scope()
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, msg := range c.awaited.messages {
		if ok, err := cond.Holds(msg, sc.Value); err != nil {
			return nil, err
		} else if ok {
			c.awaited.messages = slices.Delete(c.awaited.messages, i, i+1)
			return msg, nil
		}
	}
	return nil, nil
}
