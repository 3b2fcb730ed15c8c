package ro

import (
	"encoding/json"
	"slices"
	"sync"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// A job is a local call with a later result, and its state according to the messages about it.
type job struct {
	name   string // the name for users: the target, or the id if the target is unknown
	id     string // the request's id
	method string
	state  string       // accepted, pending, done or error
	last   wire.Message // the latest message; immutable
	over   bool
	lost   error // the reason why no result can arrive, or nil

	hasReader bool // a goroutine reads the call even without a waiting command
	waits     []*waiter
}

// maxJobs bounds the stored jobs of a connection.
const maxJobs = 256

// jobs are the jobs of a connection. Decode writes them, and flows read them.
type jobs struct {
	mu   sync.Mutex
	list []*job // oldest first
}

// note stores the state in m of the call with that id, and passes m to all waiters. target is the job's name, or "" if
// unknown. dropped is the request id of a job that note removed to make room, or "".
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
		w.push(have.last)
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

// add stores a job. If there are too many, it removes one, preferably an ended one, and returns that job's request id.
// Otherwise it returns "".
func (j *jobs) add(fresh *job) (dropped string) {
	if len(j.list) >= maxJobs {
		drop := max(0, slices.IndexFunc(j.list, func(have *job) bool { return have.over }))
		dropped = j.list[drop].id
		j.list = slices.Delete(j.list, drop, drop+1)
	}
	j.list = append(j.list, fresh)
	return dropped
}

// markRead records that a goroutine reads the job's call, and returns a copy of the job. It returns false if there is
// no such job.
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

// lose ends an unfinished job whose result can no longer arrive. All waiters receive the reason.
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
		w.end(why)
	}
	have.waits = nil
}

// named returns a copy of the newest job with that target, or a usage Fault.
func (j *jobs) named(name string) (job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, have := range slices.Backward(j.list) {
		if have.name == name {
			return *have, nil
		}
	}
	return job{}, wire.Usagef("this connection has no job %q", name).WithHint("rpcx job list lists the known jobs")
}

// line returns the known facts about a job as one JSON object.
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
