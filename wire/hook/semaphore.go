package hook

import (
	"context"
	"sync"

	"rpcx/wire/dialect"
)

// A semaphore bounds how many commands run at once. Waiters are served in order.
type semaphore struct {
	mu      sync.Mutex
	free    int // negative: so many slots were retaken beyond the bound
	waiting []chan struct{}
}

// acquire waits for a slot until ctx ends. If ctx has ended it takes none, even if one is free: no
// command is started for a caller that has gone.
func (s *semaphore) acquire(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	if s.free > 0 && len(s.waiting) == 0 {
		s.free--
		s.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	s.waiting = append(s.waiting, turn)
	s.mu.Unlock()
	select {
	case <-turn:
		if ctx.Err() == nil {
			return nil
		}
		s.release()
		return ctx.Err()
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, w := range s.waiting {
		if w == turn {
			s.waiting = append(s.waiting[:i], s.waiting[i+1:]...)
			return ctx.Err()
		}
	}
	s.handOn() // we got the slot at the same moment
	return ctx.Err()
}

// acquireWith waits for a slot at a time when the flow control allows an answer. No slot is held
// during that wait.
func (s *semaphore) acquireWith(ctx context.Context, room dialect.FlowControl) error {
	for {
		if err := s.acquire(ctx); err != nil {
			return err
		}
		if room.Free() {
			return nil
		}
		s.release()
		if err := room.Await(); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// pause gives a slot back until resume is called, which takes one without waiting.
func (s *semaphore) pause() (resume func()) {
	s.release()
	return s.retake
}

// release gives a slot back.
func (s *semaphore) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handOn()
}

// handOn gives a free slot to the first waiter, if there is one. s.mu is held.
func (s *semaphore) handOn() {
	s.free++
	if s.free > 0 && len(s.waiting) > 0 {
		s.free--
		close(s.waiting[0])
		s.waiting = s.waiting[1:]
	}
}

// retake takes a slot at once, even above the limit: a hook that released its
// slot for a nested call could deadlock if it had to wait.
func (s *semaphore) retake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free--
}
