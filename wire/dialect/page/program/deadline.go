package program

import (
	"context"
	"sync"
	"time"
)

// A deadline is the context of one run: it ends after Limit. One that has not ended is
// used again, as a context of its own for each message would cost more than most programs.
type deadline struct {
	context.Context
	done  chan struct{}
	timer *time.Timer
}

var deadlines = sync.Pool{New: func() any {
	d := &deadline{Context: context.Background(), done: make(chan struct{})}
	d.timer = time.AfterFunc(time.Hour, func() { close(d.done) })
	d.timer.Stop()
	return d
}}

// takeDeadline returns a context that ends after Limit.
func takeDeadline() *deadline {
	d := deadlines.Get().(*deadline)
	d.timer.Reset(Limit)
	return d
}

// giveBack says that the run is over.
func (d *deadline) giveBack() {
	if d.timer.Stop() {
		deadlines.Put(d)
	}
}

// Done is closed after Limit.
func (d *deadline) Done() <-chan struct{} { return d.done }

// Err says whether the time is over.
func (d *deadline) Err() error {
	select {
	case <-d.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}
