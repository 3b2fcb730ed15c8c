package scomp

import (
	"context"
	"slices"
	"sync"
)

// turns are the evals of the far side that are not answered, in the order in
// which they came. Only the first one's code runs.
type turns struct {
	mu     sync.Mutex
	ids    []string
	change chan struct{} // closed when one has left; nil: nobody waits
}

func (t *turns) enter(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ids = append(t.ids, id)
}

// leave says that the answer to id is on its way.
func (t *turns) leave(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(t.ids, id); i >= 0 {
		t.ids = slices.Delete(t.ids, i, i+1)
	}
	if t.change != nil {
		close(t.change)
		t.change = nil
	}
}

// wait waits until id is the first.
func (t *turns) wait(ctx context.Context, id string) error {
	for {
		t.mu.Lock()
		if slices.Index(t.ids, id) <= 0 {
			t.mu.Unlock()
			return nil
		}
		if t.change == nil {
			t.change = make(chan struct{})
		}
		changed := t.change
		t.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
