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
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
)

// An attempt is an optional call of the handshake whose response did not arrive in time. The response still counts if it arrives
// before the response to the following step.
type attempt struct {
	step   *load.Step
	answer chan answer
	cancel context.CancelFunc
}

type answer struct {
	m   wire.Message
	err error
}

// attempt makes an optional call. It returns the call if no response arrived in time, and nil if the call has ended.
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

// omits reports whether a step is skipped: the peer does not support it, or the user starts with another call of the
// handshake.
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

// awaitAnswer starts a goroutine that waits for the response to a call.
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

// attempted handles the response to an optional call.
func (c *Codec) attempted(step *load.Step, got answer) error {
	switch {
	case got.err != nil:
		return c.failed(step, got.err)
	case got.m.Err != nil:
		values, err := valuesOf(step.Refused, got.m.Err.JSON(), c.Scope(), null)
		if err != nil {
			return program.OfPeer(got.m.Err.JSON(), err)
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

// failed returns an error if the handshake must fail because an optional call got no response, and nil if it can
// continue.
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

// overtaken waits for the response to a step, in st, and for the response to an earlier optional call. If the earlier response arrives
// first, it may make the step unnecessary.
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
		select { // the earlier response may be about to arrive
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

// stillDue handles the late response to an optional call, and reports whether step is still necessary.
func (c *Codec) stillDue(a *attempt, got answer, step *load.Step) (bool, error) {
	if err := c.attempted(a.step, got); err != nil {
		return false, err
	}
	return c.due(step)
}

// A manualStep is the step of the handshake that the user runs.
type manualStep struct {
	step atomic.Pointer[load.Step] // the step whose call the user makes, or nil
	id   wire.ID                   // the id of that call until its response arrives
}

// isOwn reports whether the user makes the call of a step. The values are then kept from the response to the user's call, and the
// user also runs all later steps.
func (c *Codec) isOwn(ctx context.Context, step *load.Step) bool {
	if step.Call == "" || c.o.Handshake.Own == nil || c.o.Handshake.Own(ctx) != step.Call {
		return false
	}
	c.own.step.Store(step)
	return true
}

// noteOwn records that a message of the user takes the place of a step.
func (c *Codec) noteOwn(m *wire.Message) {
	if m.Method == "" {
		return
	}
	if step := c.own.step.Load(); step != nil && step.Call == m.Method && len(m.ID) > 0 {
		c.own.id = m.ID.Key().Clone()
	}
	for i := range c.d.Page.Leave {
		step := &c.d.Page.Leave[i]
		if step.Call == m.Method || step.Notify == m.Method {
			c.noteTaken(step)
		}
	}
}

// stepsTaken contains the steps that must not run again: the user has run them, or they preceded an operation.
type stepsTaken struct {
	preparing sync.Mutex   // held while the steps that precede an operation run
	taken     map[any]bool // guarded by the codec's lock
}

// noteTaken records that a step (a *load.Step, a *load.Goodbye or a wholeHandshake) has run.
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

// ownAnswer keeps the values of a step from the response to the user's call.
func (c *Codec) ownAnswer(m *wire.Message) error {
	if len(c.own.id) == 0 || string(m.ID.Key()) != string(c.own.id) {
		return nil
	}
	c.own.id = nil
	if m.Err != nil {
		return nil
	}
	return c.keepOf(c.own.step.Load().Keep, m.Body)
}
