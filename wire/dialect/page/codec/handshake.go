package codec

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/scan"
)

// Handshake runs the dialect file's handshake. It returns a Fault of kind Protocol if a response is an error or does not conform to the
// dialect file.
func (c *Codec) Handshake(ctx context.Context, caller dialect.Caller) (err error) {
	defer c.endAwaiting()
	switch {
	case c.o.Serving:
		return nil
	case c.o.HandshakeDone:
		return c.takeIDs(ctx, caller)
	}
	defer func() {
		if err == nil {
			c.noteTaken(wholeHandshake{})
			c.Begin()
		}
	}()
	c.overHTTP(caller)
	var g handshake
	for i := range c.d.Page.Handshake {
		step := &c.d.Page.Handshake[i]
		if ok, err := c.due(step); err != nil {
			return err
		} else if !ok {
			continue
		}
		if c.isOwn(ctx, step) {
			break
		}
		if err := c.handshakeStep(ctx, caller, step, &g); err != nil {
			return err
		}
	}
	for _, answered := range g.unanswered {
		if err := answered(); err != nil {
			return err
		}
	}
	return c.beginSession(caller)
}

// A handshake is the state that the steps of a handshake share.
type handshake struct {
	unanswered []func() error // wait for the responses to steps that did not wait
	pending    *attempt       // a pending optional call, or nil
}

// handshakeStep runs one step of the handshake.
func (c *Codec) handshakeStep(ctx context.Context, caller dialect.Caller, step *load.Step, g *handshake) (err error) {
	if step.Call != "" && step.Optional && (step.Within != "" || step.Again || len(step.Refused) > 0) { // it has rules for the case that it fails
		g.pending, err = c.attempt(ctx, caller, step)
		return err
	}
	st, err := c.take(ctx, caller, step)
	switch {
	case err != nil:
		return err
	case st != nil && g.pending != nil:
		a := g.pending
		g.pending = nil
		return c.overtaken(ctx, a, step, st)
	case st != nil && step.Wait != nil && !*step.Wait:
		g.unanswered = append(g.unanswered, func() error { return c.answered(ctx, step, st) })
		return nil
	}
	return c.answered(ctx, step, st)
}

// takeIDs consumes the ids of the handshake without sending it. It assumes that awaited messages arrive and that conditions on responses
// are false.
func (c *Codec) takeIDs(ctx context.Context, caller dialect.Caller) error {
	for i := range c.d.Page.Handshake {
		step := &c.d.Page.Handshake[i]
		if ok, err := c.due(step); err != nil || !ok || step.ID != "" {
			continue
		}
		switch {
		case step.Await != nil:
			_ = c.keepOf(step.Keep, null)
		case c.isOwn(ctx, step):
			return nil
		default:
			_, _ = c.take(ctx, caller, step)
		}
	}
	return nil
}

// beginSession applies the dialect file's rules for HTTP sessions after the handshake: the headers, the event stream, and how the
// session ends.
func (c *Codec) beginSession(caller dialect.Caller) error {
	session, rule := caller.Connection().HTTPSession, &c.d.Page.HTTP
	if session == nil {
		return nil
	}
	if ok, err := c.holds(rule.When); err != nil || !ok {
		return err
	}
	for name, prog := range rule.Headers {
		val, err := prog.First(c.kept(), c.Scope().Value)
		if err != nil {
			return err
		}
		if text, ok := scan.Text(val); ok && isHeaderValue(text) {
			session.SetHeader(name, text)
		}
	}
	if rule.End != "" {
		session.EndByDelete()
	}
	if rule.Events != "" {
		session.ReadEvents(func() {})
	}
	return nil
}

// isHeaderValue reports whether a string can be the value of a header: it is short, and consists of printable ASCII
// characters.
func isHeaderValue(text string) bool {
	const most = 256
	return text != "" && len(text) <= most && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}

// kept returns an object with the values that were kept ($kept).
func (c *Codec) kept() json.RawMessage { return c.now().Kept }

// holds reports whether a condition on the kept values is true.
func (c *Codec) holds(when load.Prog) (bool, error) { return when.Holds(c.kept(), c.Scope().Value) }

// due reports whether a step belongs to the handshake and its condition is true.
func (c *Codec) due(step *load.Step) (bool, error) {
	if len(step.For) > 0 {
		return false, nil
	}
	return c.holds(step.When)
}

// take runs a step: it sends the step's message or awaits one. It returns the stream of the response, or nil if there
// is none.
func (c *Codec) take(ctx context.Context, caller dialect.Caller, step *load.Step) (dialect.Stream, error) {
	if step.Await != nil {
		msg, err := c.await(ctx, caller, step)
		if errors.Is(err, errAwaitTimeout) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return nil, refused(step, c.accept(step.Accept, step.Keep, "the handshake", msg))
	}
	return c.say(ctx, caller, step)
}

// say sends the call or the notification of a step. It returns the stream of the response, or nil if there is none.
func (c *Codec) say(ctx context.Context, caller dialect.Caller, step *load.Step) (dialect.Stream, error) {
	params, err := step.Params.First(c.kept(), c.Scope().Value)
	if err != nil {
		return nil, err
	}
	if step.Notify != "" {
		return nil, caller.Notify(ctx, dialect.Op{Kind: dialect.Notify, Method: step.Notify, Params: params})
	}
	op := dialect.Op{Kind: dialect.Internal, Method: step.Call, Params: params}
	if step.ID != "" {
		op.OfID = scan.AppendQuoted(nil, step.ID)
	}
	return caller.Open(ctx, op)
}

// answered waits for the response to a step, unless st is nil.
func (c *Codec) answered(ctx context.Context, step *load.Step, st dialect.Stream) error {
	if st == nil {
		return nil
	}
	m, err := st.Next(ctx)
	return c.answer(step, answer{m, err})
}

// answer handles the response to a step.
func (c *Codec) answer(step *load.Step, got answer) error {
	m := got.m
	switch {
	case got.err != nil:
		return got.err
	case m.Err != nil && step.Optional:
		return nil
	case m.Err != nil:
		return refused(step, &wire.Fault{Kind: wire.Protocol, Method: step.Call, RPC: m.Err.Clone(), Message: "the handshake was refused: " + m.Err.Error()})
	}
	return refused(step, c.accept(step.Accept, step.Keep, step.Call, m.Body))
}

// Shutdown ends the flow's work and runs the steps in [[leave]]. Without a complete handshake, it does nothing.
func (c *Codec) Shutdown(ctx context.Context, caller dialect.Caller) error {
	if c.o.Serving || c.o.HandshakeDone || !c.isTaken(wholeHandshake{}) {
		return nil
	}
	if err := c.flow.Shutdown(ctx, caller); err != nil {
		return err
	}
	for i := range c.d.Page.Leave {
		step := &c.d.Page.Leave[i]
		if c.isTaken(step) {
			continue
		}
		if ok, err := c.holds(step.When); err != nil {
			return err
		} else if !ok {
			continue
		}
		st, err := c.say(ctx, caller, step.Step())
		if err != nil {
			return err
		}
		if st == nil {
			continue
		}
		if _, err := st.Next(ctx); err != nil && err != io.EOF {
			return err
		}
	}
	return nil
}
