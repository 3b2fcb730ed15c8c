package probes_test

import (
	"context"
	"io"
	"testing"
	"time"

	"rpcx/wire/dialect"
	"rpcx/wire/validate/probes"
)

// early is a connection on which messages arrive at once, and then no more.
type early struct {
	first []byte
	idle  chan struct{} // closed when all messages have been read
	ended chan struct{}
}

func (e *early) Recv() ([]byte, error) {
	if msg := e.first; msg != nil {
		e.first = nil
		return msg, nil
	}
	close(e.idle)
	<-e.ended
	return nil, io.EOF
}

func (e *early) Send([]byte) error { return nil }
func (e *early) Close() error      { close(e.ended); return nil }

// TestSpokenBeforeTheProbe checks that a late probe gets messages that the peer sent at the start of the connection.
func TestSpokenBeforeTheProbe(t *testing.T) {
	inner := &early{first: []byte(`{"type":"handshake"}`), idle: make(chan struct{}), ended: make(chan struct{})}
	target := &probes.Target{AnswerTimeout: 5 * time.Second, Dial: func(context.Context, bool) (*probes.Conn, func(), error) {
		c := probes.NewConn(inner, dialect.Shape{}, nil)
		ended := c.Listen()
		<-inner.idle
		return c, func() { _ = c.Close(); <-ended }, nil
	}}
	p := &probes.Probe{Name: "first", Bare: true, Steps: []probes.Step{{Await: `.type == "handshake"`}}}
	if res := target.Run(t.Context(), p, nil); res.Error != nil || res.Broken != "" {
		t.Errorf("%s, %v", res.Broken, res.Error)
	}
}
