package modern

import (
	"time"

	"rpcx/wire"
)

// waitLocked makes the run wait for the client, and stops its clock. The caller holds the lock.
func (r *run) waitLocked() error {
	if !r.c.s.runs.count(&r.c.s.runs.waiting, maxWaiting) {
		r.cancel()
		return tooMany("calls are waiting for input")
	}
	r.clock.Stop()
	r.waiting = time.AfterFunc(r.c.s.runs.wait, func() { r.stop(wire.NewError(wire.CodeServer, "the client did not answer in time")) })
	return nil
}

// resumeLocked ends the wait that waitLocked began, if any. The caller holds the lock.
func (r *run) resumeLocked() {
	if r.waiting != nil {
		r.waiting.Stop()
		r.waiting = nil
		r.c.s.runs.leave()
		r.clock.Start()
	}
}

// stop cancels the run's hook. why becomes the error of the run if the hook has not ended yet.
func (r *run) stop(why *wire.Error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		r.why = why
	}
	r.cancel()
}
