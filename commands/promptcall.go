package commands

import (
	"context"
	"errors"
	"slices"

	"rpcx/commands/params"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/session"
)

// A promptCall is a call that was typed.
type promptCall struct {
	deadline  *deadline
	method    string
	cancelled bool // by Ctrl-C
}

// What ends a call before its answer.
var (
	errCancelled = errors.New("cancelled")
	errLeaving   = errors.New("leaving")
)

// call makes the call that a line says, and returns when it is sent.
func (p *prompt) call(text string) {
	words, _, err := params.Split(text)
	if err == nil && words[0] == "" {
		err = errors.New("a method is missing")
	}
	if err != nil {
		p.failed(wire.NewFault(wire.Usage, err.Error(), err))
		return
	}
	c := &promptCall{deadline: newDeadline(p.deadline.ctx, 0, 0), method: words[0]}
	p.mu.Lock()
	leaving := p.leaving
	if !leaving {
		p.calls = append(p.calls, c)
	}
	p.mu.Unlock()
	if leaving {
		c.deadline.stop()
		return
	}
	cat := p.catalog
	op, err := p.operation(c, words[1:], &cat)
	var st dialect.Stream
	if err == nil {
		st, err = p.conv.Open(c.deadline.ctx, op)
	}
	if err != nil || st == nil {
		p.end(c, cat, err)
		return
	}
	go func() {
		p.end(c, cat, guarded(func() error {
			run := &consumer{
				app: p.app, conv: p.conv, stream: &labelled{Stream: st, p: p, c: c}, print: p.print,
				deadline: c.deadline, method: c.method, lasts: op.Kind == dialect.Subscribe,
			}
			return run.waited(run.run())
		}))
	}()
}

// operation is what is to be sent. cat becomes the catalog that the params were
// typed by.
func (p *prompt) operation(c *promptCall, args []string, cat **catalog.Catalog) (op dialect.Op, err error) {
	ctx, e := c.deadline.ctx, p.endpoint
	e.Dialect = p.conv.Dialect()
	op = dialect.Op{Kind: dialect.Call, Method: c.method}
	if params.WantStdin(args) {
		return op, wire.NewFault(wire.Usage, "stdin is the keyboard here: it gives no params", nil)
	}
	if *cat == nil && session.SpecOf(e).TypedParams {
		if *cat, err = p.conv.Typing(ctx, c.method); err != nil {
			return op, err
		}
	}
	if p.streams(*cat, c.method) {
		op.Kind = dialect.Subscribe
	}
	return op, fillParams(ctx, p.app, e, &op, args, p.params, *cat)
}

// end shows how a call ended and forgets it.
func (p *prompt) end(c *promptCall, cat *catalog.Catalog, err error) {
	cause := context.Cause(c.deadline.ctx)
	c.deadline.stop()
	p.mu.Lock()
	p.calls = slices.DeleteFunc(p.calls, func(other *promptCall) bool { return other == c })
	p.fewer.Broadcast()
	f := worst(err)
	p.lost = p.lost || f != nil && f.Kind == wire.Closed
	p.mu.Unlock()
	switch {
	case f == nil || errors.Is(cause, errLeaving) || p.deadline.ctx.Err() != nil:
		p.print.Idle()
	case errors.Is(cause, errCancelled):
		p.print.Idle()
		p.app.console.Note(c.method + ": cancelled")
	default:
		suggest(p.app, f, cat)
		p.failed(f)
	}
}

// labelled says which call an answer is of, where another was made since.
type labelled struct {
	dialect.Stream
	p    *prompt
	c    *promptCall
	said bool
}

func (l *labelled) Next(ctx context.Context) (wire.Message, error) {
	m, err := l.Stream.Next(ctx)
	if err == nil && !l.said && m.Err == nil {
		l.p.mu.Lock()
		calls := l.p.calls
		l.said = calls[len(calls)-1] != l.c
		l.p.mu.Unlock()
		if l.said {
			l.p.print.Idle()
			l.p.app.console.Note(l.c.method + ":")
		}
	}
	return m, err
}

// Waiting says whether a message waits.
func (l *labelled) Waiting() bool {
	w, ok := l.Stream.(waiter)
	return ok && w.Waiting()
}
