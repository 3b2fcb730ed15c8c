// Package batch is call --batch: many calls, read as lines, over one connection.
package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/commands/request"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/session"
)

const (
	defaultJobs = 16
	MaxJobs     = 4096
)

// A batch makes many calls, read as lines, over one connection, and prints one
// line for each.
type batch struct {
	app   *env.Env
	o     Options
	conv  session.Conversation
	print *format.Pipeline
	types *typer

	cancel   context.CancelCauseFunc // ends the batch
	printing context.Context

	mu     sync.Mutex
	failed bool  // some line got an error
	fault  error // what else went wrong, such as a connection that ended
}

// job is one line and the place of its answer.
type job struct {
	number int64
	line   []byte
	done   chan struct{}
	answer json.RawMessage // nil: the batch was ended before there was one
}

// Options are what `call --batch` was given.
type Options struct {
	Client    *options.Client
	Params    options.Params
	Jobs      int64
	Unordered bool
}

func Run(ctx context.Context, a *env.Env, o Options, e session.Endpoint, cat *catalog.Catalog, print *format.Pipeline) (err error) {
	b := &batch{app: a, o: o, print: print, types: newTyper(a, e, nil, cat, o.Params)}
	if asked := e.Dialect == "" || cat == nil && session.SpecOf(e).TypedParams && !o.Params.NoCheck; o.Params.DryRun && !asked {
		return b.dryRun(ctx, e)
	}
	cl := env.NewDeadline(ctx, o.Client.Time.Timeout.Or(0), 0)
	defer cl.Stop()
	if b.conv, err = request.Open(cl.Ctx, a, e, o.Client, cat, false); err != nil {
		return err
	}
	e.Dialect = b.conv.Dialect()
	b.types = newTyper(a, e, b.conv, cat, o.Params)
	if o.Params.DryRun {
		err = b.dryRun(cl.Ctx, e)
		return errors.Join(err, request.Closing(ctx, b.conv, &o.Client.Hooks, err))
	}
	err = errors.Join(b.run(cl.Ctx), print.Finish())
	if b.failed {
		err = errors.Join(err, request.ErrSomeFailed())
	}
	return errors.Join(err, request.Closing(ctx, b.conv, &o.Client.Hooks, err))
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

// feed hands the lines of stdin out until there are no more, or ctx ends.
func (b *batch) feed(ctx context.Context, work, ordered chan<- *job) error {
	return env.EachLine(ctx, func(n int64, line []byte) error {
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
		return err
	})
}

// give sends j, or returns what ended ctx before.
func give(ctx context.Context, to chan<- *job, j *job) error {
	select {
	case to <- j:
		return nil
	case <-ctx.Done():
		return env.Cause(ctx, ctx.Err())
	}
}

func (b *batch) work(ctx context.Context, work <-chan *job) {
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
		if len(ordered) == 0 { // whoever waits for it before asking again has it
			b.print.Idle()
		}
	}
	return err
}

// emit prints the line of j. A failure ends the batch.
func (b *batch) emit(j *job) error {
	_, err := b.print.Print(b.printing, wire.Message{Raw: j.answer}, wire.Event{Kind: wire.Data, Data: j.answer})
	if err != nil {
		b.cancel(err)
	}
	return err
}

// call makes the call of one line and returns its answer as a line; nil when
// the batch has been ended.
func (b *batch) call(ctx context.Context, j *job) json.RawMessage {
	op, err := b.read(ctx, j)
	if err == nil {
		var result json.RawMessage
		if result, err = b.result(ctx, op); err == nil {
			return answerLine(j.id(), "result", result)
		}
	}
	return b.failure(ctx, j.id(), err)
}

// failure is the line of a call that failed; nil where nobody waits for it any
// more.
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
		if f.Kind != wire.Timeout { // its line says it all
			b.fault = cmdline.Worst(errors.Join(b.fault, f))
		}
	}
	return answerLine(id, "error", e.JSON())
}

// result makes one call; a stream's data become an array, and a job is waited for.
func (b *batch) result(ctx context.Context, op dialect.Op) (json.RawMessage, error) {
	cl := env.NewDeadline(ctx, 0, b.o.Client.Time.Idle.Or(options.DefaultIdle))
	defer cl.Stop()
	st, err := b.conv.Open(cl.Ctx, op)
	if err != nil {
		return nil, env.Cause(cl.Ctx, err)
	}
	all, job := []json.RawMessage{}, ""
	single, later := true, session.SpecNamed(b.conv.Dialect()).DeferredResults
	for {
		m, err := st.Next(cl.Ctx)
		if errors.Is(err, io.EOF) && job != "" {
			if st, err = b.conv.Open(cl.Ctx, request.WaitFor(job)); err != nil {
				return nil, env.Cause(cl.Ctx, err)
			}
			job, later = "", true
			continue
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, abandon(cl.Ctx, st, err)
		}
		cl.Touch()
		ev, err := b.conv.Event(m)
		if err != nil {
			return nil, err
		}
		if ev.Kind == wire.Guidance && ev.Message != "" {
			ev.Action = "" // what could be done about it is not told by line
		}
		b.app.Console.Event(ev) // what is for people
		job = request.StartedJob(m, ev)
		switch {
		case request.Recovers(ev):
		case m.Kind == wire.Response && m.Err == nil && !m.Final: // the answer that opens a stream
			single = later
		case ev.Kind == wire.Failure:
			return nil, abandoned(cl.Ctx, st, ev)
		case ev.Kind == wire.Data:
			single = single && (m.Kind == wire.Response || later && ev.Final)
			all = append(all, bytes.Clone(ev.Data))
		}
	}
	switch {
	case single && len(all) == 1:
		return all[0], nil
	case single && len(all) == 0:
		return json.RawMessage("null"), nil
	}
	return json.Marshal(all)
}

// abandoned is the error of a call; its stream, if it goes on, is ended.
func abandoned(ctx context.Context, st dialect.Stream, ev wire.Event) error {
	e := ev.Err.Clone()
	if !ev.Final {
		bye, done := env.Farewell(ctx)
		defer done()
		_ = st.Cancel(bye)
	}
	return e
}

// abandon gives up a call for which err came, and says why it did.
func abandon(ctx context.Context, st dialect.Stream, err error) error {
	if ctx.Err() != nil {
		bye, done := env.Farewell(ctx)
		defer done()
		_ = st.Cancel(bye)
	}
	return env.Cause(ctx, err)
}
