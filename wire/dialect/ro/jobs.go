package ro

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"

	"rpcx/wire"
)

// A job is a call of ours whose result comes later, as far as its results have
// told.
type job struct {
	name   string // its target, as people call it
	id     string // of the request
	method string
	state  string          // accepted, pending, done, error
	result json.RawMessage // the last
	err    *wire.Error     // in place of a result; nil: there was one
	over   bool
	kept   bool // nobody reads its call, but it goes on
	waits  []*waiter
}

// jobsMost is how many jobs are remembered.
const jobsMost = 256

// jobs are those of a connection. They are written by Decode and read by flows.
type jobs struct {
	mu   sync.Mutex
	list []*job // the oldest first
}

// note takes down what m says of the call with that id, and tells who waits.
func (j *jobs) note(id, target, method string, m *wire.Message) {
	j.mu.Lock()
	defer j.mu.Unlock()
	i := slices.IndexFunc(j.list, func(have *job) bool { return have.id == id })
	if i < 0 {
		i = j.add(&job{id: id, name: id, method: method})
	}
	have := j.list[i]
	if have.name == id && target != "" {
		have.name = target
	}
	have.result, have.err, have.over = append(have.result[:0], m.Body...), nil, m.Final
	have.state = status(m.Body)
	switch {
	case m.Err != nil:
		have.err, have.state = m.Err.Clone(), "error"
	case m.Final && have.state != "error":
		have.state = "done"
	case !m.Final && have.state != "accepted":
		have.state = "pending"
	}
	for _, w := range have.waits {
		w.push(m.Clone())
	}
	if m.Final {
		have.waits = nil
	}
}

// add makes room for a job, first of all by what is over.
func (j *jobs) add(fresh *job) int {
	if len(j.list) >= jobsMost {
		drop := max(0, slices.IndexFunc(j.list, func(have *job) bool { return have.over }))
		j.list = slices.Delete(j.list, drop, drop+1)
	}
	j.list = append(j.list, fresh)
	return len(j.list) - 1
}

// keep says that the call of a job goes on though nobody reads it.
func (j *jobs) keep(id string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, have := range j.list {
		have.kept = have.kept || have.id == id
	}
}

// kept says that the call of a job is not to be forgotten.
func (j *jobs) kept(id string) bool {
	have, ok := j.find(func(have *job) bool { return have.id == id })
	return ok && have.kept && !have.over
}

// find returns a copy of the youngest job that is meant.
func (j *jobs) find(is func(*job) bool) (job, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, have := range slices.Backward(j.list) {
		if is(have) {
			c := *have
			c.result = bytes.Clone(have.result)
			return c, true
		}
	}
	return job{}, false
}

// named finds a job by its target.
func (j *jobs) named(name string) (job, error) {
	have, ok := j.find(func(have *job) bool { return have.name == name })
	if ok {
		return have, nil
	}
	f := refused("no job %q is known to this connection", name)
	f.Hint = "those that are: rpcx job list"
	return have, f
}

// line is what is known of a job.
func (j *job) line() json.RawMessage {
	b := wire.AppendString([]byte(`{"job":`), j.name)
	b = wire.AppendString(append(b, `,"status":`...), j.state)
	b = wire.AppendString(append(b, `,"method":`...), j.method)
	if len(j.result) > 0 {
		b = append(append(b, `,"result":`...), j.result...)
	}
	if j.err != nil {
		b = append(append(b, `,"error":`...), j.err.JSON()...)
	}
	return append(b, '}')
}
