package peer_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"rpcx/wire"
	"rpcx/wire/peer"
)

// Calls that find the session over at the same time have it begun anew once; both are answered.
func TestExchangesAnewTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := true
		var notes []string
		lost := make(chan struct{})
		p := post(t, peer.Options{Note: func(n peer.Note) { notes = append(notes, n.Text) }}, func(_ context.Context, msg string, say func(string)) error {
			if over {
				<-lost
				return wire.NewFault(wire.Unreachable, "it has ended the session", wire.ErrSessionLost)
			}
			say(`{"jsonrpc":"2.0","id":` + id(msg) + `,"result":` + id(msg) + `}`)
			return nil
		})
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				if got, err := p.Call(t.Context(), "x", nil); err != nil || string(got) != "1" && string(got) != "2" {
					t.Errorf("%s, %v", got, err)
				}
			})
		}
		synctest.Wait()
		over = false
		close(lost)
		wg.Wait()
		if len(notes) != 1 {
			t.Errorf("noted: %q", notes)
		}
	})
}
