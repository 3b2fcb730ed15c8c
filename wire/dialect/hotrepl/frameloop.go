package hotrepl

import (
	"context"
	"errors"
	"slices"
	"time"

	"rpcx/wire"
)

// frames is the host's main loop: it runs a frame per tick of the clock, and
// sleeps while there is nothing to do.
func (s *server) frames() {
	defer wire.Guard()
	clock := time.NewTimer(s.cfg.frame)
	defer clock.Stop()
	for {
		for s.idle() {
			select {
			case <-s.wake:
			case <-s.ctx.Done():
				return
			}
			clock.Reset(s.cfg.frame)
		}
		select {
		case <-clock.C:
		case <-s.ctx.Done():
			return
		}
		clock.Reset(s.cfg.frame)
		s.frame()
	}
}

func (s *server) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.tasks)+len(s.evals)+len(s.watches) == 0
}

// frame does one frame's work in the order of real hosts: every queued message,
// at most one eval, then the subscriptions. Cancels do not wait for a frame.
func (s *server) frame() {
	s.mu.Lock()
	for n := len(s.tasks); n > 0 && len(s.tasks) > 0; n-- { // one by one: those that wait can be cancelled
		t := s.tasks[0]
		s.tasks = s.tasks[1:]
		s.mu.Unlock()
		if t.h.ctx.Err() == nil {
			s.do(t)
		}
		s.mu.Lock()
	}
	var eval *running
	if len(s.evals) > 0 {
		eval = s.evals[0]
		s.evals = s.evals[1:]
		s.calls = append(s.calls, eval)
	}
	s.mu.Unlock()
	if eval != nil {
		s.eval(eval)
		s.over(eval)
	}
	s.tick()
}

// do handles one queued message.
func (s *server) do(t task) {
	switch t.msg.Method {
	case typeComplete:
		s.complete(t)
	case typeReset:
		s.reset(t)
	case typeSubscribe:
		s.subscribe(t)
	case typeList:
		s.list(t)
	case typeDescribe:
		s.describe(t)
	case typeCall:
		s.command(t)
	case typeStatus:
		s.status(t)
	case typeJobCancel:
		s.cancelJob(t)
	case typeJournal:
		s.query(t)
	}
}

// enqueue queues a message for the next frame. It returns false if
// maxQueuedCommands are already waiting or running.
func (s *server) enqueue(t task) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.tasks)+len(s.evals)+len(s.calls) >= s.cfg.limits.MaxQueuedCommands {
		return false
	}
	if t.msg.Method == typeEval {
		s.evals = append(s.evals, s.newRunning(t))
	} else {
		s.tasks = append(s.tasks, t)
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return true
}

func (s *server) newRunning(t task) *running {
	r := &running{task: t, begun: time.Now()}
	r.ctx, r.cancel = context.WithCancelCause(t.h.ctx)
	return r
}

// The causes with which a running evaluation or command is cancelled.
var (
	errByClient = errors.New("cancelled by the client")
	errReset    = errors.New("reset in progress")
)

// cancelByID cancels the evals, commands and subscriptions that have that id,
// whichever client sent them. A cancel itself is never answered; what it ends
// is, except a subscription.
func (s *server) cancelByID(id []byte) {
	s.mu.Lock()
	same := func(m wire.Message) bool { return string(m.ID) == string(id) }
	var queued []*running
	s.evals = slices.DeleteFunc(s.evals, func(r *running) bool {
		if same(r.msg) {
			queued = append(queued, r)
			return true
		}
		return false
	})
	var calls []task // that have not begun
	s.tasks = slices.DeleteFunc(s.tasks, func(t task) bool {
		if t.msg.Method == typeCall && same(t.msg) {
			calls = append(calls, t)
			return true
		}
		return t.msg.Method == typeSubscribe && same(t.msg)
	})
	for _, r := range s.calls {
		if same(r.msg) {
			r.cancel(errByClient)
		}
	}
	s.watches = slices.DeleteFunc(s.watches, func(w *watch) bool {
		if !same(w.msg) {
			return false
		}
		w.cancel()
		return true
	})
	s.mu.Unlock()
	for _, t := range calls {
		t.h.send(commandFailed(t.msg.ID, time.Now(), cancelledCommand))
	}
	for _, r := range queued {
		r.cancel(errByClient)
		s.evalFailed(r, cancelledEval(r))
	}
}

// over removes r from the evals and commands that run.
func (s *server) over(r *running) {
	r.cancel(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = slices.DeleteFunc(s.calls, func(c *running) bool { return c == r })
}
