package peer_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/peer"
	"rpcx/wire/transport"
)

// over is a connection that carries several streams and cannot send.
type over struct{ wire.Conn }

func (over) SendAbout(wire.ID, []byte) error { return &wire.CloseError{Clean: true} }
func (over) NoAnswer(wire.ID)                {}

// A message about a request that cannot reach the sender of that request counts as not sent.
func TestSendAboutFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := transport.Pair()
		defer far.Close()
		p := newPeer(t, over{near}, peer.Options{})
		err := p.Notify(t.Context(), dialect.Op{Kind: dialect.Notify, Method: "x", About: wire.ID("7")})
		var closed *wire.CloseError
		if !errors.As(err, &closed) {
			t.Error("the message counts as sent:", err)
		}
	})
}
