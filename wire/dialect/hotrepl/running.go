package hotrepl

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// maxRunning bounds the jobs that are remembered in order to be cancelled.
const maxRunning = 1024

// started records a job that the host has accepted, by its id as received.
func (c *codec) started(job json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == nil {
		c.running = map[string]bool{}
	}
	if len(c.running) < maxRunning {
		c.running[string(job)] = true
	}
}

// over forgets a job, because its result has arrived or it is being cancelled.
func (c *codec) over(job json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, string(job))
}

// RunningJobs returns the ids of the jobs that were started on this connection and have no result yet.
func (c *codec) RunningJobs() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for _, id := range slices.Sorted(maps.Keys(c.running)) {
		name, _ := scan.Text([]byte(id))
		names = append(names, name)
	}
	return names
}

// Shutdown cancels the jobs that still run. They belong to the connection: without it no one could query them, and they
// would occupy the host's slots.
func (c *codec) Shutdown(ctx context.Context, caller dialect.Caller) error {
	for _, name := range c.RunningJobs() {
		params := build("").text("jobId", name).end()
		if err := caller.Notify(ctx, dialect.Op{Kind: dialect.Internal, Method: typeJobCancel, Params: params}); err != nil {
			return err
		}
	}
	return nil
}
