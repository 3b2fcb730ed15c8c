package peer

import (
	"testing"

	"rpcx/wire"
	"rpcx/wire/testkit"
)

func TestSomeHandshakesAreKept(t *testing.T) {
	p := &Peer{calls: newCalls()}
	for range maxHandshakes + 3 {
		p.showLocked(&wire.Message{Kind: wire.Handshake, Method: "hello"}, (*stream).sees)
	}
	testkit.Expect(t, "handshakes", len(p.calls.handshakes), maxHandshakes)
}
