package batch

import (
	"context"
	"errors"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/request"
	"rpcx/wire"
	"rpcx/wire/dialect"
)

// call makes the call of j by itself.
func (b *batch) call(j *job) {
	defer wire.Guard()
	if !j.isRead {
		j.read(b.ctx)
	}
	err := j.bad
	switch {
	case err != nil:
		b.over(j, nil, err)
	case j.op.Kind == dialect.Notify: // it has no answer; its line says that it was sent
		b.over(j, nil, env.Cause(b.ctx, b.conv.Notify(b.ctx, j.op)))
	default:
		result, err := request.Collect(b.ctx, b.env, b.conv, j.op, b.idle)
		b.over(j, result, err)
	}
}

// goOn is the rest of the call of j, which the lane has made one like others.
func (b *batch) goOn(j *job, st dialect.Stream) {
	defer wire.Guard()
	b.mu.Lock()
	b.land(j)
	waited := time.Since(j.sent)
	b.mu.Unlock()
	result, err := request.CollectFrom(b.ctx, b.env, b.conv, st, b.idle, waited)
	b.over(j, result, err)
}

// over ends j with its result, or with the reason why there is none.
func (b *batch) over(j *job, result []byte, err error) {
	if err == nil {
		j.answerWith("result", result)
	}
	b.mu.Lock()
	if err != nil {
		b.failure(j, err)
	}
	b.end(j)
	b.start()
	b.mu.Unlock()
	b.show()
}

// failure makes the answer of j of the reason why it failed; there is none if the
// batch has ended. The lock is held.
func (b *batch) failure(j *job, err error) {
	if cause := wire.AsFault(context.Cause(b.ctx)); cause != nil && cause.Kind != wire.Timeout {
		return
	}
	f := cmdline.ToFault(err)
	e := f.RPC
	b.failed = true
	if e == nil {
		e = wire.NewError(wire.CodeServer, f.Message)
		if f.Kind != wire.Timeout { // for a timeout the line says enough
			b.fault = cmdline.Worst(errors.Join(b.fault, f))
		}
	}
	j.answerWith("error", e.JSON())
}

// timeOut gives those up that were sent on the lane and have not been answered in
// time.
func (b *batch) timeOut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	next := b.idle
	for b.first != nil {
		j := b.first
		if left := b.idle - time.Since(j.sent); left > 0 {
			next = left
			break
		}
		b.land(j)
		b.lane.Take(j)
	}
	if !b.stopped {
		b.timer.Reset(next)
	}
}

// stop is called when the batch has to end: of the lines that have not started one may
// still get an answer, which says so.
func (b *batch) stop() {
	b.mu.Lock()
	b.stopped = true
	for most := b.jobs + 1; b.queued.len() > 0; {
		j := b.queued.pop()
		if b.o.Unordered || b.held >= most {
			continue
		}
		b.held++
		b.underWay++
		b.order.push(j)
		b.failure(j, env.Cause(b.ctx, b.ctx.Err()))
		b.end(j)
		most = 0
	}
	if b.lane != nil {
		b.lane.Take(nil)
	}
	b.roomy.Broadcast()
	b.mu.Unlock()
	b.show()
}
