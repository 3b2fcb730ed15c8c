package hotrepl

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"rpcx/wire"
)

// A task is a client's message that waits for a frame.
type task struct {
	h   *handler
	msg wire.Message
}

// running is an eval or command that a cancel can name by its message's id.
type running struct {
	task
	begun  time.Time
	ctx    context.Context
	cancel context.CancelCauseFunc
}

func newRunning(t task) *running {
	r := &running{task: t, begun: time.Now()}
	r.ctx, r.cancel = context.WithCancelCause(t.h.ctx)
	return r
}

// Causes of the cancellation of an evaluation or a command.
var (
	errByClient = errors.New("cancelled by the client")
	errReset    = errors.New("reset in progress")
)

// A queue contains at most maxQueuedCommands waiting and running messages, and at most maxWatches subscriptions.
type queue struct {
	cfg  *config
	wake chan struct{} // receives a value when there is work

	mu      sync.Mutex
	tasks   []task     // waiting for the next frame, in order
	evals   []*running // waiting, one per frame, in order
	calls   []*running // running evals and commands
	watches []*watch   // subscriptions in order of arrival
}

func newQueue(cfg *config) *queue { return &queue{cfg: cfg, wake: make(chan struct{}, 1)} }

// frames calls frame at each tick of the clock, and sleeps while there is no work.
func (q *queue) frames(ctx context.Context, frame func()) {
	defer wire.Guard()
	clock := time.NewTimer(q.cfg.frame)
	defer clock.Stop()
	for {
		for q.idle() {
			select {
			case <-q.wake:
			case <-ctx.Done():
				return
			}
			clock.Reset(q.cfg.frame)
		}
		select {
		case <-clock.C:
		case <-ctx.Done():
			return
		}
		clock.Reset(q.cfg.frame)
		frame()
	}
}

func (q *queue) idle() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.tasks)+len(q.evals)+len(q.watches) == 0
}

// add queues a message for the next frame. It returns false if the queue is full.
func (q *queue) add(t task) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.tasks)+len(q.evals)+len(q.calls) >= q.cfg.limits.MaxQueuedCommands {
		return false
	}
	if t.msg.Method == typeEval {
		q.evals = append(q.evals, newRunning(t))
	} else {
		q.tasks = append(q.tasks, t)
	}
	wire.Wake(q.wake)
	return true
}

// len returns the number of waiting messages other than evals.
func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.tasks)
}

// next removes and returns the oldest waiting message other than an eval. It returns false if there is none.
func (q *queue) next() (t task, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.tasks) == 0 {
		return t, false
	}
	t, q.tasks = q.tasks[0], q.tasks[1:]
	return t, true
}

// nextEval moves the oldest waiting eval to the running ones and returns it. It returns nil if none is waiting.
func (q *queue) nextEval() *running {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.evals) == 0 {
		return nil
	}
	eval := q.evals[0]
	q.evals, q.calls = q.evals[1:], append(q.calls, eval)
	return eval
}

func (q *queue) run(r *running) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.calls = append(q.calls, r)
}

func (q *queue) over(r *running) {
	r.cancel(nil)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.calls = slices.DeleteFunc(q.calls, func(c *running) bool { return c == r })
}

// watch adds a subscription, which replaces an earlier one of the same client with the same id. It returns false if
// there are already maxWatches subscriptions.
func (q *queue) watch(w *watch) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.endWatches(func(o *watch) bool { return o.h == w.h && string(o.msg.ID) == string(w.msg.ID) })
	if len(q.watches) >= maxWatches {
		return false
	}
	q.watches = append(q.watches, w)
	return true
}

// due returns the subscriptions to evaluate in this frame.
func (q *queue) due() (due []*watch) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, w := range q.watches {
		if w.wait--; w.wait <= 0 {
			w.wait = w.every
			due = append(due, w)
		}
	}
	return due
}

func (q *queue) endWatch(w *watch) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.endWatches(func(o *watch) bool { return o == w })
}

// endWatches cancels and removes the subscriptions for which ends returns true. The caller holds the lock.
func (q *queue) endWatches(ends func(*watch) bool) {
	q.watches = slices.DeleteFunc(q.watches, func(w *watch) bool {
		if !ends(w) {
			return false
		}
		w.cancel()
		return true
	})
}

// reset removes the waiting evals and the subscriptions, and returns them.
func (q *queue) reset() (evals []*running, watches []*watch) {
	q.mu.Lock()
	defer q.mu.Unlock()
	evals, watches = q.evals, q.watches
	q.evals, q.watches = nil, nil
	return evals, watches
}

// drop removes the waiting messages of a client.
func (q *queue) drop(h *handler) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.tasks = slices.DeleteFunc(q.tasks, func(t task) bool { return t.h == h })
	q.evals = slices.DeleteFunc(q.evals, func(e *running) bool { return e.h == h })
	q.endWatches(func(w *watch) bool { return w.h == h })
}

// cancel ends the subscriptions with that id, and cancels running evals and commands with it. It removes and returns
// the waiting commands and evals with that id.
func (q *queue) cancel(id []byte) (calls []task, evals []*running) {
	q.mu.Lock()
	defer q.mu.Unlock()
	same := func(m wire.Message) bool { return string(m.ID) == string(id) }
	q.evals = slices.DeleteFunc(q.evals, func(r *running) bool {
		if same(r.msg) {
			evals = append(evals, r)
			return true
		}
		return false
	})
	q.tasks = slices.DeleteFunc(q.tasks, func(t task) bool {
		if t.msg.Method == typeCall && same(t.msg) {
			calls = append(calls, t)
			return true
		}
		return t.msg.Method == typeSubscribe && same(t.msg)
	})
	for _, r := range q.calls {
		if same(r.msg) {
			r.cancel(errByClient)
		}
	}
	q.endWatches(func(w *watch) bool { return same(w.msg) })
	return calls, evals
}
