package codec

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/scan"
)

// attempt is an optional call of the handshake without a timely response. The response counts if it precedes the response of the
// next step.
type attempt struct {
	step   *load.Step
	answer chan answer
	cancel context.CancelFunc
}

type answer struct {
	m   wire.Message
	err error
}

// isAttempt reports whether a step is an optional call with rules for its failure.
func isAttempt(step *load.Step) bool {
	return step.Call != "" && step.Optional && (step.Within != "" || step.Again || len(step.Refused) > 0)
}

// attempt makes an optional call. It returns the call if the response is late, or nil at the end of the call.
func (c *Codec) attempt(ctx context.Context, caller dialect.Caller, step *load.Step) (*attempt, error) {
	if c.omits(ctx, step) {
		return nil, nil
	}
	st, err := c.say(ctx, caller, step)
	if err != nil {
		return nil, c.failed(step, err)
	}
	a := awaitAnswer(ctx, st)
	a.step = step
	var late <-chan time.Time
	if limit := step.Limit(); limit > 0 && !c.now().HTTP {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case got := <-a.answer:
		return nil, c.attempted(step, got)
	case <-late:
		return a, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// omits reports whether to skip a step: the peer does not support it, or the user makes a later call of the handshake first.
func (c *Codec) omits(ctx context.Context, step *load.Step) bool {
	if omitted := c.o.Handshake.Omitted; omitted != nil && omitted(step.Call) {
		return true
	}
	if c.o.Handshake.Own == nil {
		return false
	}
	own := c.o.Handshake.Own(ctx)
	return slices.ContainsFunc(c.d.Page.Handshake, func(s load.Step) bool { return s.Call != "" && s.Call != step.Call && s.Call == own })
}

// omit makes later handshakes skip a step.
func (c *Codec) omit(step *load.Step) {
	if omit := c.o.Handshake.Omit; omit != nil {
		omit(step.Call)
	}
}

// awaitAnswer waits for the response to a call in a goroutine.
func awaitAnswer(ctx context.Context, st dialect.Stream) *attempt {
	ctx, cancel := context.WithCancel(ctx)
	a := &attempt{answer: make(chan answer, 1), cancel: cancel}
	go func() {
		defer wire.Guard()
		m, err := st.Next(ctx)
		if err != nil {
			dialect.CancelAnyway(ctx, st)
		}
		a.answer <- answer{m.Clone(), err}
	}()
	return a
}

// attempted processes the response to an optional call.
func (c *Codec) attempted(step *load.Step, got answer) error {
	switch {
	case got.err != nil:
		return c.failed(step, got.err)
	case got.m.Err != nil:
		values, err := valuesOf(step.Refused, got.m.Err.JSON(), c.Scope(), null)
		if err != nil {
			return err
		}
		for _, val := range scan.Named(values) {
			if string(val) != "null" {
				c.Keep(values)
				return nil
			}
		}
		c.omit(step)
		return nil
	case scan.Type(got.m.Body) != 'o':
		c.omit(step)
		return nil
	}
	return c.accept(step.Accept, step.Keep, step.Call, got.m.Body)
}

// failed returns why the handshake fails without a response to an optional call, or nil if it continues.
func (c *Codec) failed(step *load.Step, err error) error {
	f := wire.AsFault(err)
	switch {
	case f == nil:
		return err
	case f.HTTP != nil:
		switch status := f.HTTP.Status; status {
		case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired, http.StatusTooManyRequests,
			http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return err
		default:
			if status < 400 && f.Kind != wire.Protocol {
				return err
			}
		}
		c.omit(step)
		return nil
	case f.Kind == wire.Protocol && c.now().HTTP: // the response is empty, or belongs to another request
		c.omit(step)
		return nil
	case f.Kind == wire.Closed && step.Again && !c.now().HTTP:
		c.omit(step)
		return errors.Join(dialect.ErrAnew, err)
	}
	return err
}

// overtaken waits for the response to a step, st, or to an earlier optional call, whichever arrives first. The earlier call's response
// may make the step unnecessary.
func (c *Codec) overtaken(ctx context.Context, a *attempt, step *load.Step, st dialect.Stream) error {
	own := awaitAnswer(ctx, st)
	defer own.cancel()
	defer a.cancel()
	select {
	case got := <-a.answer:
		if due, err := c.stillDue(a, got, step); err != nil || !due {
			return err
		}
		return c.answer(step, <-own.answer)
	case got := <-own.answer:
		if got.m.Err == nil && got.err == nil {
			c.omit(a.step)
			return c.answer(step, got)
		}
		select { // the earlier response may have arrived at the same time
		case before := <-a.answer:
			if due, err := c.stillDue(a, before, step); err != nil || !due {
				return err
			}
		case <-time.After(a.step.Limit()):
		case <-ctx.Done():
		}
		return c.answer(step, got)
	}
}

// stillDue processes the late response to an optional call, and reports whether the step is still due.
func (c *Codec) stillDue(a *attempt, got answer, step *load.Step) (bool, error) {
	if err := c.attempted(a.step, got); err != nil {
		return false, err
	}
	return c.due(step)
}

// manualStep is the part of the handshake that the user makes.
type manualStep struct {
	step atomic.Pointer[load.Step] // the step whose call the user makes, or nil
	id   wire.ID                   // the id of that call before its response
}

// isOwn reports whether the user makes the call of a step. The user's call then provides the step's values, and the user makes all
// later steps.
func (c *Codec) isOwn(ctx context.Context, step *load.Step) bool {
	if step.Call == "" || c.o.Handshake.Own == nil || c.o.Handshake.Own(ctx) != step.Call {
		return false
	}
	c.own.step.Store(step)
	return true
}

// noteOwn records whether a user's message replaces a step.
func (c *Codec) noteOwn(m *wire.Message) {
	if m.Method == "" {
		return
	}
	if step := c.own.step.Load(); step != nil && step.Call == m.Method && len(m.ID) > 0 {
		c.own.id = m.ID.Clone()
	}
	for i := range c.d.Page.Leave {
		step := &c.d.Page.Leave[i]
		if step.Call == m.Method || step.Notify == m.Method {
			c.noteTaken(step)
		}
	}
}

// stepsTaken are the steps that the user has made, or that preceded an operation.
type stepsTaken struct {
	preparing sync.Mutex   // held while steps of the handshake precede an operation
	taken     map[any]bool // guarded by the codec's lock
}

// noteTaken records that a step, a *load.Step or a *load.Goodbye, must not run again.
func (c *Codec) noteTaken(step any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.steps.taken[step] = true
}

func (c *Codec) isTaken(step any) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.steps.taken[step]
}

// ownAnswer stores the step's values from the response to the user's call.
func (c *Codec) ownAnswer(m *wire.Message) error {
	if len(c.own.id) == 0 || string(m.ID) != string(c.own.id) {
		return nil
	}
	c.own.id = nil
	if m.Err != nil {
		return nil
	}
	return c.keepOf(c.own.step.Load().Keep, m.Body)
}
