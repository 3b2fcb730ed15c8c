// Package batch implements call --batch, which reads calls as lines and makes them over one connection.
package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/commands/request"
	"rpcx/commands/suggest"
	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/session"
)

const (
	defaultJobs = 16
	MaxJobs     = 4096
)

// A batch is a request whose calls are the lines of stdin. It makes a job from each line, and a flow makes the calls.
type batch struct {
	*request.Request
	conv      session.Conversation
	types     *typer
	spec      dialect.Spec
	lines     *env.Lines // stdin if its first line may be a handshake, else nil
	jobs      int        // bounds the concurrent calls
	unordered bool
	idle      time.Duration // the timeout of each call; 0 or less for none
}

// Run makes the call on each line of stdin, and prints one line for each. It makes at most jobs calls at once (0: 16). It
// returns a Fault of kind RPCError if a call failed.
func Run(ctx context.Context, r *request.Request, jobs int64, unordered bool) error {
	b := &batch{Request: r, spec: r.Endpoint.Spec(), jobs: int(cmp.Or(jobs, defaultJobs)), unordered: unordered, idle: r.Client.Time.Idle.Or(options.DefaultIdle)}
	b.types = b.newTyper(nil)
	if request.DryBatch(r.Env, r.Endpoint, r.Catalog, r.Params) {
		return b.dryRun(ctx)
	}
	cl := env.NewDeadline(ctx, r.Timeout, 0)
	r.Client.Resends = true
	if len(b.spec.Bridge.Own) > 0 { // the first line may replace the handshake
		b.lines = env.NewLines(cl.Ctx)
		r.Client.Own = b.lines.MethodAt("method")
	}
	return request.Converse(r.Env, cl, r.Endpoint, r.Client, r.Catalog, func(conv session.Conversation) error {
		b.conv, b.types = conv, b.newTyper(conv)
		if r.Params.DryRun {
			return b.dryRun(cl.Ctx)
		}
		failed, err := b.run(cl.Ctx)
		return errors.Join(err, r.Print.Finish(), failed)
	})
}

// someFailed returns the outcome of a batch with failed calls, with the hint for the first of them, if any.
func (b *batch) someFailed(first *firstError) error {
	f := wire.AsFault(request.SomeFailed())
	if first.fault != nil {
		if suggest.Call(b.Env, first.fault, b.types.known(first.fault.Method), false); first.fault.Hint != "" {
			f.Hint = fmt.Sprintf("line %d, %s: %s", first.line, wire.Quote(first.fault.Method), first.fault.Hint)
		}
	}
	return f
}
