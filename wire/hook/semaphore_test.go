package hook

import (
	"context"
	"testing"
	"testing/synctest"
)

// A slot that comes free as its waiter gives up goes to who still wants it.
func TestASlotForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 200 {
			s := &semaphore{}
			ctx, cancel := context.WithCancel(t.Context())
			gone, wanted := make(chan error, 1), make(chan error, 1)
			go func() { gone <- s.acquire(ctx) }()
			synctest.Wait()
			go func() { wanted <- s.acquire(t.Context()) }()
			synctest.Wait()
			cancel()
			s.release()
			if err := <-gone; err == nil {
				t.Fatal("a slot was taken for nobody")
			}
			if err := <-wanted; err != nil {
				t.Fatal(err)
			}
			s.release()
			if err := s.acquire(ctx); err == nil || s.free != 1 {
				t.Fatal(err, s.free)
			}
		}
	})
}
