package batch

import (
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// flow is the state of the jobs of a batch, from the line on stdin to the answer on stdout.
//
// Its rules:
//   - A job is queued when its line has been read, started in the order of the lines, over
//     when its answer is known, and free for the next line when that has been printed.
//   - At most --jobs are under way. At most one more, or with --unordered none, has started
//     and is not printed yet: if nobody reads stdout, no more calls are made.
//   - Most of the time a single goroutine does everything, the one that reads the
//     connection: before it waits for input it takes the answers, prints them, and starts
//     the next jobs (advance). If printing may block, another goroutine calls advance.
//   - A job that is no plain call, such as a notification, or a line that can only be
//     checked after asking the peer, has a goroutine of its own.
type flow struct {
	pipeline dialect.CallPipeline // nil: every call has a goroutine of its own
	answers
	output
	reader

	mu       sync.Mutex
	changed  sync.Cond // fewer lines are queued, or no job is left
	queued   fifo
	bytes    int  // of the lines in queued
	order    fifo // what has started, in the order of the lines; with --unordered nothing
	ready    []*job
	free     []*job
	underWay int
	held     int // started, and not free
	stopped  bool
	failed   bool  // a line got an error
	fault    error // another failure, such as a connection that ended
	inFlight
}

// answers are the pipelined jobs that were answered and that advance has not handled yet.
type answers struct {
	mu   sync.Mutex
	came []*job
	said wire.Event // the event of the answer that is being read
	took []*job     // the memory of came
}

// output is the state of printing.
type output struct {
	wake      chan struct{} // makes another goroutine call advance; nil: wakePrinter calls it itself
	advancing sync.Mutex    // held during advance
	printing  []*job        // the jobs that advance prints; their memory is that of ready
	broken    error         // why no more could be printed
}

// inFlight lists the jobs in the pipeline, the oldest first.
type inFlight struct {
	first, last *job
	timer       *time.Timer // of the oldest; nil: none has to be answered in time
}

// startQueued starts as many queued jobs as may run. It is called before stdin is waited for.
func (b *batch) startQueued() {
	b.mu.Lock()
	b.queueRead()
	b.start()
	b.mu.Unlock()
	b.wakePrinter() // for jobs that ended at once
}

// start starts queued jobs as far as the rules allow. The lock is held.
func (b *batch) start() {
	most, sent := b.jobs+1, false
	var now time.Time
	if b.o.Unordered {
		most = b.jobs
	}
	for b.queued.len() > 0 && b.underWay < b.jobs && b.held < most && !b.stopped {
		j := b.queued.pop()
		b.bytes -= len(j.line)
		b.underWay++
		b.held++
		if !b.o.Unordered {
			b.order.push(j)
		}
		switch {
		case j.bad != nil:
			b.failure(j, j.bad)
			b.end(j)
		case b.pipeline != nil && j.op.Kind == dialect.Call:
			if !sent {
				now = time.Now()
			}
			if !b.send(j, now) {
				go b.call(j)
			}
			sent = true
		default:
			go b.call(j)
		}
	}
	if sent {
		b.pipeline.Flush()
	}
	if !b.ahead(2) {
		b.changed.Broadcast()
	}
}

// send sends j through the pipeline; false if the pipeline does not take it. The lock is held.
func (b *batch) send(j *job, now time.Time) bool {
	j.sent = now
	if !b.pipeline.Send(&j.op, j) {
		b.pipeline.Flush() // there may be room then
		if !b.pipeline.Send(&j.op, j) {
			return false
		}
	}
	b.addInFlight(j)
	return true
}

// answered notes that the pipelined job j has been answered.
func (a *answers) answered(j *job) {
	a.mu.Lock()
	a.came = append(a.came, j)
	a.mu.Unlock()
}

// all returns the jobs that were answered since its last call.
func (a *answers) all() []*job {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.came, a.took = a.took[:0], a.came
	return a.took
}

// onAnswers is called by the peer when pipelined jobs may have been answered.
func (b *batch) onAnswers() {
	b.answers.mu.Lock()
	none := len(b.came) == 0
	b.answers.mu.Unlock()
	if !none {
		b.wakePrinter()
	}
}

// wakePrinter makes advance run, here or in the goroutine that prints.
func (b *batch) wakePrinter() {
	if b.wake == nil {
		b.advance()
		return
	}
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// advance takes the jobs that are over, prints their answers in order, and starts the next jobs.
func (b *batch) advance() {
	b.advancing.Lock()
	defer b.advancing.Unlock()
	b.mu.Lock()
	any := false
	for {
		for _, j := range b.answers.all() {
			b.failed = b.failed || j.refused
			b.removeInFlight(j)
			b.end(j)
		}
		if len(b.ready) == 0 {
			break
		}
		b.ready, b.printing = b.printing[:0], b.ready
		b.mu.Unlock()
		for _, j := range b.printing {
			b.emit(j)
		}
		any = true
		b.mu.Lock()
		b.held -= len(b.printing)
		b.free = append(b.free, b.printing...)
		b.start()
	}
	b.start()
	if b.held == 0 || b.stopped {
		b.changed.Broadcast()
	}
	b.mu.Unlock()
	if any { // flush: a user may wait for this answer before the next line
		b.print.Idle()
	}
}

// end notes that j is over: it can be printed, or waits for the jobs before it. The lock is held.
func (b *batch) end(j *job) {
	j.over = true
	b.underWay--
	if b.o.Unordered {
		b.ready = append(b.ready, j)
		return
	}
	for b.order.len() > 0 && b.order.first().over {
		b.ready = append(b.ready, b.order.pop())
	}
}

// addInFlight adds j to the list of jobs in the pipeline. The lock is held.
func (b *batch) addInFlight(j *job) {
	j.pipelined, j.prev, j.next = true, b.last, nil
	if b.last != nil {
		b.last.next = j
	} else {
		b.first = j
	}
	b.last = j
}

// removeInFlight removes j from the list of jobs in the pipeline, if it is there. The lock is held.
func (b *batch) removeInFlight(j *job) {
	if !j.pipelined {
		return
	}
	if j.prev != nil {
		j.prev.next = j.next
	} else {
		b.first = j.next
	}
	if j.next != nil {
		j.next.prev = j.prev
	} else {
		b.last = j.prev
	}
	j.pipelined, j.prev, j.next = false, nil, nil
}

// finish waits until all jobs are over and printed.
func (b *batch) finish() {
	b.startQueued()
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.held > 0 || b.queued.len() > 0 {
		b.changed.Wait()
	}
}
