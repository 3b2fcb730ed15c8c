package batch

import (
	"sync"
	"time"

	"rpcx/wire"
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
	said wire.Event // by the one that comes in
	took []*job     // the memory of came
}

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
