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

// call makes the call of j outside of the pipeline and waits for its end. It runs in a goroutine of its own.
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

// finishAsStream reads the answer of j from st: the pipeline has promoted the call to one with a stream.
func (b *batch) finishAsStream(j *job, st dialect.Stream) {
	defer wire.Guard()
	b.mu.Lock()
	b.removeInFlight(j)
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
	b.wakePrinter()
}

// failure sets the answer of j to the error err; j has none if the batch has been
// interrupted. The lock is held.
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

// timeOut promotes the pipelined calls that have not been answered within --idle, so that they end with that
// failure. It is called by the timer, which it sets for the next one.
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
		b.removeInFlight(j)
		b.pipeline.Promote(j)
	}
	if !b.stopped {
		b.timer.Reset(next)
	}
}

// stop is called when the batch has to end. Of the lines that have not started, the first
// is answered with the reason, if its answer can still be printed; the others have none.
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
	if b.pipeline != nil {
		b.pipeline.Promote(nil)
	}
	b.changed.Broadcast()
	b.mu.Unlock()
	b.wakePrinter()
}
