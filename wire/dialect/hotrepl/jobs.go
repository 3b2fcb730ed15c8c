package hotrepl

import (
	"cmp"
	"encoding/json"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// A job is a command that continues after the host has accepted it. It belongs to the client that started it. The host
// stores at most maxJobs jobs.
type job struct {
	*running
	name     string
	progress json.RawMessage // the latest progress, or nil
	// The following fields are set when the job ends.
	state string // "" while the job runs
	outcome
	ended time.Time
}

// start accepts a job and runs it, unless maxJobConcurrency jobs are running.
func (s *server) start(r *running, m *catalog.Method) {
	id := wire.RandomHex(16)
	j := &job{running: r, name: m.Name}
	if !s.store(id, j) {
		s.commandDone(r, m.Name, outcome{err: busy("jobConcurrencyLimit", "Too many jobs are running.")})
		r.cancel()
		return
	}
	r.h.send(build(typeJobAccepted).id(r.msg.ID).text("jobId", id).text("state", "running").end())
	s.wg.Go(func() { s.runJob(j, id) })
}

// maxJobs bounds the stored jobs.
const maxJobs = 1024

// forgetJobs makes room for a new job: if maxJobs are stored, it removes the one that ended first. The caller holds the
// server's lock.
func (s *server) forgetJobs() {
	if len(s.jobs) < maxJobs {
		return
	}
	oldest := ""
	for id, j := range s.jobs {
		if j.state != "" && (oldest == "" || j.ended.Before(s.jobs[oldest].ended)) {
			oldest = id
		}
	}
	delete(s.jobs, oldest)
}

// store stores a job that may start. It returns false if maxJobConcurrency jobs are running.
func (s *server) store(id string, j *job) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, other := range s.jobs {
		if other.state == "" {
			n++
		}
	}
	if n >= s.cfg.limits.MaxJobConcurrency {
		return false
	}
	s.forgetJobs()
	s.jobs[id] = j
	return true
}

func (s *server) runJob(j *job, id string) {
	defer wire.Guard()
	done := s.run(j.running, j.name, id, true, func(ev wire.Event) {
		s.mu.Lock()
		defer s.mu.Unlock()
		j.progress = progress(ev)
	})
	s.mu.Lock()
	j.state, j.ended = "done", time.Now()
	switch {
	case done.err != nil && j.ctx.Err() != nil:
		j.state, done.err = "cancelled", newError(kindCancelled, codeJobCancelled, "The job was cancelled.")
	case done.err != nil:
		j.state = "failed"
	}
	j.outcome = done
	s.mu.Unlock()
	j.cancel()
	s.journal.add(j.entry(j.name, done))
}

// progress converts a hook's progress event to the progress member of a job.
func progress(ev wire.Event) json.RawMessage {
	switch {
	case ev.Fraction != nil && ev.Message != "":
		return build("").text("message", ev.Message).raw("fraction", ev.Fraction).end()
	case ev.Fraction != nil:
		return append(json.RawMessage(nil), ev.Fraction...)
	}
	return scan.AppendQuoted(nil, ev.Message)
}

// find returns the job that a message names. For an unknown job or one of another client, it answers with an error and
// returns nil. (Some hosts do not answer and let their clients wait.)
func (s *server) find(t task) (j *job, id string) {
	id, _ = scan.Text(scan.Get(t.msg.Raw, "jobId"))
	s.mu.Lock()
	j = s.jobs[id]
	s.mu.Unlock()
	switch {
	case j == nil:
		t.h.send(errorMessage(t.msg.ID, newError(kindMissing, "jobMissing", "There is no such job.")))
	case j.h != t.h:
		foreign := newError(kindConflict, "jobNotOwnedByConnection", "The job was started on another connection.")
		t.h.send(outcome{err: foreign}.message(t.msg.ID, time.Now()))
		j = nil
	}
	return j, id
}

// status answers a job_status with the progress or the result of the job.
func (s *server) status(t task) {
	j, id := s.find(t)
	if j == nil {
		return
	}
	s.mu.Lock()
	answer := j.report(t.msg.ID, id)
	s.mu.Unlock()
	t.h.send(answer)
}

// report returns the response to a job_status. msg is the id of the request, and id is the job's. The caller holds the
// server's lock.
func (j *job) report(msg wire.ID, id string) json.RawMessage {
	if j.state == "" {
		return build(typeStatusResult).id(msg).text("jobId", id).text("state", "running").raw("progress", j.progress).end()
	}
	b := j.addTo(build(typeJobResult).id(msg).text("jobId", id).text("state", j.state))
	return b.int("durationMs", int(j.ended.Sub(j.begun)/time.Millisecond)).end()
}

// cancelJob answers a job_cancel and cancels the job's hook. The job ends when the hook ends.
func (s *server) cancelJob(t task) {
	j, _ := s.find(t)
	if j == nil {
		return
	}
	s.mu.Lock()
	state := j.state
	s.mu.Unlock()
	if state == "" {
		j.cancel()
	}
	t.h.send(build(typeJobCancelResult).id(t.msg.ID).bool("accepted", state == "").text("state", cmp.Or(state, "running")).end())
}
