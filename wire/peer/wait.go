package peer

import (
	"context"
)

// gate lets goroutines wait, without the lock, for what happens under it.
type gate struct{ c chan struct{} }

// wait returns a channel that the next pass closes.
func (g *gate) wait() <-chan struct{} {
	if g.c == nil {
		g.c = make(chan struct{})
	}
	return g.c
}

// pass lets everyone go who waits.
func (g *gate) pass() {
	if g.c != nil {
		close(g.c)
		g.c = nil
	}
}

// waitForLocked waits until condition holds, which is called with the mutex held.
// The mutex is released while it waits, and held again when it returns. Whatever
// can make condition true must pass g. The error is ctx's, if ctx ends first.
func (p *Peer) waitForLocked(ctx context.Context, g *gate, condition func() bool) error {
	for !condition() {
		c := g.wait()
		p.unlockAndTell()
		select {
		case <-c:
		case <-ctx.Done():
		}
		p.mu.Lock()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}
