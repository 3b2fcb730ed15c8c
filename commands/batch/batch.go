// Package batch is call --batch: many calls, read as lines, over one connection.
package batch

import (
	"context"
	"errors"
	"sync"
	"time"

	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/commands/request"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/session"
)

const (
	defaultJobs = 16
	MaxJobs     = 4096
)

// A batch makes many calls, read as lines, over one connection, and prints one
// line for each. The goroutine that reads stdin makes jobs of the lines; most of
// them go through the pipeline, and then whoever reads the connection prints what is
// answered and sends what is next. See flow.
type batch struct {
	env   *env.Env
	o     Options
	conv  session.Conversation
	print *format.Pipeline
	types *typer
	spec  dialect.Spec
	lines *env.Lines    // of stdin, where the first may be a greeting; nil: it is none
	jobs  int           // in flight at most
	idle  time.Duration // of each call; 0 or less: it may take any time

	ctx      context.Context
	cancel   context.CancelCauseFunc // ends the batch
	farewell context.Context         // of what is printed

	flow
}

// Options are the flags of call --batch.
type Options struct {
	Client    *options.Client
	Params    options.Params
	Jobs      int64
	Unordered bool
}

// Run makes the calls of the lines of stdin and prints one line for each. If a
// call failed the error is a Fault of kind RPCError.
func Run(ctx context.Context, run *env.Env, o Options, e endpoint.Endpoint, cat *catalog.Catalog, print *format.Pipeline) error {
	if err := request.CheckStyle(run, e.Spec(), o.Params); err != nil {
		return err
	}
	b := &batch{env: run, o: o, print: print, spec: e.Spec(), types: newTyper(run, e, nil, cat, o.Params)}
	b.jobs, b.idle = defaultJobs, o.Client.Time.Idle.Or(options.DefaultIdle)
	if o.Jobs > 0 {
		b.jobs = int(o.Jobs)
	}
	if request.DryBatch(run, e, cat, o.Params) {
		return b.dryRun(ctx, e)
	}
	cl := env.NewDeadline(ctx, o.Client.Time.Timeout.Or(0), 0)
	if len(b.spec.Bridge.Own) > 0 { // there is a greeting whose place the first line may take
		b.lines = env.NewLines(cl.Ctx)
		o.Client.Own = b.lines.MethodAt("method")
	}
	return request.Converse(ctx, run, cl, e, o.Client, cat, func(conv session.Conversation) error {
		b.conv = conv
		b.types = newTyper(run, e, conv, cat, o.Params)
		if o.Params.DryRun {
			return b.dryRun(cl.Ctx, e)
		}
		err := errors.Join(b.run(cl.Ctx), print.Finish())
		if b.failed {
			err = errors.Join(err, request.SomeFailed())
		}
		return err
	})
}

// run reads lines, keeps at most --jobs calls in flight, and prints in the
// order of the lines, or with --unordered as answers come.
func (b *batch) run(ctx context.Context) error {
	b.ctx, b.cancel = context.WithCancelCause(ctx)
	defer b.cancel(nil)
	var done func()
	b.farewell, done = env.WithFarewell(b.ctx)
	defer done()
	b.changed.L = &b.mu
	if l, ok := b.conv.(session.Pipeliner); ok && b.types.asksNothing() {
		b.pipeline = l.Pipeline(b.jobs, b.onAnswers)
	}
	var printer sync.WaitGroup
	over := make(chan struct{})
	if !b.print.Light() || !b.env.Out.NeverWaits() {
		b.wake = make(chan struct{}, 1)
		printer.Go(func() { b.advanceLoop(over) })
	}
	if b.pipeline != nil && b.idle > 0 {
		b.mu.Lock()
		b.timer = time.AfterFunc(b.idle, b.timeOut)
		b.mu.Unlock()
		defer b.timer.Stop()
	}
	defer context.AfterFunc(b.ctx, b.stop)()
	err := b.feed()
	b.finish()
	close(over)
	printer.Wait()
	return errors.Join(err, b.broken, b.fault, env.Cause(b.ctx, b.ctx.Err()))
}

// advanceLoop calls turn whenever it is asked to, until all is over.
func (b *batch) advanceLoop(over <-chan struct{}) {
	defer wire.Guard()
	for {
		select {
		case <-b.wake:
			b.advance()
		case <-over:
			return
		}
	}
}

// emit prints the answer of j, if it has one. If that fails, the batch ends.
func (b *batch) emit(j *job) {
	if !j.hasOne || b.broken != nil {
		return
	}
	_, err := b.print.Print(b.farewell, &wire.Message{Raw: j.answer}, &wire.Event{Kind: wire.Data, Data: j.answer})
	if err != nil {
		b.broken = err
		b.cancel(err)
	}
}
