package ro

import (
	"encoding/json"
	"slices"
	"sync"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// A job is a local call whose result arrives later, with the state from the messages about it.
type job struct {
	name   string // its target, by which users name it
	id     string // of the request
	method string
	state  string       // accepted, pending, done, error
	last   wire.Message // the latest message about it; immutable
	over   bool
	lost   error // why no result can arrive any more; nil if one can, or did

	hasReader bool // a goroutine reads its call, even if no command waits
	waits     []*waiter
}

// maxJobs bounds the jobs that a connection remembers.
const maxJobs = 256

// jobs has the jobs of a connection. Decode writes them, flows read them.
type jobs struct {
	mu   sync.Mutex
	list []*job // the oldest first
}

// note records the data of m about the call with that id, and passes it to all waiters. If the oldest job had to be
// forgotten to make room, dropped is the request id of that job, else "".
func (j *jobs) note(id, target, method string, m *wire.Message) (dropped string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	have := j.of(id)
	if have == nil {
		have = &job{id: id, name: id, method: method}
		dropped = j.add(have)
	}
	if have.name == id && target != "" {
		have.name = target
	}
	have.last, have.over = m.Clone(), m.Final
	have.state = status(m.Body)
	switch {
	case m.Err != nil:
		have.state = "error"
	case m.Final && have.state != "error":
		have.state = "done"
	case !m.Final && have.state != "accepted":
		have.state = "pending"
	}
	for _, w := range have.waits {
		w.pushLocked(have.last)
	}
	if m.Final {
		have.waits = nil
	}
	return dropped
}

// of returns the job of a call, or nil. The caller holds the lock.
func (j *jobs) of(id string) *job {
	if i := slices.IndexFunc(j.list, func(have *job) bool { return have.id == id }); i >= 0 {
		return j.list[i]
	}
	return nil
}

// add stores a job. If there are too many, it removes one, preferably one that has ended. It returns the request id of
// the removed job, or "" if there is none.
func (j *jobs) add(fresh *job) (dropped string) {
	if len(j.list) >= maxJobs {
		drop := max(0, slices.IndexFunc(j.list, func(have *job) bool { return have.over }))
		dropped = j.list[drop].id
		j.list = slices.Delete(j.list, drop, drop+1)
	}
	j.list = append(j.list, fresh)
	return dropped
}

// markRead records that a goroutine reads the job's call, and returns a copy of the job, or false if there is none.
func (j *jobs) markRead(id string) (job, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	have := j.of(id)
	if have == nil {
		return job{}, false
	}
	have.hasReader = true
	return *have, true
}

// lose ends a job whose result can no longer arrive, unless it has already ended, and gives all waiters the reason.
func (j *jobs) lose(id string, why error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	have := j.of(id)
	if have == nil || have.over {
		return
	}
	why = unfinished(why)
	have.over, have.lost, have.state = true, why, "error"
	for _, w := range have.waits {
		w.loseLocked(why)
	}
	have.waits = nil
}

// named returns a copy of the youngest job with that target. The error is a
// usage Fault.
func (j *jobs) named(name string) (job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, have := range slices.Backward(j.list) {
		if have.name == name {
			return *have, nil
		}
	}
	return job{}, wire.Usagef("no job %q is known to this connection", name).WithHint("rpcx job list lists the known jobs")
}

// line encodes the known facts about a job as one JSON object.
func (j *job) line() json.RawMessage {
	var o scan.Object
	o.Text("job", j.name)
	o.Text("status", j.state)
	o.Text("method", j.method)
	err := j.last.Err
	if j.lost != nil {
		err = wire.NewError(wire.CodeServer, j.lost.Error())
	}
	o.Add("result", j.last.Body)
	if err != nil {
		o.Add("error", err.JSON())
	}
	return o.End()
}
