package poll

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// maxRunning bounds the jobs in a Running.
const maxRunning = 1024

// Running are the jobs that were started on a connection, end with it, and may still be running. The zero value is
// empty.
type Running struct {
	mu  sync.Mutex
	ids map[string]bool
}

// SetRunning records whether a job is running. id is a JSON string.
func (r *Running) SetRunning(id json.RawMessage, runs bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := scan.String(id)
	switch {
	case !runs:
		delete(r.ids, name)
	case len(r.ids) < maxRunning:
		wire.Put(&r.ids, name, true)
	}
}

// RunningJobs returns the ids of the jobs.
func (r *Running) RunningJobs() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.ids))
}

// CancelRunning calls cancel for each job until a call fails.
func (r *Running) CancelRunning(cancel func(id json.RawMessage) error) error {
	for _, name := range r.RunningJobs() {
		if err := cancel(scan.AppendQuoted(nil, name)); err != nil {
			return err
		}
	}
	return nil
}
