package peer

import (
	"testing"

	"rpcx/wire"
)

func TestSomeGreetingsAreKept(t *testing.T) {
	p := &Peer{calls: newCalls()}
	for range maxHandshakes + 3 {
		p.showLocked(&wire.Message{Kind: wire.Handshake, Method: "hello"}, (*stream).sees)
	}
	if len(p.calls.handshakes) != maxHandshakes {
		t.Errorf("%d greetings are kept", len(p.calls.handshakes))
	}
}
