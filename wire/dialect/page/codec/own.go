package codec

import (
	"context"
	"sync"
	"sync/atomic"

	"rpcx/wire"
	"rpcx/wire/dialect/page/load"
)

// manualStep is the part of the handshake that the user carries out.
type manualStep struct {
	step atomic.Pointer[load.Step] // the step of the handshake whose call the user makes, or nil
	id   wire.ID                   // the id of that call until it is answered
}

// isOwn reports whether the user makes the call of a step. The step's values are then taken from its response, and the user carries out
// all later steps.
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

// stepsTaken are the steps that the user has carried out, or that were taken before an operation.
type stepsTaken struct {
	preparing sync.Mutex   // held while steps of the handshake are taken before an operation
	taken     map[any]bool // guarded by the codec's lock
}

// noteTaken records that a step, a *load.Step or a *load.Goodbye, must not be repeated.
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
