package peer

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestWaitForLocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Peer
		n := 0
		go func() {
			for range 3 {
				time.Sleep(time.Second)
				p.mu.Lock()
				n++
				p.change.Pass()
				p.mu.Unlock()
			}
		}()
		p.mu.Lock()
		defer p.mu.Unlock()
		if err := p.waitForLocked(t.Context(), &p.change, func() bool { return n == 2 }); err != nil || n != 2 {
			t.Errorf("%d, %v", n, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := p.waitForLocked(ctx, &p.change, func() bool { return false }); err != context.DeadlineExceeded || n != 3 {
			t.Errorf("%d, %v", n, err)
		}
		if err := p.waitForLocked(ctx, &p.change, func() bool { return true }); err != nil {
			t.Error("waits for a condition that is true:", err)
		}
	})
}
