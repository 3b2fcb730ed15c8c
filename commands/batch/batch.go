// Package batch implements call --batch, which reads calls as lines and makes them over one connection.
package batch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/commands/request"
	"rpcx/commands/suggest"
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

// A batch is a conversation with the user's options. It makes a job from each line, and a flow makes the calls.
type batch struct {
	env   *env.Env
	o     Options
	conv  session.Conversation
	print *format.Pipeline
	types *typer
	spec  dialect.Spec
	lines *env.Lines    // stdin if its first line may be a handshake, else nil
	jobs  int           // bounds the concurrent calls
	idle  time.Duration // the timeout of each call; 0 or less for none
}

// Options are the flags of call --batch.
type Options struct {
	Client    *options.Client
	Params    options.Params
	Jobs      int64
	Unordered bool
}

// Run makes the call on each line of stdin, and prints one line for each. It returns a Fault of kind RPCError if a call
// failed.
func Run(ctx context.Context, run *env.Env, o Options, e endpoint.Endpoint, cat *catalog.Catalog, print *format.Pipeline) error {
	b := &batch{env: run, o: o, print: print, spec: e.Spec(), types: newTyper(run, e, nil, cat, o.Params)}
	b.jobs, b.idle = defaultJobs, o.Client.Time.Idle.Or(options.DefaultIdle)
	if o.Jobs > 0 {
		b.jobs = int(o.Jobs)
	}
	if request.DryBatch(run, e, cat, o.Params) {
		return b.dryRun(ctx, e)
	}
	cl := env.NewDeadline(ctx, o.Client.Time.Timeout.Or(0), 0)
	if len(b.spec.Bridge.Own) > 0 { // the first line may replace the handshake
		b.lines = env.NewLines(cl.Ctx)
		o.Client.Own = b.lines.MethodAt("method")
	}
	return request.Converse(ctx, run, cl, e, o.Client, cat, func(conv session.Conversation) error {
		b.conv = conv
		b.types = newTyper(run, e, conv, cat, o.Params)
		if o.Params.DryRun {
			return b.dryRun(cl.Ctx, e)
		}
		failed, err := b.run(cl.Ctx)
		return errors.Join(err, print.Finish(), failed)
	})
}

// someFailed returns the outcome of a batch with failed calls, with the hint for the first of them, if any.
func (b *batch) someFailed(first *firstError) error {
	f := wire.AsFault(request.SomeFailed())
	if first.fault != nil {
		if suggest.Call(b.env, first.fault, b.types.known(first.fault.Method)); first.fault.Hint != "" {
			f.Hint = fmt.Sprintf("line %d, %s: %s", first.line, wire.Quote(first.fault.Method), first.fault.Hint)
		}
	}
	return f
}
