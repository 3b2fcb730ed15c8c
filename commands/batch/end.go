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
	"rpcx/wire/redact"
	"rpcx/wire/scan"
)

// call makes j's call without the pipeline and waits for its end. It runs in its own goroutine.
func (f *flow) call(j *job) {
	defer wire.Guard()
	if !j.isRead {
		f.b.read(f.ctx, j)
	}
	err := j.bad
	switch {
	case err != nil:
		f.settle(j, nil, err)
	case j.op.Kind == dialect.Notify: // its line reports that it was sent
		f.settle(j, nil, env.Cause(f.ctx, f.b.conv.Notify(f.ctx, j.op)))
	default:
		f.collect(j, 0, func(ctx context.Context) (dialect.Stream, error) { return f.b.conv.Open(ctx, j.op) })
	}
}

// finishAsStream reads j's response from st after the pipeline has promoted the call to a stream.
func (f *flow) finishAsStream(j *job, st dialect.Stream) {
	defer wire.Guard()
	f.mu.Lock()
	j.pipelined = false
	waited := time.Since(j.sent)
	f.mu.Unlock()
	f.collect(j, waited, func(context.Context) (dialect.Stream, error) { return st, nil })
}

// collect ends job j with the result of the stream that open returns. The call was sent waited ago.
func (f *flow) collect(j *job, waited time.Duration, open func(context.Context) (dialect.Stream, error)) {
	result, err := request.Collect(f.ctx, f.b.Env, f.b.conv, f.b.idle, waited, open)
	f.settle(j, result, err)
}

// settle ends job j with its result or its error.
func (f *flow) settle(j *job, result []byte, err error) {
	if err == nil {
		j.answerWith("result", result)
	}
	f.mu.Lock()
	if err != nil {
		f.failure(j, err)
	}
	f.end(j)
	f.start()
	f.mu.Unlock()
	f.wakePrinter()
}

// failure makes err the output of j, unless the batch was interrupted. The caller holds the lock.
func (f *flow) failure(j *job, err error) {
	if cause := wire.AsFault(context.Cause(f.ctx)); cause != nil && cause.Kind != wire.Timeout {
		return
	}
	fault := cmdline.ToFault(err)
	e := fault.RPC
	f.failed = true
	if e != nil {
		f.first.note(j, e)
	} else {
		e = wire.NewError(wire.CodeServer, redact.Known(fault.Message))
		if fault.Kind != wire.Timeout { // the line of a timeout is sufficient
			f.fault = cmdline.Worst(errors.Join(f.fault, fault))
		}
	}
	if j.answerWith("error", e.JSON()); fault.RPC == nil {
		line := scan.AppendObject(nil)
		line.Inside(j.answer)
		line.Int("status", int64(cmdline.StatusOf(fault.Kind).Code))
		j.answer = line.End()
	}
}

// timeOut ends pipelined calls that have had no response for --idle. It promotes each to a stream, which ends with the
// timeout error. The timer calls timeOut, which sets the timer for the next call.
func (f *flow) timeOut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	next := f.b.idle
	for _, j := range f.all {
		if !j.pipelined {
			continue
		}
		if left := f.b.idle - time.Since(j.sent); left > 0 {
			next = min(next, left)
			continue
		}
		j.pipelined = false
		f.pipeline.Promote(j)
	}
	if !f.jobs.stopped {
		f.timer.Reset(next)
	}
}

// stop ends the batch. If rpcx can print the reason, the reason becomes the output of the first line whose call has not
// started. Later lines have no output.
func (f *flow) stop() {
	f.mu.Lock()
	if j := f.jobs.stop(); j != nil {
		f.failure(j, env.Cause(f.ctx, f.ctx.Err()))
		f.end(j)
	}
	if f.pipeline != nil {
		f.pipeline.Promote(nil)
	}
	f.changed.Broadcast()
	f.mu.Unlock()
	f.wakePrinter()
}
