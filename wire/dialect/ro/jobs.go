package ro

import (
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
	state  string       // accepted, pending, done, error
	last   wire.Message // that told of it; nobody changes it
	over   bool
	lost   error // why no result can come any more; nil: it can, or did

	attended bool // its call is read here, whoever waits
	waits    []*waiter
}

// jobsMost is how many jobs are remembered.
const jobsMost = 256

// jobs are those of a connection. They are written by Decode and read by flows.
type jobs struct {
	mu   sync.Mutex
	list []*job // the oldest first
}

// note takes down what m says of the call with that id, and tells who waits.
// dropped is the call of a job that is remembered no more; "": none.
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

// of is the job of a call; nil for none. The lock is held.
func (j *jobs) of(id string) *job {
	if i := slices.IndexFunc(j.list, func(have *job) bool { return have.id == id }); i >= 0 {
		return j.list[i]
	}
	return nil
}

// add makes room for a job, first of all by what is over. It returns the call of
// the one that had to go; "" for none.
func (j *jobs) add(fresh *job) (dropped string) {
	if len(j.list) >= jobsMost {
		drop := max(0, slices.IndexFunc(j.list, func(have *job) bool { return have.over }))
		dropped = j.list[drop].id
		j.list = slices.Delete(j.list, drop, drop+1)
	}
	j.list = append(j.list, fresh)
	return dropped
}

// attend says that the call of a job is read here, and returns a copy of the job;
// false where there is none.
func (j *jobs) attend(id string) (job, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	have := j.of(id)
	if have == nil {
		return job{}, false
	}
	have.attended = true
	return *have, true
}

// lose ends a job of which no more can come, unless it is over, and tells who
// waits.
func (j *jobs) lose(id string, why error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	have := j.of(id)
	if have == nil || have.over {
		return
	}
	have.over, have.lost, have.state = true, why, "error"
	for _, w := range have.waits {
		w.lose(why)
	}
	have.waits = nil
}

// named finds the youngest job by its target, and returns a copy.
func (j *jobs) named(name string) (job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, have := range slices.Backward(j.list) {
		if have.name == name {
			return *have, nil
		}
	}
	f := refused("no job %q is known to this connection", name)
	f.Hint = "those that are: rpcx job list"
	return job{}, f
}

// line is what is known of a job.
func (j *job) line() json.RawMessage {
	b := wire.AppendString([]byte(`{"job":`), j.name)
	b = wire.AppendString(append(b, `,"status":`...), j.state)
	b = wire.AppendString(append(b, `,"method":`...), j.method)
	err := j.last.Err
	if j.lost != nil {
		err = wire.NewError(wire.CodeServer, j.lost.Error())
	}
	if len(j.last.Body) > 0 {
		b = append(append(b, `,"result":`...), j.last.Body...)
	}
	if err != nil {
		b = append(append(b, `,"error":`...), err.JSON()...)
	}
	return append(b, '}')
}
