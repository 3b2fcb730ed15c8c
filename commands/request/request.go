package request

import (
	"context"
	"errors"
	"time"

	"rpcx/commands/artifacts"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/session"
)

// A Request defines what a command sends, how it reads the response, and the limits of both. Do sends the request and
// prints the response.
type Request struct {
	Env      *env.Env
	Client   *options.Client
	Endpoint endpoint.Endpoint
	Params   options.Params
	Catalog  *catalog.Catalog // may be nil
	Print    *format.Pipeline

	Op      dialect.Op // without the parts from Args and --set
	Args    []string   // METHOD and its params; nil if Op is complete
	Read    ReadOptions
	Cache   CacheFlags
	Retries Retries
	Files   *artifacts.Flags       // saves the files in the result; may be nil
	Stop    options.StopConditions // the flags that end a stream
	Timeout time.Duration          // 0 for no limit
	Idle    time.Duration          // 0 for no limit
	First   time.Duration          // bounds the wait for the first message if Idle is 0; 0 for no limit
	Nested  bool                   // the peer's requests count as messages of the response
	// Explain returns the outcome of a failed last attempt. By default, Suggest adds a fix.
	Explain func(p *ResponsePrinter, err error) error
}

// New returns the request of a command line. It compiles the output flags, and reads the file of --catalog.
func New(run *env.Env, client *options.Client, e endpoint.Endpoint, p options.Params) (*Request, error) {
	print, err := options.NewPrinter(run, e, &client.Out)
	if err != nil {
		return nil, err
	}
	cat, err := options.LoadCatalog(p.Catalog)
	if err != nil {
		return nil, err
	}
	return &Request{Env: run, Client: client, Endpoint: e, Params: p, Catalog: cat, Print: print, Timeout: client.Time.Timeout.Or(0)}, nil
}

// Do makes the request and returns the outcome of the command.
func (r *Request) Do(ctx context.Context) error {
	x := &exchange{Request: r, ctx: ctx}
	if done, err := x.prepare(); done || err != nil {
		return err
	}
	err := x.converse(func(conv session.Conversation) error {
		err := x.send(conv)
		if x.last == nil || r.Read.Stream {
			return err
		}
		return x.finish(err)
	})
	if r.Read.Stream {
		return x.endStream(err)
	}
	return err
}

// Converse opens a connection and runs work with a printer for the first request. ResponsePrinter.Reset returns one for
// each later request.
func (r *Request) Converse(ctx context.Context, work func(p *ResponsePrinter) error) error {
	x := &exchange{Request: r, ctx: ctx}
	return x.converse(func(conv session.Conversation) error {
		return Finish(r.Print, untilReached(r.Env, x.deadline, func() error {
			return work(NewResponsePrinter(r.Env, conv, r.Print, x.deadline))
		}))
	})
}

// Finish flushes the output and adds failed expectations to err. After an error from the peer, it checks no expectations.
func Finish(print *format.Pipeline, err error) error {
	if f := wire.AsFault(err); f != nil && f.Kind == wire.RPCError {
		return errors.Join(err, print.Flush())
	}
	return errors.Join(err, print.Finish())
}
