package batch

// fifo is a queue of jobs. Its memory is used again.
type fifo struct {
	jobs []*job
	from int
}

func (f *fifo) len() int    { return len(f.jobs) - f.from }
func (f *fifo) first() *job { return f.jobs[f.from] }

func (f *fifo) push(j *job) {
	if f.from > 0 && len(f.jobs) == cap(f.jobs) {
		f.jobs = f.jobs[:copy(f.jobs, f.jobs[f.from:])]
		f.from = 0
	}
	f.jobs = append(f.jobs, j)
}

func (f *fifo) pop() *job {
	j := f.jobs[f.from]
	f.jobs[f.from] = nil
	if f.from++; f.from == len(f.jobs) {
		f.jobs, f.from = f.jobs[:0], 0
	}
	return j
}
