package request

import (
	"cmp"
	"context"
	"encoding/json"
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
	opened   bool
	last     *ResponsePrinter // the stream of the last attempt, or nil
}

// prepare returns a function that makes the operation on an open connection, or nil if no connection is needed.
func (x *exchange) prepare() (prepareFunc, error) {
	x.Client.First = x.Read.Watch
	if needsConnection(x.Endpoint, x.Catalog, x.Args, x.Params) {
		return x.fromPeer, CheckName(x.Env, x.Endpoint, x.Args[0], x.Op.Kind == dialect.Subscribe, x.Params)
	}
	op, names, err := x.operation(x.Catalog)
	if err != nil {
		return nil, err
	}
	WarnTypos(x.Env, op.Method, names)
	if x.Params.DryRun {
		if len(x.Args) > 0 {
			noteUntyped(x.Env, x.Endpoint, x.Catalog, x.Params)
		}
		return nil, DryRun(x.ctx, nil, x.Endpoint, op)
	}
	if x.Read.Answers, err = x.Cache.For(x.ctx, x.Env, x.Endpoint, op, &x.Client.Conn); err != nil {
		return nil, err
	}
	if found, err := x.Read.Answers.Find(x.ctx, x.Print); found || err != nil {
		return nil, errors.Join(err, x.Print.Finish())
	}
	if x.Read.Stream && x.Read.Watch == nil {
		x.Client.First = &op
	}
	return func(context.Context, session.Conversation) (typedOp, error) {
		return typedOp{op: op, cat: x.Catalog}, nil
	}, nil
}

// operation returns the operation to send, with params that cat types, and the params that cat does not describe. cat may be
// nil. A dry run shows a job as a plain call.
func (x *exchange) operation(cat *catalog.Catalog) (op dialect.Op, undescribed []schema.Undescribed, err error) {
	op = x.Op
	if len(x.Args) > 0 {
		op.Method = x.Args[0]
		if op.Extra, err = x.members(); err != nil {
			return op, nil, err
		}
		if undescribed, err = FillParams(x.ctx, x.Env, x.Endpoint, &op, x.Args[1:], x.Params, cat); err != nil {
			return op, nil, err
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
	return op, undescribed, err
}

// members returns the extra top-level members, or nil.
func (x *exchange) members() (json.RawMessage, error) {
	given, err := x.Client.Handshake.Set.Members(x.Env.Line, x.Endpoint)
	fresh := x.Client.Conn.NoCache || x.Client.Conn.Refresh
	if err == nil && fresh && x.Endpoint.Spec().AnswerCache != nil { // the peer must also bypass its cache
		given = scan.Splice([]byte(cmp.Or(string(given), "{}")), "cache", []byte(`"no-cache"`))
	}
	return given, err
}

// converse opens a connection, calls work and closes the connection.
func (x *exchange) converse(work func(session.Conversation) error) error {
	x.deadline = env.NewDeadline(x.ctx, x.Timeout, x.Idle)
	if x.Nested {
		x.Env.OnMessage = x.deadline.Touch
	}
	x.Stop.StartTimer(x.deadline)
	return Converse(x.ctx, x.Env, x.deadline, x.Endpoint, x.Client, x.Catalog, func(conv session.Conversation) error {
		x.opened = true
		return work(conv)
	})
}

// send makes the operation, sends it and prints the response. It includes retries.
func (x *exchange) send(conv session.Conversation, prepare prepareFunc) error {
	if x.First > 0 {
		x.deadline.FirstMessage(x.First)
	}
	var p typedOp
	err := untilReached(x.Env, x.deadline, func() (err error) {
		p, err = prepare(x.deadline.Ctx, conv)
		return err
	})
	switch {
	case err != nil:
		return err
	case x.Params.DryRun:
		return DryRun(x.deadline.Ctx, conv, x.Endpoint, p.op)
	case p.op.Kind == dialect.Notify:
		return untilReached(x.Env, x.deadline, func() error {
			return env.Cause(x.deadline.Ctx, conv.Notify(x.deadline.Ctx, p.op))
		})
	}
	err = x.Retries.retry(x.Env, x.deadline, x.Endpoint.Address.IsHTTP(), func() error {
		x.last = NewResponsePrinter(x.Env, conv, x.Print, x.deadline)
		x.last.ReadOptions, x.last.Catalog = x.Read, p.cat
		x.last.Method = cmp.Or(x.last.Method, p.op.Method)
		return x.last.Do(p.op)
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
