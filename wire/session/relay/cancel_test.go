package relay

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/peer"
	"rpcx/wire/testkit"
)

// slow is a Backend whose streams open when the channel release is closed, and end when they are cancelled.
type slow struct {
	Backend
	dialect.Stream
	release           chan struct{}
	opened, cancelled int
}

func (b *slow) Open(context.Context, dialect.Op) (dialect.Stream, error) {
	b.opened++
	<-b.release
	return b, nil
}

func (b *slow) Next(ctx context.Context) (wire.Message, error) {
	<-ctx.Done()
	return wire.Message{}, ctx.Err()
}

func (b *slow) Cancel(context.Context) error { b.cancelled++; return nil }

// CancelStreams also cancels a stream that is being opened, and no stream opens after it.
func TestCancelStreamsLeavesNoStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &slow{release: make(chan struct{})}
		s := New(&Functions{}, ServerOptions{Upstream: func(context.Context) (Backend, error) { return b, nil }})
		near, far := net.Pipe()
		s.wg.Go(func() { s.converse(far) })
		c := socketPeer(near, peer.Options{})
		open := func() dialect.Stream {
			st, err := c.Open(t.Context(), dialect.Op{Kind: dialect.Subscribe, Method: "open", Params: json.RawMessage(`{"op":"subscribe","method":"x"}`)})
			testkit.OK(t, err)
			synctest.Wait()
			return st
		}
		open()
		begun, done := time.Now(), make(chan struct{})
		go func() {
			defer close(done)
			s.CancelStreams()
		}()
		synctest.Wait()
		close(b.release)
		<-done
		if took := time.Since(begun); took > 0 || b.cancelled != 1 {
			t.Errorf("%d streams were cancelled after %v", b.cancelled, took)
		}
		if m, err := open().Next(t.Context()); err != nil || m.Err == nil || b.opened != 1 {
			t.Errorf("%v, %v: %d streams were opened", m, err, b.opened)
		}
		_ = c.Close()
		s.wg.Wait()
	})
}

// ended is a Backend whose raw traffic has ended, and a stream with an invalid message.
type ended struct {
	Backend
	SharedPipe
	dialect.Stream
	left int
}

func (b *ended) JoinRaw() SharedPipe                          { return b }
func (b *ended) Recv() (m wire.Message, idle bool, err error) { return m, false, io.EOF }
func (b *ended) Err() error                                   { return nil }
func (b *ended) Stop()                                        {}
func (b *ended) Leave()                                       { b.left++ }
func (b *ended) Next(context.Context) (wire.Message, error) {
	return wire.Message{Kind: wire.Item, Body: json.RawMessage(`{"kind":99}`)}, nil
}

// A pipe whose stream has ended is left, so that other pipes get its requests.
func TestEndedRawTrafficIsLeft(t *testing.T) {
	b := &ended{}
	h := &Process{socket: New(&Functions{}, ServerOptions{}), open: map[string]openStream{}}
	in := &dialect.Inbound{Emit: func(wire.Event) error { return nil }}
	if _, err := openRaw(t.Context(), h, in, b); err != nil || b.left != 1 {
		t.Errorf("%v: left %d times", err, b.left)
	}
}

func TestInvalidMessageOfTheSocket(t *testing.T) {
	s := remoteStream{Stream: &ended{}, r: &Client{}}
	if m, err := s.Next(t.Context()); err == nil {
		t.Errorf("%+v, %v", m, err)
	}
}
