package session

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/transport"
)

// A peer without a handshake message is a timeout after 15 s.
func TestGreetingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, err := newDirect(endpoint.Endpoint{Dialect: "jsonrpc"}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		codec := d.newCodec
		d.newCodec = func() dialect.Codec { return greeter{codec()} }
		here, silent := transport.Pair()
		defer silent.Close()
		d.dial = func(context.Context, recording) (wire.Conn, []func() error, error) { return here, nil, nil }
		began := time.Now()
		err = d.start(t.Context())
		if f := wire.AsFault(err); f == nil || f.Kind != wire.Timeout {
			t.Error(err)
		}
		if lasted := time.Since(began); lasted < greetingTimeout || lasted > greetingTimeout+5*time.Second {
			t.Error(lasted)
		}
	})
}
