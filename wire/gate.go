package wire

import (
	"context"
	"sync"
)

// A Gate lets goroutines wait, without holding a lock, for a change that is made under the lock. The zero value is usable.
type Gate struct{ c chan struct{} }

// Wait returns a channel that the next call of Pass closes. The lock must be held.
func (g *Gate) Wait() <-chan struct{} {
	if g.c == nil {
		g.c = make(chan struct{})
	}
	return g.c
}

// Pass wakes all waiters. The lock must be held.
func (g *Gate) Pass() {
	if g.c != nil {
		close(g.c)
		g.c = nil
	}
}

// Await waits for the next call of Pass, or returns the error of ctx. The lock is released while it waits, and held again when it returns.
func (g *Gate) Await(ctx context.Context, lock sync.Locker) error {
	c := g.Wait()
	lock.Unlock()
	defer lock.Lock()
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
