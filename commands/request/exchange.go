package request

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
	"rpcx/wire/schema"
	"rpcx/wire/session"
)

// An exchange is a running Request.
type exchange struct {
	*Request
	ctx      context.Context // the context with the options of the command
	deadline *env.Deadline
	untyped  bool // op needs the peer's description of the method
	op       dialect.Op
	cat      *catalog.Catalog // has typed the params of op; may be nil
	opened   bool
	last     *ResponsePrinter // the stream of the last attempt, or nil
}

// prepare makes the operation if that needs no connection. done reports that no connection is needed at all.
func (x *exchange) prepare() (done bool, err error) {
	x.Client.First = x.Read.Watch
	if x.untyped = needsConnection(x.Endpoint, x.Catalog, x.Args, x.Params); x.untyped {
		return false, CheckName(x.Env, x.Endpoint, x.Args[0], x.Op.Kind == dialect.Subscribe, x.Params)
	}
	x.cat = x.Catalog
	names, err := x.operation()
	if err != nil {
		return false, err
	}
	WarnTypos(x.Env, x.op.Method, names)
	if x.Params.DryRun {
		if len(x.Args) > 0 {
			noteUntyped(x.Env, x.Endpoint, x.Catalog, x.Params)
		}
		return true, DryRun(x.ctx, nil, x.Endpoint, x.op)
	}
	if x.Read.Answers, err = x.Cache.For(x.ctx, x.Env, x.Endpoint, x.op, &x.Client.Conn); err != nil {
		return false, err
	}
	if found, err := x.Read.Answers.Find(x.ctx, x.Print); found || err != nil {
		return true, errors.Join(err, x.Print.Finish())
	}
	if x.Read.Stream && x.Read.Watch == nil {
		x.Client.First = &x.op
	}
	return false, nil
}

// operation makes the operation to send, with params that x.cat types. It returns the params that x.cat does not describe.
// A dry run shows a job as a plain call.
func (x *exchange) operation() (undescribed []schema.Undescribed, err error) {
	op := &x.op
	*op = x.Op
	if len(x.Args) > 0 {
		op.Method = x.Args[0]
		if op.Extra, err = x.Client.Handshake.Set.Members(x.Env.Line, x.Endpoint); err != nil {
			return nil, err
		}
		fresh := x.Client.Conn.NoCache || x.Client.Conn.Refresh
		if fresh && x.Endpoint.Spec().AnswerCache != nil { // the peer must also bypass its cache
			op.Extra = scan.Splice([]byte(cmp.Or(string(op.Extra), "{}")), "cache", []byte(`"no-cache"`))
		}
		if undescribed, err = FillParams(x.ctx, x.Env, x.Endpoint, op, x.Args[1:], x.Params, x.cat); err != nil {
			return nil, err
		}
		if len(op.Funcs) > 0 {
			op.Known, err = x.Client.Hooks.Describing(slices.Collect(maps.Values(op.Funcs)))
		}
	}
	if x.Params.DryRun && (op.Kind == dialect.JobRun || op.Kind == dialect.JobStart) {
		op.Kind = dialect.Call
		if jobs := x.Endpoint.Spec().Jobs; jobs != nil && jobs.Call != nil {
			op.Extra = jobs.Call
		}
	}
	return undescribed, err
}

// converse opens a connection, calls work and closes the connection.
func (x *exchange) converse(work func(session.Conversation) error) error {
	x.deadline = env.NewDeadline(x.ctx, x.Timeout, x.Idle)
	if x.Nested {
		x.Env.OnMessage = x.deadline.Touch
	}
	x.Stop.StartTimer(x.deadline)
	return Converse(x.Env, x.deadline, x.Endpoint, x.Client, x.Catalog, func(conv session.Conversation) error {
		x.opened = true
		return work(conv)
	})
}

// send makes the operation, sends it and prints the response. It includes retries.
func (x *exchange) send(conv session.Conversation) error {
	if x.First > 0 {
		x.deadline.FirstMessage(x.First)
	}
	ctx := x.deadline.Ctx
	if x.untyped {
		if err := untilReached(x.Env, x.deadline, func() error { return x.fromPeer(ctx, conv) }); err != nil {
			return err
		}
	}
	switch {
	case x.Params.DryRun:
		return DryRun(ctx, conv, x.Endpoint, x.op)
	case x.op.Kind == dialect.Notify:
		return untilReached(x.Env, x.deadline, func() error { return env.Cause(ctx, conv.Notify(ctx, x.op)) })
	}
	err := x.Retries.retry(x.Env, x.deadline, x.Endpoint.Address.IsHTTP(), func() error {
		x.last = NewResponsePrinter(x.Env, conv, x.Print, x.deadline)
		x.last.ReadOptions, x.last.Catalog = x.Read, x.cat
		x.last.Method = cmp.Or(x.last.Method, x.op.Method)
		return x.last.Do(x.op)
	})
	switch {
	case x.Explain != nil:
		return x.Explain(x.last, err)
	case !x.Read.Stream: // endStream has added the hint
		x.last.Suggest(err)
	}
	return err
}

// finish saves the files of a successful response, and checks the expectations of the whole output.
func (x *exchange) finish(err error) error {
	if err != nil || x.Files == nil {
		return Finish(x.Print, err)
	}
	x.Print.Idle()
	if x.Read.KeepRaw {
		err = x.Files.SaveEmbedded(x.deadline.Ctx, x.Env, x.Endpoint, x.last.Raw)
	} else {
		err = x.Files.Save(x.deadline.Ctx, x.Env, x.Endpoint, x.last.Last)
	}
	return errors.Join(err, x.Print.Finish())
}

// endStream returns the outcome of a stream that ended with err, after closing the connection. It always checks the
// expectations of the whole output. Without output, --for may have ended the attempt to connect.
func (x *exchange) endStream(err error) error {
	switch {
	case x.last != nil:
		return errors.Join(err, x.Print.Finish())
	case err == nil || !errors.Is(context.Cause(x.deadline.Ctx), options.ErrForElapsed):
	case !x.opened:
		return wire.NewFault(wire.Unreachable, "--for expired before rpcx was connected", err)
	case wire.AsFault(err) == nil:
		return wire.NewFault(wire.Timeout, "--for expired before the peer described the method", err)
	}
	return err
}
