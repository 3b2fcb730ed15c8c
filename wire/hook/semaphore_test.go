package hook

import (
	"context"
	"testing"
	"testing/synctest"
)

// A slot that comes free as its waiter gives up goes to who still wants it, whichever of both is first.
func TestASlotForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for i := range 200 {
			s := &semaphore{}
			ctx, cancel := context.WithCancel(t.Context())
			gone, wanted := make(chan error, 1), make(chan error, 1)
			go func() { gone <- s.acquire(ctx) }()
			synctest.Wait()
			go func() { wanted <- s.acquire(t.Context()) }()
			synctest.Wait()
			if i%2 == 0 {
				cancel()
				s.release()
			} else {
				s.release()
				cancel()
			}
			switch err := <-gone; {
			case err == nil && i%2 == 0:
				t.Fatal("a slot was taken for nobody")
			case err == nil: // it was quicker than cancel
				s.release()
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

// A slot that is given up for a nested call goes to who waits, and is taken back afterwards: no more hooks run at once
// than before.
func TestASlotIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &semaphore{free: 1}
		if err := s.acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		resume := s.pause()
		if err := s.acquire(t.Context()); err != nil { // the nested call's own hook
			t.Fatal(err)
		}
		resume() // its caller goes on before it has ended
		third := make(chan error, 1)
		go func() { third <- s.acquire(t.Context()) }()
		synctest.Wait()
		s.release()
		synctest.Wait()
		select {
		case <-third:
			t.Fatal("two run at once where one may")
		default:
		}
		s.release()
		if err := <-third; err != nil {
			t.Fatal(err)
		}
		s.release()
		if s.free != 1 {
			t.Errorf("%d slots are free in the end", s.free)
		}
	})
}
