package prompt

import (
	"context"
	"errors"
	"slices"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/params"
	"rpcx/commands/request"
	"rpcx/commands/suggest"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
)

// A call is a running call from the prompt.
type call struct {
	deadline  *env.Deadline
	method    string
	cancelled bool
}

// Causes that end a call before its response.
var (
	errCancelled = errors.New("cancelled")
	errLeaving   = errors.New("leaving")
)

// call makes the call in text, a typed line, and returns after sending it.
//
// It does not use request.Request, which opens a connection for one request and determines the outcome of the command.
// At the prompt, concurrent calls share a connection, the user can cancel each, and the prompt continues after a
// failure. Both use request.FillParams for params and request.ResponsePrinter for responses.
func (p *prompt) call(text string) {
	words, _, err := params.Split(text)
	if err == nil && words[0] == "" {
		err = errors.New("the method is missing")
	}
	if err != nil {
		p.failed(wire.NewFault(wire.Usage, err.Error(), err))
		return
	}
	c := &call{method: words[0]}
	p.mu.Lock()
	leaving := p.leaving
	if !leaving {
		c.deadline = env.NewDeadline(p.Deadline.Ctx, 0, 0)
		p.calls = append(p.calls, c)
	}
	p.mu.Unlock()
	if leaving {
		return
	}
	cat := p.Catalog
	op, err := p.operation(c, words[1:], &cat)
	var st dialect.Stream
	if err == nil {
		st, err = p.Conv.Open(c.deadline.Ctx, op)
	}
	if err != nil || st == nil {
		p.end(c, cat, err)
		return
	}
	go func() {
		defer wire.Guard()
		answer := request.NewResponsePrinter(p.Env, p.Conv, p.Print, c.deadline)
		answer.Method, answer.Stream, answer.Jobs = c.method, op.Kind == dialect.Subscribe, true
		p.end(c, cat, answer.Read(&labelled{Stream: st, p: p, c: c}))
	}()
}

// operation returns the operation to send. It sets cat to the catalog from which it has taken the types of params.
func (p *prompt) operation(c *call, args []string, cat **catalog.Catalog) (op dialect.Op, err error) {
	ctx, e := c.deadline.Ctx, p.Endpoint
	op = dialect.Op{Kind: dialect.Call, Method: c.method}
	if params.WantStdin(args) {
		return op, wire.NewFault(wire.Usage, "stdin is the keyboard and cannot provide params", nil)
	}
	if *cat == nil && e.Spec().Params.Typed {
		if *cat, err = p.Conv.Typing(ctx, c.method); err != nil {
			return op, err
		}
	}
	if p.streams(*cat, c.method) {
		op.Kind = dialect.Subscribe
	}
	undescribed, err := request.FillParams(ctx, p.Env, e, &op, args, p.Params, *cat)
	request.WarnTypos(p.Env, c.method, undescribed)
	return op, err
}

func (p *prompt) end(c *call, cat *catalog.Catalog, err error) {
	cause := context.Cause(c.deadline.Ctx)
	c.deadline.Stop()
	p.mu.Lock()
	p.calls = slices.DeleteFunc(p.calls, func(other *call) bool { return other == c })
	p.callEnded.Broadcast()
	f := cmdline.Worst(err)
	p.lost = p.lost || f != nil && f.Kind == wire.Closed
	p.mu.Unlock()
	switch {
	case f == nil || errors.Is(cause, errLeaving) || p.Deadline.Ctx.Err() != nil:
		p.Print.Idle()
	case errors.Is(cause, errCancelled):
		p.Print.Idle()
		p.Env.Console.Note(c.method + ": cancelled")
	default:
		suggest.Call(p.Env, f, cat, false)
		p.failed(f)
	}
}

// labelled is the stream of a call. It prints the call's method before the first response if the user has made another
// call in between.
type labelled struct {
	dialect.Stream
	p     *prompt
	c     *call
	shown bool
}

func (l *labelled) Next(ctx context.Context) (wire.Message, error) {
	m, err := l.Stream.Next(ctx)
	if err == nil && !l.shown && m.Err == nil {
		l.p.mu.Lock()
		calls := l.p.calls
		l.shown = calls[len(calls)-1] != l.c
		l.p.mu.Unlock()
		if l.shown {
			l.p.Print.Idle()
			l.p.Env.Console.Note(l.c.method + ":")
		}
	}
	return m, err
}

// Waiting reports whether Next would return at once.
func (l *labelled) Waiting() bool {
	w, ok := l.Stream.(request.Waiter)
	return ok && w.Waiting()
}
