package hook

import (
	"context"
	"slices"
	"sync"
	"time"

	"rpcx/wire/dialect"
)

// A semaphore limits how many commands run at the same time. The client with the fewest slots gets the next free slot.
// Clients with equal numbers take turns. Each client has its own queue of waiters.
type semaphore struct {
	mu      sync.Mutex
	free    int      // if negative, the number of slots above the limit
	waiting []*share // the shares with waiters, in order
	slow    func()   // called when a waiter has waited for slowAfter; may be nil
}

// slowAfter is how long a command waits for a slot before the user is warned.
const slowAfter = time.Second

// A share is one client's part of a semaphore. The semaphore's lock guards it.
type share struct {
	of      *semaphore
	held    int
	waiters []chan struct{}
}

// claim takes a slot without waiting. It returns false if no slot is free or the client already has most slots.
func (c *share) claim(most int) bool {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if c.of.free <= 0 || c.held >= most {
		return false
	}
	c.held++
	c.of.free--
	return true
}

// acquire waits for a slot until ctx ends. If ctx has ended, it does not even take a free slot, because no command may
// start for a caller that no longer waits.
func (c *share) acquire(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s := c.of
	s.mu.Lock()
	if s.free > 0 && len(s.waiting) == 0 {
		s.free--
		c.held++
		s.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	if c.waiters = append(c.waiters, turn); len(c.waiters) == 1 {
		s.waiting = append(s.waiting, c)
	}
	s.mu.Unlock()
	if s.slow != nil {
		defer time.AfterFunc(slowAfter, s.slow).Stop()
	}
	select {
	case <-turn:
		if ctx.Err() == nil {
			return nil
		}
		c.release()
		return ctx.Err()
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(c.waiters, turn); i >= 0 {
		c.leave(i)
	} else { // the waiter got a slot at the same moment
		c.held--
		s.handOn()
	}
	return ctx.Err()
}

// leave removes waiter i from c. The caller must hold the lock.
func (c *share) leave(i int) {
	if c.waiters = slices.Delete(c.waiters, i, i+1); len(c.waiters) == 0 {
		c.of.waiting = slices.DeleteFunc(c.of.waiting, func(o *share) bool { return o == c })
	}
}

// acquireWith waits for a slot and until flow control allows an answer. While it waits for flow control, it occupies no
// slot.
func (c *share) acquireWith(ctx context.Context, room dialect.FlowControl) error {
	for {
		if err := c.acquire(ctx); err != nil {
			return err
		}
		if room.Free() {
			return nil
		}
		c.release()
		if err := room.Await(); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// pause releases a slot. resume takes one again without waiting.
func (c *share) pause() (resume func()) {
	c.release()
	return c.retake
}

// release returns a slot.
func (c *share) release() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.held--
	c.of.handOn()
}

// handOn gives a free slot to the first waiter of the client with the fewest slots. The caller must hold s.mu.
func (s *semaphore) handOn() {
	if s.free++; s.free <= 0 || len(s.waiting) == 0 {
		return
	}
	next := slices.MinFunc(s.waiting, func(a, b *share) int { return a.held - b.held })
	s.free--
	next.held++
	close(next.waiters[0])
	next.leave(0)
	if i := slices.Index(s.waiting, next); i >= 0 { // the other clients now have precedence
		s.waiting = append(slices.Delete(s.waiting, i, i+1), next)
	}
}

// retake takes a slot at once, even above the limit. Otherwise, hooks that released their slots for nested calls could
// deadlock.
func (c *share) retake() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.held++
	c.of.free--
}
