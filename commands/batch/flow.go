package batch

import (
	"context"
	"errors"
	"sync"
	"time"

	"rpcx/commands/env"
	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/session"
)

// A flow makes the calls of a batch.
//
// Usually, the goroutine that reads the connection does all the work. Before it waits for input, it collects and prints
// the responses, and starts the next jobs (advance). If printing may block, another goroutine calls advance. A job
// other than a plain call, such as a notification or a line that needs the peer's catalog, has its own goroutine.
type flow struct {
	b        *batch
	ctx      context.Context
	cancel   context.CancelCauseFunc // ends the batch
	printCtx context.Context         // for printing
	pipeline dialect.CallPipeline    // nil if each call has its own goroutine
	answers
	event wire.Event // the event of the current response
	first firstError

	wake      chan struct{} // wakes the goroutine that calls advance; if nil, wakePrinter calls advance
	advancing sync.Mutex    // held during advance
	broken    error         // why printing ended, or nil

	mu      sync.Mutex // guards the fields below
	changed sync.Cond  // signals a shorter queue, or the end of all jobs
	jobs    schedule
	all     []*job
	timer   *time.Timer // for the oldest call in the pipeline; nil without a time limit
	failed  bool        // a response was an error
	fault   error       // another failure, such as a closed connection, or nil
}

// answers contains the pipelined jobs with a new response.
type answers struct {
	mu      sync.Mutex
	arrived []*job
	reused  []*job // memory that arrived reuses
}

// A firstError is the peer's first error.
type firstError struct {
	once  sync.Once
	line  int64
	fault *wire.Fault
}

// note stores e, the error of j, if it is the first.
func (f *firstError) note(j *job, e *wire.Error) {
	f.once.Do(func() {
		f.line, f.fault = j.n, wire.NewFault(wire.RPCError, e.Message, nil)
		f.fault.RPC, f.fault.Method = e.Clone(), j.op.Method
	})
}

// run reads lines, makes at most --jobs calls at once, and prints the responses in the order of the lines. With
// --unordered, it prints them in the order of arrival.
func (b *batch) run(ctx context.Context) (failed, err error) {
	f := &flow{b: b, jobs: schedule{atOnce: b.jobs, unordered: b.unordered}}
	f.ctx, f.cancel = context.WithCancelCause(ctx)
	defer f.cancel(nil)
	var done func()
	f.printCtx, done = env.WithCloseDelay(f.ctx)
	defer done()
	f.changed.L = &f.mu
	if l, ok := b.conv.(*session.Direct); ok && b.types.needsNoCatalog() {
		f.pipeline = l.Pipeline(b.jobs, f.onAnswers)
	}
	var printer sync.WaitGroup
	ended := make(chan struct{})
	if !b.Print.Light() || !b.Env.Out.NeverWaits() {
		f.wake = make(chan struct{}, 1)
		printer.Go(func() { f.advanceLoop(ended) })
	}
	if f.pipeline != nil && b.idle > 0 {
		f.mu.Lock()
		f.timer = time.AfterFunc(b.idle, f.timeOut)
		f.mu.Unlock()
		defer f.timer.Stop()
	}
	defer context.AfterFunc(f.ctx, f.stop)()
	r := &reader{flow: f}
	err = r.feed()
	close(ended)
	printer.Wait()
	if f.failed {
		failed = b.someFailed(&f.first)
	}
	return failed, errors.Join(err, f.broken, f.fault, env.Cause(f.ctx, f.ctx.Err()))
}

// advanceLoop calls advance on each wake until ended is closed.
func (f *flow) advanceLoop(ended <-chan struct{}) {
	defer wire.Guard()
	for {
		select {
		case <-f.wake:
			f.advance()
		case <-ended:
			return
		}
	}
}

// start starts queued jobs up to the limits. The caller holds the lock.
func (f *flow) start() {
	sent, now := false, time.Now()
	for j := f.jobs.startNext(); j != nil; j = f.jobs.startNext() {
		switch {
		case j.bad != nil:
			f.failure(j, j.bad)
			f.end(j)
		case f.pipeline != nil && j.op.Kind == dialect.Call:
			if !f.send(j, now) {
				go f.call(j)
			}
			sent = true
		default:
			go f.call(j)
		}
	}
	if sent {
		f.pipeline.Flush()
	}
	if !f.jobs.ahead(2) {
		f.changed.Broadcast()
	}
}

// send sends j through the pipeline. It returns false if the pipeline refuses j. The caller holds the lock.
func (f *flow) send(j *job, now time.Time) bool {
	j.sent = now
	if !f.pipeline.Send(&j.op, j) {
		f.pipeline.Flush() // flushing may make room
		if !f.pipeline.Send(&j.op, j) {
			return false
		}
	}
	j.pipelined = true
	return true
}

// take returns the jobs with a response since the last take.
func (a *answers) take() []*job {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.arrived, a.reused = a.reused[:0], a.arrived
	return a.reused
}

// onAnswers calls wakePrinter if the pipeline has received responses.
func (f *flow) onAnswers() {
	f.answers.mu.Lock()
	none := len(f.arrived) == 0
	f.answers.mu.Unlock()
	if !none {
		f.wakePrinter()
	}
}

// wakePrinter runs advance here, or wakes the goroutine that prints.
func (f *flow) wakePrinter() {
	if f.wake == nil {
		f.advance()
		return
	}
	wire.Wake(f.wake)
}

// advance collects the jobs that have ended, prints their output in order, and starts the next jobs.
func (f *flow) advance() {
	f.advancing.Lock()
	defer f.advancing.Unlock()
	f.mu.Lock()
	any := false
	for {
		for _, j := range f.answers.take() {
			f.failed = f.failed || j.refused
			f.end(j)
		}
		ready := f.jobs.next()
		if len(ready) == 0 {
			break
		}
		f.mu.Unlock()
		for _, j := range ready {
			if len(j.answer) == 0 || f.broken != nil {
				continue
			}
			if _, err := f.b.Print.Print(f.printCtx, &wire.Message{Raw: j.answer}, &wire.Event{Kind: wire.Data, Data: j.answer}); err != nil {
				f.broken = err // ends the batch
				f.cancel(err)
			}
		}
		any = true
		f.mu.Lock()
		f.jobs.printed()
		f.start()
	}
	f.start()
	if f.jobs.unprinted == 0 || f.jobs.stopped {
		f.changed.Broadcast()
	}
	f.mu.Unlock()
	if any { // a user may wait for this response before typing the next line
		f.b.Print.Idle()
	}
}

// end records that j has ended. The caller holds the lock.
func (f *flow) end(j *job) {
	j.ended, j.pipelined = true, false
	f.jobs.end(j)
}
