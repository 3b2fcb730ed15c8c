package scomp

import (
	"context"
	"slices"
	"sync"
)

// An evalQueue has the ids of the peer's unanswered evals, in order of arrival. Only the first one's code runs, because
// the server serializes evals (specification, "No batching").
type evalQueue struct {
	mu     sync.Mutex
	ids    []string
	change chan struct{} // closed when an eval has left; nil means no waiter
}

func (q *evalQueue) enter(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ids = append(q.ids, id)
}

// leave removes id, whose answer is being written, and wakes the waiters.
func (q *evalQueue) leave(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.ids, id); i >= 0 {
		q.ids = slices.Delete(q.ids, i, i+1)
	}
	if q.change != nil {
		close(q.change)
		q.change = nil
	}
}

// wait blocks until id is the first, or ctx ends.
func (q *evalQueue) wait(ctx context.Context, id string) error {
	for {
		q.mu.Lock()
		if slices.Index(q.ids, id) <= 0 {
			q.mu.Unlock()
			return nil
		}
		if q.change == nil {
			q.change = make(chan struct{})
		}
		changed := q.change
		q.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
