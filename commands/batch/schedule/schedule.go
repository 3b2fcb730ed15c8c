// Package schedule decides when the calls of a batch start and in which order their responses are printed.
package schedule

// A Job is one line of a batch.
type Job interface {
	comparable
	Ended() bool // its response is known
	Size() int   // in bytes
}

// A Schedule contains the jobs of a batch from reading to printing. Its caller must hold a lock.
//
// Its rules:
//   - The caller queues a job after it has read the job's line. Jobs start in the order of the lines. A job has ended when
//     its response is known. After the response is printed, another line can use the job.
//   - The number of running jobs is limited. Only one more job may have started without a printed response, or none if the
//     order is free: if no process reads stdout, no more calls start.
//   - After Stop, the schedule neither queues nor starts a job.
type Schedule[J Job] struct {
	atOnce    int // the maximum number of running jobs
	unordered bool

	queued    []J
	bytes     int // the size of the lines in queued
	order     []J // started jobs in the order of the lines; empty if unordered
	ready     []J // ended jobs to print next
	printing  []J // the last result of Ready
	free      []J
	running   int
	unprinted int // the number of started jobs that are not free
	stopped   bool
}

// New returns a Schedule with at most atOnce running jobs. It prints jobs in queue order, unless unordered is set.
func New[J Job](atOnce int, unordered bool) *Schedule[J] {
	return &Schedule[J]{atOnce: atOnce, unordered: unordered}
}

// These limits bound how far lines are read ahead of the calls, in lines and in bytes. The last line may exceed the limit
// in bytes.
const (
	aheadLines = 256
	AheadBytes = 64 << 10
)

// Ahead reports whether the queue has reached 1/parts of its limits.
func (s *Schedule[J]) Ahead(parts int) bool {
	return parts*len(s.queued) >= max(aheadLines, 2*s.atOnce) || parts*s.bytes >= AheadBytes
}

// Queue appends jobs to the queue.
func (s *Schedule[J]) Queue(jobs []J) {
	for _, j := range jobs {
		if !s.stopped {
			s.queued = append(s.queued, j)
			s.bytes += j.Size()
		}
	}
}

// Free returns a job whose response has been printed. ok is false if no job is free.
func (s *Schedule[J]) Free() (j J, ok bool) {
	n := len(s.free)
	if n == 0 {
		return j, false
	}
	j, s.free = s.free[n-1], s.free[:n-1]
	return j, true
}

// maxUnprinted bounds how many started jobs may wait for printing.
func (s *Schedule[J]) maxUnprinted() int {
	if s.unordered {
		return s.atOnce
	}
	return s.atOnce + 1
}

// Start starts and returns the next job. ok is false if none may start.
func (s *Schedule[J]) Start() (j J, ok bool) {
	if len(s.queued) == 0 || s.running >= s.atOnce || s.unprinted >= s.maxUnprinted() || s.stopped {
		return j, false
	}
	return s.start(), true
}

func (s *Schedule[J]) start() J {
	j := s.queued[0]
	s.queued = s.queued[1:]
	s.bytes -= j.Size()
	s.running++
	s.unprinted++
	if !s.unordered {
		s.order = append(s.order, j)
	}
	return j
}

// End records that j has ended. j is printed, or waits for earlier jobs.
func (s *Schedule[J]) End(j J) {
	s.running--
	if s.unordered {
		s.ready = append(s.ready, j)
		return
	}
	for len(s.order) > 0 && s.order[0].Ended() {
		s.ready, s.order = append(s.ready, s.order[0]), s.order[1:]
	}
}

// Ready returns the jobs to print, in order. The caller must call Printed after printing.
func (s *Schedule[J]) Ready() []J {
	s.ready, s.printing = s.printing[:0], s.ready
	return s.printing
}

// Printed frees the jobs of the last Ready.
func (s *Schedule[J]) Printed() {
	s.unprinted -= len(s.printing)
	s.free = append(s.free, s.printing...)
	s.printing = s.printing[:0]
}

// Stop drops the jobs that have not started. If the response of the first of them can still be printed in order, Stop
// starts and returns that job.
func (s *Schedule[J]) Stop() (first J, ok bool) {
	s.stopped = true
	if ok = len(s.queued) > 0 && !s.unordered && s.unprinted < s.maxUnprinted(); ok {
		first = s.start()
	}
	s.queued, s.bytes = nil, 0
	return first, ok
}

// Stopped reports whether Stop was called.
func (s *Schedule[J]) Stopped() bool { return s.stopped }

// AllPrinted reports whether all started jobs are printed.
func (s *Schedule[J]) AllPrinted() bool { return s.unprinted == 0 }

// Done reports whether all jobs are printed.
func (s *Schedule[J]) Done() bool { return s.unprinted == 0 && len(s.queued) == 0 }
