package modern

import (
	"slices"
	"sync"
	"time"

	"rpcx/wire"
)

// Limits of runs without an open request.
const (
	maxWaiting          = 256             // the maximum number of runs that wait for the client
	DefaultInputTimeout = 5 * time.Minute // how long a run waits for the client by default
	keepEnded           = 30 * time.Second
	maxEnded            = 64
)

// tooMany returns the error for a request that exceeds a limit.
func tooMany(what string) error {
	return wire.TryAgain("too many " + what)
}

// runs contains the runs of a server, by id. A run with questions remains for a while after its end, so that a repeated request gets the
// same result.
type runs struct {
	wait time.Duration
	byID sync.Map // the *run by its id

	mu      sync.Mutex
	ended   []*run // ended runs that had questions, oldest first
	done    []*run // ended tasks, oldest first
	waiting int
	tasks   int           // the number of running tasks
	over    chan struct{} // closed when the server ends
}

// find returns the run with that id, or nil.
func (t *runs) find(id string) *run {
	found, _ := t.byID.Load(id)
	r, _ := found.(*run)
	return r
}

// count increments n, the number of waiting runs or of running tasks. It returns false if there are already most.
func (t *runs) count(n *int, most int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if *n >= most {
		return false
	}
	*n++
	return true
}

func (t *runs) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting--
}

// forget removes an ended run: at once if it had no questions and is not a task, otherwise after some time.
func (t *runs) forget(r *run) {
	r.mu.Lock()
	asked, isTask := r.count > 0, r.task != nil
	r.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	list, most, keep := &t.ended, maxEnded, keepEnded
	switch {
	case isTask:
		t.tasks--
		list, most, keep = &t.done, maxTasks, taskKept
	case !asked:
		t.byID.Delete(r.id)
		return
	}
	if *list = append(*list, r); len(*list) > most {
		t.dropLocked((*list)[0])
	}
	time.AfterFunc(keep, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.dropLocked(r)
	})
}

func (t *runs) dropLocked(r *run) {
	t.byID.Delete(r.id)
	same := func(o *run) bool { return o == r }
	t.ended, t.done = slices.DeleteFunc(t.ended, same), slices.DeleteFunc(t.done, same)
}

// end stops the runs of a client, or all runs if identity is "".
func (t *runs) end(identity string) {
	for _, found := range t.byID.Range {
		if r := found.(*run); identity == "" || r.c.identity == identity {
			r.stop(wire.NewError(wire.CodeServer, "the connection is closed"))
		}
	}
}
