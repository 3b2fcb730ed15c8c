package hotrepl

import (
	"context"
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

// running is an eval, command or subscription that a cancel can name by its message's id.
type running struct {
	task
	begun  time.Time
	ctx    context.Context
	cancel context.CancelFunc
}

func newRunning(t task) *running {
	r := &running{task: t, begun: time.Now()}
	r.ctx, r.cancel = context.WithCancel(t.h.ctx)
	return r
}

// A queue contains at most maxQueuedCommands waiting and running messages, and at most maxWatches subscriptions.
type queue struct {
	cfg  *config
	wake chan struct{} // receives a value when there is work

	mu      sync.Mutex
	tasks   []task     // waiting, in order; a frame takes all except the evals, of which it takes one
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
	return len(q.tasks)+len(q.watches) == 0
}

// add queues a message for the next frame. It returns false if the queue is full.
func (q *queue) add(t task) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.tasks)+len(q.calls) >= q.cfg.limits.MaxQueuedCommands {
		return false
	}
	q.tasks = append(q.tasks, t)
	wire.Wake(q.wake)
	return true
}

// len returns the number of waiting messages.
func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.tasks)
}

// next removes and returns the oldest waiting message that is not an eval. It returns false if there is none.
func (q *queue) next() (t task, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.first(false)
}

// nextEval moves the oldest waiting eval to the running ones and returns it. It returns nil if none is waiting.
func (q *queue) nextEval() *running {
	q.mu.Lock()
	defer q.mu.Unlock()
	t, ok := q.first(true)
	if !ok {
		return nil
	}
	eval := newRunning(t)
	q.calls = append(q.calls, eval)
	return eval
}

// first removes and returns the oldest waiting eval, or the oldest other message. The caller holds the lock.
func (q *queue) first(eval bool) (t task, ok bool) {
	i := slices.IndexFunc(q.tasks, func(t task) bool { return (t.msg.Method == typeEval) == eval })
	if i < 0 {
		return t, false
	}
	t = q.tasks[i]
	q.tasks = slices.Delete(q.tasks, i, i+1)
	return t, true
}

func (q *queue) run(r *running) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.calls = append(q.calls, r)
}

func (q *queue) over(r *running) {
	r.cancel()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.calls = slices.DeleteFunc(q.calls, func(c *running) bool { return c == r })
}

// watch adds a subscription, which replaces an earlier one of the same client with the same id. It returns false if
// there are already maxWatches subscriptions.
func (q *queue) watch(w *watch) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.endWatches(func(o *watch) bool { return o.h == w.h && string(o.msg.ID.Key()) == string(w.msg.ID.Key()) })
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
func (q *queue) reset() (evals []task, watches []*watch) {
	q.mu.Lock()
	defer q.mu.Unlock()
	evals = q.remove(func(t task) bool { return t.msg.Method == typeEval })
	watches, q.watches = q.watches, nil
	return evals, watches
}

// drop removes the waiting messages of a client.
func (q *queue) drop(h *handler) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.remove(func(t task) bool { return t.h == h })
	q.endWatches(func(w *watch) bool { return w.h == h })
}

// cancel ends the subscriptions with that id, and cancels running evals and commands with it. It removes and returns
// the waiting evals, commands and subscriptions with that id.
func (q *queue) cancel(id wire.ID) (waiting []task) {
	q.mu.Lock()
	defer q.mu.Unlock()
	same := func(m wire.Message) bool { return string(m.ID.Key()) == string(id.Key()) }
	for _, r := range q.calls {
		if same(r.msg) {
			r.cancel()
		}
	}
	q.endWatches(func(w *watch) bool { return same(w.msg) })
	return q.remove(func(t task) bool {
		return same(t.msg) && slices.Contains([]string{typeEval, typeCall, typeSubscribe}, t.msg.Method)
	})
}

// remove removes and returns the waiting messages for which which returns true. The caller holds the lock.
func (q *queue) remove(which func(task) bool) (removed []task) {
	q.tasks = slices.DeleteFunc(q.tasks, func(t task) bool {
		if !which(t) {
			return false
		}
		removed = append(removed, t)
		return true
	})
	return removed
}
