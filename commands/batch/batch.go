// Package batch is call --batch: many calls, read as lines, over one connection.
package batch

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/commands/request"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/scan"
	"rpcx/wire/session"
)

const (
	defaultJobs = 16
	MaxJobs     = 4096
)

// A batch makes many calls, read as lines, over one connection, and prints one
// line for each.
type batch struct {
	env   *env.Env
	o     Options
	conv  session.Conversation
	print *format.Pipeline
	types *typer
	spec  dialect.Spec
	lines *env.Lines // of stdin, where the first may be a greeting; nil: it is none

	cancel   context.CancelCauseFunc // ends the batch
	printing context.Context

	mu     sync.Mutex
	failed bool  // a line got an error
	fault  error // another failure, such as a connection that ended
}

// A job is one line of stdin and the place of its answer.
type job struct {
	number int64
	line   []byte
	done   chan struct{}
	answer json.RawMessage // nil: the batch ended before it
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
	if request.DryBatch(run, e, cat, o.Params) {
		return b.dryRun(ctx, e)
	}
	cl := env.NewDeadline(ctx, o.Client.Time.Timeout.Or(0), 0)
	if len(b.spec.Bridge.Own) > 0 { // there is a greeting whose place the first line may take
		b.lines = env.NewLines(cl.Ctx)
		o.Client.Own = b.lines.MethodAt("method")
	}
	return request.Converse(ctx, run, cl, e, o.Client, cat, func(conv session.Conversation) error {
		b.conv, e.Dialect = conv, conv.Dialect()
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
	ctx, b.cancel = context.WithCancelCause(ctx)
	defer b.cancel(nil)
	var done func()
	b.printing, done = env.WithFarewell(ctx)
	defer done()
	jobs := defaultJobs
	if b.o.Jobs > 0 {
		jobs = int(b.o.Jobs)
	}
	work := make(chan *job)
	ordered := make(chan *job, jobs)
	var workers sync.WaitGroup
	for range jobs {
		workers.Go(func() { b.work(ctx, work) })
	}
	printed := make(chan error, 1)
	go func() { printed <- b.printOrdered(ordered) }()
	err := b.feed(ctx, work, ordered)
	close(work)
	workers.Wait()
	close(ordered)
	return errors.Join(err, <-printed, b.fault, env.Cause(ctx, ctx.Err()))
}

// feed reads the lines of stdin and passes them to the workers, until ctx ends.
func (b *batch) feed(ctx context.Context, work, ordered chan<- *job) error {
	each := func(take func(n int64, line []byte) error) error { return env.EachLine(ctx, take) }
	if b.lines != nil {
		each = b.lines.Each
	}
	greets := true // the lines so far are of the greeting
	return each(func(n int64, line []byte) error {
		j := &job{number: n, line: line, done: make(chan struct{})}
		if !b.o.Unordered {
			if err := give(ctx, ordered, j); err != nil {
				return err
			}
		}
		err := give(ctx, work, j)
		if err != nil {
			j.answer = b.failure(ctx, j.id(), err)
			close(j.done)
		}
		if greets = greets && b.ofGreeting(j); greets { // what follows it comes after it
			<-j.done
		}
		return err
	})
}

// ofGreeting reports whether a line is one of the dialect's greeting.
func (b *batch) ofGreeting(j *job) bool {
	return b.lines != nil && slices.Contains(b.spec.Bridge.Own, scan.String(scan.Get(j.line, "method")))
}

// give sends j to a worker or to the printer. The error is what ended ctx.
func give(ctx context.Context, to chan<- *job, j *job) error {
	select {
	case to <- j:
		return nil
	case <-ctx.Done():
		return env.Cause(ctx, ctx.Err())
	}
}

func (b *batch) work(ctx context.Context, work <-chan *job) {
	defer wire.Guard()
	for j := range work {
		j.answer = b.call(ctx, j)
		close(j.done)
		if b.o.Unordered && j.answer != nil {
			b.emit(j)
			b.print.Idle()
		}
	}
}

func (b *batch) printOrdered(ordered <-chan *job) (err error) {
	defer wire.Guard()
	for j := range ordered {
		select {
		case <-j.done:
		default:
			b.print.Idle()
			<-j.done
		}
		if j.answer != nil && err == nil {
			err = b.emit(j)
		}
		if len(ordered) == 0 { // a user who waits for this answer before the next line must get it
			b.print.Idle()
		}
	}
	return err
}

// emit prints the answer of j. If that fails, the batch ends.
func (b *batch) emit(j *job) error {
	_, err := b.print.Print(b.printing, wire.Message{Raw: j.answer}, wire.Event{Kind: wire.Data, Data: j.answer})
	if err != nil {
		b.cancel(err)
	}
	return err
}

// call makes the call of one line and returns its answer as a line; nil if the
// batch has ended.
func (b *batch) call(ctx context.Context, j *job) json.RawMessage {
	op, err := b.read(ctx, j)
	var result json.RawMessage
	switch {
	case err != nil:
	case op.Kind == dialect.Notify: // it has no answer; its line says that it was sent
		err = env.Cause(ctx, b.conv.Notify(ctx, op))
	default:
		result, err = request.Collect(ctx, b.env, b.conv, op, b.o.Client.Time.Idle.Or(options.DefaultIdle))
	}
	if err == nil {
		return answerLine(j.id(), "result", result)
	}
	return b.failure(ctx, j.id(), err)
}

// failure returns the line for a call that failed; nil if the batch has ended.
func (b *batch) failure(ctx context.Context, id []byte, err error) json.RawMessage {
	if cause := wire.AsFault(context.Cause(ctx)); cause != nil && cause.Kind != wire.Timeout {
		return nil
	}
	f := cmdline.ToFault(err)
	e := f.RPC
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failed = true
	if e == nil {
		e = wire.NewError(wire.CodeServer, f.Message)
		if f.Kind != wire.Timeout { // for a timeout the line says enough
			b.fault = cmdline.Worst(errors.Join(b.fault, f))
		}
	}
	return answerLine(id, "error", e.JSON())
}
