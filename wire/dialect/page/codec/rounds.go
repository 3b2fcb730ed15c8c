package codec

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// interim records whether a response is not yet the result of its call.
func (c *Codec) interim(m *wire.Message, s *call) error {
	if c.o.Serving || s.rule != nil || m.Err != nil {
		return nil
	}
	if rule := c.d.Page.Input; rule != nil {
		var err error
		if m.Interim, err = rule.When.Holds(m.Body, c.Scope().Value); m.Interim || err != nil {
			return err
		}
	}
	m.Interim = c.flow.Interim(m)
	return nil
}

// moreKey is the member of Extra with the value to merge into the params when a call is repeated. Users cannot enter that
// name.
const moreKey = "\x00more"

// repetition returns op as a repetition of the call, with more to merge into its params.
func repetition(op dialect.Op, more []byte) dialect.Op {
	extra := scan.AppendObject(nil)
	extra.Inside(op.Extra)
	extra.Add(moreKey, scan.OrNull(more))
	op.Extra = extra.End()
	return op
}

// takeMore removes what repetition added to op and returns it. nil means that op is not a repetition.
func takeMore(op *dialect.Op) json.RawMessage {
	more := scan.Get(op.Extra, moreKey)
	if more == nil {
		return nil
	}
	if op.Extra = scan.Without(op.Extra, moreKey); string(op.Extra) == "{}" {
		op.Extra = nil
	}
	return more
}

// Continue returns the stream of a call that may request input (see dialect.Abilities).
func (c *Codec) Continue(ctx context.Context, caller dialect.Caller, op dialect.Op, st dialect.Stream) dialect.Stream {
	if takeMore(&op) != nil {
		return st
	}
	r := &rounds{c: c, caller: caller, op: op, st: st}
	r.ctx, r.stop = context.WithCancel(context.WithoutCancel(ctx))
	if c.now().HTTP { // ctx is the context of the whole exchange
		context.AfterFunc(ctx, r.stop)
	}
	return r
}

// rounds is the stream of a call that is repeated with the input that the peer requests. While hooks answer the requests, there is
// no stream, and a goroutine opens the next one.
type rounds struct {
	c      *Codec
	caller dialect.Caller
	op     dialect.Op
	ctx    context.Context // the context of calls and hooks; ends with Cancel
	stop   context.CancelFunc

	more     []byte      // what was merged into the params of the last message; nil for the first message
	count    int         // the number of rounds so far
	repeated bool        // a message was repeated after a failure
	next     <-chan step // receives the next stream; nil while a stream is active

	mu sync.Mutex     // guards st
	st dialect.Stream // the stream of the current message
}

// A step is the stream of a call's next message or, if the call is not repeated, what the call yields.
type step struct {
	st  dialect.Stream
	m   wire.Message
	err error
}

func (r *rounds) current() dialect.Stream {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.st
}

// Next returns the next message that is not interim.
func (r *rounds) Next(ctx context.Context) (wire.Message, error) {
	for {
		if r.next != nil {
			if m, err := r.proceed(ctx); m.Err != nil || err != nil {
				return m, err
			}
		}
		m, err := r.current().Next(ctx)
		failed := err
		if err == nil && m.Err != nil && m.Kind == wire.Response {
			failed = m.Err
		}
		switch {
		case failed != nil && ctx.Err() == nil && !r.repeated && failed != io.EOF:
			r.repeated = true
			m := m.Clone()
			r.begin(func() step { return r.failed(m, err, failed) })
		case err != nil || !m.Interim:
			return m, err
		default:
			m := m.Clone()
			r.begin(func() step { return r.goOn(m) })
		}
	}
}

// proceed waits for the next stream. An error that Unanswered returned becomes a response.
func (r *rounds) proceed(ctx context.Context) (wire.Message, error) {
	select {
	case s := <-r.next:
		r.next = nil
		if e, ok := s.err.(*wire.Error); ok {
			return wire.Message{Kind: wire.Response, Final: true, Err: e, Raw: e.JSON()}, nil
		} else if s.st == nil {
			return s.m, s.err
		}
		r.mu.Lock()
		r.st = s.st
		r.mu.Unlock()
		return wire.Message{}, nil
	case <-ctx.Done():
		return wire.Message{}, ctx.Err()
	}
}

// begin starts a goroutine that opens the next stream.
func (r *rounds) begin(what func() step) {
	to := make(chan step, 1)
	r.next = to
	go func() {
		defer wire.Guard()
		s := what()
		if s.st != nil && r.ctx.Err() != nil {
			dialect.CancelAnyway(r.ctx, s.st)
		}
		to <- s
	}()
}

func (r *rounds) open(op dialect.Op) step {
	st, err := r.caller.Open(r.ctx, op)
	return step{st: st, err: err}
}

// failed repeats the call if the flow allows that after m, an error of the peer, or err. Otherwise, the stream yields m
// or err. why is the error in either case.
func (r *rounds) failed(m wire.Message, err, why error) step {
	again, instead := r.c.flow.Failed(r.ctx, r.caller, r.op, why)
	switch {
	case instead != nil && m.Err != nil:
		m.Err = instead
	case again:
		return r.open(repetition(r.op, r.more))
	}
	return step{m: m, err: err}
}

// goOn answers the requests in an interim response and repeats the call.
func (r *rounds) goOn(m wire.Message) step {
	rule := r.c.d.Page.Input // Continue is not set without it
	asks, err := rule.When.Holds(m.Body, r.c.Scope().Value)
	if err != nil {
		return step{err: err}
	}
	if !asks {
		st, err := r.c.flow.Resume(r.ctx, r.caller, r.op, m)
		return step{st: st, err: err}
	}
	if r.count++; r.count > rule.Most {
		return step{err: protocolFault(r.op.Method, fmt.Sprintf("the peer has requested input more than %d times", rule.Most))}
	}
	answers, err := r.c.Answers(r.ctx, r.caller, scan.Get(m.Body, rule.Requests), nil)
	if err != nil {
		return step{err: err}
	}
	var more scan.Object
	more.Add(rule.Responses, answers)
	for _, name := range rule.Carry {
		more.Add(name, scan.Get(m.Body, name))
	}
	r.more = more.End()
	return r.open(repetition(r.op, r.more))
}

// Cancel cancels the call and the hooks that answer its requests.
func (r *rounds) Cancel(ctx context.Context) error {
	err := r.current().Cancel(ctx)
	r.stop()
	return err
}

func (r *rounds) Severed() bool { return dialect.Severed(r.current()) }

func (r *rounds) Waiting() bool { return r.next == nil && dialect.Waiting(r.current()) }
