package request

import (
	"context"
	"errors"
	"time"

	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/session"
)

// A Request is one request of a command. Do opens a connection, makes the
// operation from the command line, sends it, prints the answer and closes the
// connection. The functions hold what differs between commands; each may be
// nil.
type Request struct {
	Env      *env.Env
	Client   *options.Client
	Endpoint endpoint.Endpoint
	Params   options.Params
	Catalog  *catalog.Catalog // of --catalog; nil: none
	Print    *format.Pipeline
	Args     []string      // METHOD and its params, if they may be typed by the peer's catalog
	Timeout  time.Duration // 0: unbounded
	Idle     time.Duration // 0: unbounded
	First    time.Duration // bounds the first message where Idle is 0; 0: unbounded
	Retries  Retries
	Stream   bool // expectations are checked when the connection is closed, whatever the outcome

	// Operation makes the operation to send from the arguments. cat is the
	// peer's catalog, if it is known. nil: Consume sends operations of its own.
	Operation func(e endpoint.Endpoint, cat *catalog.Catalog) (dialect.Op, error)
	// Before is called before a connection is opened for op, if op is known by
	// then; done says that no connection is needed.
	Before func(op dialect.Op) (done bool, err error)
	// Started is called with the deadline, which bounds the opening and
	// everything after it.
	Started func(d *env.Deadline)
	// Consume sends op and prints the answer; nil: (*ResponsePrinter).Do.
	Consume func(c *ResponsePrinter, op dialect.Op) error
	// Outcome returns the command's outcome for err, that of the last attempt;
	// nil: a method that the peer does not have gets a suggestion.
	Outcome func(c *ResponsePrinter, err error) error
	// Then is called after success.
	Then func(ctx context.Context) error

	progress
}

// New returns the request of a command line, with what every command does alike
// before it connects: it compiles the flags that say what is printed, of which
// out has those of the command alone, and reads the file of --catalog.
func New(run *env.Env, client *options.Client, e endpoint.Endpoint, p options.Params, out format.Options) (*Request, error) {
	print, err := options.NewPrinter(run, e, &client.Out, out)
	if err != nil {
		return nil, err
	}
	cat, err := options.LoadCatalog(p.Catalog)
	if err != nil {
		return nil, err
	}
	return &Request{Env: run, Client: client, Endpoint: e, Params: p, Catalog: cat, Print: print, Timeout: client.Time.Timeout.Or(0)}, nil
}

// progress records what Do has done so far.
type progress struct {
	opened   bool // a connection was opened
	deadline *env.Deadline
	last     *ResponsePrinter // of the last attempt; nil: nothing was sent
}

// Do makes the request and returns the outcome of the command.
func (r *Request) Do(ctx context.Context) error {
	prepare, err := r.prepare()
	if prepare == nil || err != nil {
		return err
	}
	r.deadline = env.NewDeadline(ctx, r.Timeout, r.Idle)
	if r.Started != nil {
		r.Started(r.deadline)
	}
	err = Converse(ctx, r.Env, r.deadline, r.Endpoint, r.Client, r.Catalog, func(conv session.Conversation) error {
		r.opened = true
		err := r.exchange(conv, prepare)
		if r.last == nil || r.Stream {
			return err
		}
		return r.finish(err)
	})
	if r.last != nil && r.Stream {
		err = errors.Join(err, r.Print.Finish())
	}
	return err
}

// Opened reports whether a connection was opened.
func (r *Request) Opened() bool { return r.opened }

// prepare returns a function that makes the operation once the connection is
// open; nil if no connection is needed.
func (r *Request) prepare() (prepareFunc, error) {
	if err := CheckStyle(r.Env, r.Endpoint.Spec(), r.Params); err != nil {
		return nil, err
	}
	if needsConnection(r.Endpoint, r.Catalog, r.Args, r.Params) {
		return r.fromPeer, CheckName(r.Env, r.Endpoint, r.Args[0], r.Stream, r.Params)
	}
	var op dialect.Op
	if r.Operation != nil {
		var err error
		if op, err = r.Operation(r.Endpoint, r.Catalog); err != nil {
			return nil, err
		}
	}
	if r.Params.DryRun {
		if len(r.Args) > 0 {
			noteUntyped(r.Env, r.Endpoint, r.Catalog, r.Params)
		}
		return nil, DryRun(context.Background(), nil, r.Endpoint, op)
	}
	if r.Before != nil {
		if done, err := r.Before(op); done || err != nil {
			return nil, err
		}
	}
	return func(context.Context, session.Conversation) (typedOp, error) {
		return typedOp{op: op, cat: r.Catalog}, nil
	}, nil
}

// exchange sends the request and prints its answer.
func (r *Request) exchange(conv session.Conversation, prepare prepareFunc) error {
	if r.First > 0 {
		r.deadline.UntilFirst(r.First)
	}
	var p typedOp
	err := untilReached(r.Env, r.deadline, func() (err error) {
		p, err = prepare(r.deadline.Ctx, conv)
		return err
	})
	r.Endpoint.Dialect = conv.Dialect()
	switch {
	case err != nil:
		return err
	case r.Params.DryRun:
		return DryRun(r.deadline.Ctx, conv, r.Endpoint, p.op)
	case p.op.Kind == dialect.Notify:
		return untilReached(r.Env, r.deadline, func() error {
			return env.Cause(r.deadline.Ctx, conv.Notify(r.deadline.Ctx, p.op))
		})
	}
	err = r.Retries.retry(r.Env, r.deadline, posting(r.Endpoint.Address.Scheme), func() error {
		r.last = NewResponsePrinter(r.Env, conv, r.Print, r.deadline)
		r.last.Method, r.last.Catalog, r.last.Unchecked = p.op.Method, p.cat, r.Params.NoCheck
		if r.Consume != nil {
			return r.Consume(r.last, p.op)
		}
		return r.last.Do(p.op)
	})
	if r.Outcome != nil {
		return r.Outcome(r.last, err)
	}
	r.last.Suggest(err)
	return err
}

// finish calls Then after success, and checks the expectations of the whole
// output.
func (r *Request) finish(err error) error {
	if err == nil && r.Then != nil {
		r.Print.Idle()
		return errors.Join(r.Then(r.deadline.Ctx), r.Print.Finish())
	}
	return Finish(r.Print, err)
}

// Finish flushes the output and adds to err the expectations that were not met.
// If the peer answered with an error, nothing is expected of the values before
// it.
func Finish(print *format.Pipeline, err error) error {
	if f := wire.AsFault(err); f != nil && f.Kind == wire.RPCError {
		return errors.Join(err, print.Flush())
	}
	return errors.Join(err, print.Finish())
}
