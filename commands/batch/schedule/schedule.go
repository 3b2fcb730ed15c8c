// Package schedule decides when the calls of a batch start and in which order their
// responses are printed.
package schedule

// A Job is one line of a batch.
type Job interface {
	comparable
	Over() bool // its response is known
	Size() int  // in bytes
}

// A Schedule holds the jobs of a batch, from the line that was read to the response that is
// printed. The caller has a lock for it.
//
// Its rules:
//   - A job is queued when its line has been read, started in the order of the lines, over
//     when its response is known, and free for another line when that has been printed.
//   - At most so many jobs are under way. At most one more, or if the order does not count
//     none, has started and is not printed yet: if nobody reads stdout, no more calls are made.
//   - Once it is stopped, nothing is queued or started.
type Schedule[J Job] struct {
	atOnce    int // jobs under way at most
	unordered bool

	queued   fifo[J]
	bytes    int     // of the lines in queued
	order    fifo[J] // what has started, in the order of the lines; nothing if unordered
	ready    []J     // over, and next to be printed
	printing []J     // what Ready returned last
	free     []J
	underWay int
	held     int // started, and not free
	stopped  bool
}

// New returns a Schedule of at most atOnce jobs under way. Unless unordered, they are printed in
// the order in which they were queued.
func New[J Job](atOnce int, unordered bool) *Schedule[J] {
	return &Schedule[J]{atOnce: atOnce, unordered: unordered}
}

// How far lines are read ahead of the calls: so many, and no more bytes than that but for
// the last of them.
const (
	aheadLines = 256
	AheadBytes = 64 << 10
)

// Ahead reports whether the lines that are queued are a part of what may be queued.
func (s *Schedule[J]) Ahead(parts int) bool {
	return parts*s.queued.len() >= max(aheadLines, 2*s.atOnce) || parts*s.bytes >= AheadBytes
}

// Queue appends jobs to those that wait to start.
func (s *Schedule[J]) Queue(jobs []J) {
	for _, j := range jobs {
		if !s.stopped {
			s.queued.push(j)
			s.bytes += j.Size()
		}
	}
}

// Free returns a job whose response has been printed, or false if there is none.
func (s *Schedule[J]) Free() (j J, ok bool) {
	n := len(s.free)
	if n == 0 {
		return j, false
	}
	j, s.free = s.free[n-1], s.free[:n-1]
	return j, true
}

// most returns how many jobs may have started and not be printed yet.
func (s *Schedule[J]) most() int {
	if s.unordered {
		return s.atOnce
	}
	return s.atOnce + 1
}

// Start returns the next job, which starts now, or false if none may start.
func (s *Schedule[J]) Start() (j J, ok bool) {
	if s.queued.len() == 0 || s.underWay >= s.atOnce || s.held >= s.most() || s.stopped {
		return j, false
	}
	return s.start(), true
}

func (s *Schedule[J]) start() J {
	j := s.queued.pop()
	s.bytes -= j.Size()
	s.underWay++
	s.held++
	if !s.unordered {
		s.order.push(j)
	}
	return j
}

// End notes that j is over: it can be printed, or waits for the jobs before it.
func (s *Schedule[J]) End(j J) {
	s.underWay--
	if s.unordered {
		s.ready = append(s.ready, j)
		return
	}
	for s.order.len() > 0 && s.order.first().Over() {
		s.ready = append(s.ready, s.order.pop())
	}
}

// Ready returns the jobs to print, in this order. The caller calls Printed when that is done.
func (s *Schedule[J]) Ready() []J {
	s.ready, s.printing = s.printing[:0], s.ready
	return s.printing
}

// Printed frees the jobs that Ready has returned.
func (s *Schedule[J]) Printed() {
	s.held -= len(s.printing)
	s.free = append(s.free, s.printing...)
	s.printing = s.printing[:0]
}

// Stop drops the jobs that have not started. It starts and returns the first of them, if its
// response can still be printed in order.
func (s *Schedule[J]) Stop() (first J, ok bool) {
	s.stopped = true
	if ok = s.queued.len() > 0 && !s.unordered && s.held < s.most(); ok {
		first = s.start()
	}
	s.queued, s.bytes = fifo[J]{}, 0
	return first, ok
}

// Stopped reports whether Stop was called.
func (s *Schedule[J]) Stopped() bool { return s.stopped }

// AllPrinted reports whether all jobs that have started are printed.
func (s *Schedule[J]) AllPrinted() bool { return s.held == 0 }

// Done reports whether all jobs are printed.
func (s *Schedule[J]) Done() bool { return s.held == 0 && s.queued.len() == 0 }

// fifo is a queue of jobs. Its memory is used again.
type fifo[J any] struct {
	jobs []J
	from int
}

func (f *fifo[J]) len() int { return len(f.jobs) - f.from }
func (f *fifo[J]) first() J { return f.jobs[f.from] }

func (f *fifo[J]) push(j J) {
	if f.from > 0 && len(f.jobs) == cap(f.jobs) {
		f.jobs = f.jobs[:copy(f.jobs, f.jobs[f.from:])]
		f.from = 0
	}
	f.jobs = append(f.jobs, j)
}

func (f *fifo[J]) pop() (j J) {
	j, f.jobs[f.from] = f.jobs[f.from], j
	if f.from++; f.from == len(f.jobs) {
		f.jobs, f.from = f.jobs[:0], 0
	}
	return j
}
