package batch

import (
	"sync"
	"time"

	"rpcx/wire/dialect"
)

// flow is what a batch holds between stdin and stdout.
//
// Its rules:
//   - A job is queued when its line has been read, started in the order of the lines, over
//     when nothing more comes, and free when its answer has been printed.
//   - At most --jobs are under way. What has started and is not printed yet is at most one
//     more, or with --unordered none more: for who does not read nothing is asked.
//   - Mostly one goroutine does all, the one that reads the connection: before it waits it
//     takes what was answered, prints it, and starts what is next (turn). Where printing
//     may take time another one does that, and is woken.
//   - What is not plain, such as a notification or a line that has to be checked by what
//     the peer says, has a goroutine.
type flow struct {
	lane dialect.Lane // nil: every call is made as one that nothing is known of
	answers
	output
	reader

	mu       sync.Mutex
	roomy    sync.Cond // fewer lines are queued, or all is over
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
	flight
}

// answers are the jobs that were answered on the lane and that turn has not seen.
type answers struct {
	mu   sync.Mutex
	came []*job
	took []*job // the memory of came
}

// reader belongs to the goroutine that reads stdin.
type reader struct {
	read   []*job // lines that have been read and are not queued yet
	length int    // of those, in bytes
	spare  []*job // for the lines to come
}

// readMost is how many lines are queued together.
const readMost = 32

// output is what prints.
type output struct {
	wake     chan struct{} // has turn called on another goroutine; nil: whoever comes calls it
	turning  sync.Mutex    // held during turn
	printing []*job        // what turn prints, and the memory of ready
	broken   error         // why no more could be printed
}

// flight are the jobs on the lane, the oldest first.
type flight struct {
	first, last *job
	timer       *time.Timer // of the oldest; nil: none has to be answered in time
}

// How far lines are read ahead of the calls: so many, and no more bytes than that but for
// the last of them.
const (
	aheadLines = 256
	aheadBytes = 64 << 10
)

// ahead reports whether the lines that are queued are a part of what may be queued.
func (b *batch) ahead(parts int) bool {
	return parts*b.queued.len() >= max(aheadLines, 2*b.jobs) || parts*b.bytes >= aheadBytes
}

// newJob returns a job for the next line; nil: the batch has ended.
func (b *batch) newJob() *job {
	if len(b.spare) == 0 && !b.handIn() {
		return nil
	}
	n := len(b.spare) - 1
	j := b.spare[n]
	b.spare = b.spare[:n]
	return j
}

// took notes that the line of j has been read; false: the batch has ended.
func (b *batch) took(j *job) bool {
	b.read = append(b.read, j)
	b.length += len(j.line)
	return len(b.read) < readMost && b.length < aheadBytes || b.handIn()
}

// handIn queues what was read and gets what it takes to read on, for which it waits while
// enough is queued; false: the batch has ended.
func (b *batch) handIn() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queueRead()
	if b.ahead(1) {
		b.start()
		for b.ahead(2) && !b.stopped {
			b.roomy.Wait()
		}
	}
	for len(b.spare) < readMost {
		if n := len(b.free); n > 0 {
			b.spare, b.free = append(b.spare, b.free[n-1]), b.free[:n-1]
		} else {
			b.spare = append(b.spare, &job{b: b})
		}
	}
	return !b.stopped
}

// queueRead queues what was read. The lock is held.
func (b *batch) queueRead() {
	for _, j := range b.read {
		if !b.stopped {
			b.queued.push(j)
			b.bytes += len(j.line)
		}
	}
	b.read, b.length = b.read[:0], 0
}

// startQueued starts what it can; it is called before stdin is waited for.
func (b *batch) startQueued() {
	b.mu.Lock()
	b.queueRead()
	b.start()
	b.mu.Unlock()
	b.show() // of what is over already
}

// start starts what is queued, as far as it may. The lock is held.
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
		case b.lane != nil && j.op.Kind == dialect.Call:
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
		b.lane.Flush()
	}
	if !b.ahead(2) {
		b.roomy.Broadcast()
	}
}

// send sends j on the lane, if that takes it. The lock is held.
func (b *batch) send(j *job, now time.Time) bool {
	j.sent = now
	if !b.lane.Send(&j.op, j) {
		b.lane.Flush() // there may be room then
		if !b.lane.Send(&j.op, j) {
			return false
		}
	}
	b.takeOff(j)
	return true
}

// answered notes that j has been answered on the lane.
func (a *answers) answered(j *job) {
	a.mu.Lock()
	a.came = append(a.came, j)
	a.mu.Unlock()
}

// all returns what was answered since the last time.
func (a *answers) all() []*job {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.came, a.took = a.took[:0], a.came
	return a.took
}

// answersCame is called when jobs may have been answered on the lane.
func (b *batch) answersCame() {
	b.answers.mu.Lock()
	none := len(b.came) == 0
	b.answers.mu.Unlock()
	if !none {
		b.show()
	}
}

// show has turn called.
func (b *batch) show() {
	if b.wake == nil {
		b.turn()
		return
	}
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// turn takes what is over, prints it in order, and starts what is next.
func (b *batch) turn() {
	b.turning.Lock()
	defer b.turning.Unlock()
	b.mu.Lock()
	any := false
	for {
		for _, j := range b.answers.all() {
			b.failed = b.failed || j.refused
			b.land(j)
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
		b.roomy.Broadcast()
	}
	b.mu.Unlock()
	if any { // a user who waits for an answer before the next line must get it
		b.print.Idle()
	}
}

// end notes that nothing more comes of j. The lock is held.
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

// takeOff puts j on the lane. The lock is held.
func (b *batch) takeOff(j *job) {
	j.lane, j.prev, j.next = true, b.last, nil
	if b.last != nil {
		b.last.next = j
	} else {
		b.first = j
	}
	b.last = j
}

// land takes j off the lane, if it is there. The lock is held.
func (b *batch) land(j *job) {
	if !j.lane {
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
	j.lane, j.prev, j.next = false, nil, nil
}

// finish waits until all is over and printed.
func (b *batch) finish() {
	b.startQueued()
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.held > 0 || b.queued.len() > 0 {
		b.roomy.Wait()
	}
}
