package batch

// A schedule contains the jobs of a batch from reading to printing. It decides when they start and in which order their
// responses are printed. Its caller must hold a lock.
//
// Its rules:
//   - The caller queues a job after it has read the job's line. Jobs start in the order of the lines. A job has ended when
//     its response is known. After the response is printed, another line can use the job.
//   - The number of running jobs is limited. Only one more job may have started without a printed response, or none if the
//     order is free: if no process reads stdout, no more calls start.
//   - After stop, the schedule neither queues nor starts a job.
type schedule struct {
	atOnce    int  // the maximum number of running jobs
	unordered bool // jobs are printed when they end, not in the order of the lines

	queued    []*job
	bytes     int    // the size of the lines in queued
	order     []*job // started jobs in the order of the lines; empty if unordered
	ready     []*job // ended jobs to print next
	printing  []*job // the last result of next
	free      []*job
	running   int
	unprinted int // the number of started jobs that are not free
	stopped   bool
}

// These limits bound how far lines are read ahead of the calls, in lines and in bytes. The last line may exceed the limit
// in bytes.
const (
	aheadLines = 256
	aheadBytes = 64 << 10
)

// ahead reports whether the queue has reached 1/parts of its limits.
func (s *schedule) ahead(parts int) bool {
	return parts*len(s.queued) >= max(aheadLines, 2*s.atOnce) || parts*s.bytes >= aheadBytes
}

// queue appends jobs to the queue.
func (s *schedule) queue(jobs []*job) {
	for _, j := range jobs {
		if !s.stopped {
			s.queued = append(s.queued, j)
			s.bytes += len(j.line)
		}
	}
}

// reuse returns a job whose response has been printed, or nil.
func (s *schedule) reuse() (j *job) {
	if n := len(s.free); n > 0 {
		j, s.free = s.free[n-1], s.free[:n-1]
	}
	return j
}

// maxUnprinted bounds how many started jobs may wait for printing.
func (s *schedule) maxUnprinted() int {
	if s.unordered {
		return s.atOnce
	}
	return s.atOnce + 1
}

// startNext starts and returns the next job, or returns nil if none may start.
func (s *schedule) startNext() *job {
	if len(s.queued) == 0 || s.running >= s.atOnce || s.stopped || s.unprinted >= s.maxUnprinted() {
		return nil
	}
	return s.start()
}

func (s *schedule) start() *job {
	j := s.queued[0]
	s.queued = s.queued[1:]
	s.bytes -= len(j.line)
	s.running++
	s.unprinted++
	if !s.unordered {
		s.order = append(s.order, j)
	}
	return j
}

// end records that j has ended. j is printed, or waits for earlier jobs.
func (s *schedule) end(j *job) {
	s.running--
	if s.unordered {
		s.ready = append(s.ready, j)
		return
	}
	for len(s.order) > 0 && s.order[0].ended {
		s.ready, s.order = append(s.ready, s.order[0]), s.order[1:]
	}
}

// next returns the jobs to print, in order. The caller must call printed after printing.
func (s *schedule) next() []*job {
	s.ready, s.printing = s.printing[:0], s.ready
	return s.printing
}

// printed frees the jobs of the last next.
func (s *schedule) printed() {
	s.unprinted -= len(s.printing)
	s.free = append(s.free, s.printing...)
	s.printing = s.printing[:0]
}

// stop drops the jobs that have not started. If the response of the first of them can still be printed in order, stop
// starts and returns that job.
func (s *schedule) stop() (first *job) {
	s.stopped = true
	if len(s.queued) > 0 && !s.unordered && s.unprinted < s.maxUnprinted() {
		first = s.start()
	}
	s.queued, s.bytes = nil, 0
	return first
}

// done reports whether all jobs are printed.
func (s *schedule) done() bool { return s.unprinted == 0 && len(s.queued) == 0 }
