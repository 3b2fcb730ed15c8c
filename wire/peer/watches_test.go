package peer

import (
	"testing"

	"rpcx/wire"
)

func TestSomeHandshakesAreKept(t *testing.T) {
	p := &Peer{calls: newCalls()}
	for range maxHandshakes + 3 {
		p.showLocked(&wire.Message{Kind: wire.Handshake, Method: "hello"}, (*stream).sees)
	}
	if len(p.calls.handshakes) != maxHandshakes {
		t.Errorf("%d handshakes are stored", len(p.calls.handshakes))
	}
}
