package program

import (
	"context"
	"sync"
	"time"
)

// A deadline is the context of one run, which ends after Limit. Contexts that
// have not ended are used again: a new one for each message would cost more
// than most programs.
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

// giveBack ends the use of d. It is reused if it has not ended.
func (d *deadline) giveBack() {
	if d.timer.Stop() {
		deadlines.Put(d)
	}
}

// Done returns a channel that is closed after Limit.
func (d *deadline) Done() <-chan struct{} { return d.done }

// Err returns context.DeadlineExceeded after Limit, else nil.
func (d *deadline) Err() error {
	select {
	case <-d.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}
