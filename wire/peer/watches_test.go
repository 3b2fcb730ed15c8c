package peer

import (
	"testing"

	"rpcx/wire"
)

func TestSomeGreetingsAreKept(t *testing.T) {
	p := &Peer{calls: newCalls()}
	for range maxGreetings + 3 {
		p.showLocked(&wire.Message{Kind: wire.Greeting, Method: "hello"}, (*stream).sees)
	}
	if len(p.calls.greetings) != maxGreetings {
		t.Errorf("%d greetings are kept", len(p.calls.greetings))
	}
}
