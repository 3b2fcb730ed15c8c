package wire

import (
	"context"
	"sync"
)

// A Gate lets goroutines wait, with the lock released, for a change that is made under the lock. The zero value is
// usable.
type Gate struct{ c chan struct{} }

// Wait returns a channel that the next Pass closes. The caller must hold the lock.
func (g *Gate) Wait() <-chan struct{} {
	if g.c == nil {
		g.c = make(chan struct{})
	}
	return g.c
}

// Pass wakes all waiters. The caller must hold the lock.
func (g *Gate) Pass() {
	if g.c != nil {
		close(g.c)
		g.c = nil
	}
}

// Await waits for the next Pass, or returns the error of ctx. It releases the lock while it waits, and holds it again when it
// returns.
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
