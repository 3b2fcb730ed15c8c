package codec

import (
	"context"
	"sync"
	"sync/atomic"

	"rpcx/wire"
	"rpcx/wire/dialect/page/load"
)

// manualStep is what the user says himself of the greeting.
type manualStep struct {
	step atomic.Pointer[load.Step] // of the greeting, whose call is the user's, or nil
	id   wire.ID                   // of that call, until it is answered
}

// isOwn reports whether the user makes the call of a step himself: its answer is kept as
// the step's would be, and the steps after it are his, too.
func (c *Codec) isOwn(ctx context.Context, step *load.Step) bool {
	if step.Call == "" || c.o.Handshake.Own == nil || c.o.Handshake.Own(ctx) != step.Call {
		return false
	}
	c.own.step.Store(step)
	return true
}

// noteOwn looks at a message of the user's: whether it stands for a step.
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

// stepsTaken are the steps that the user has said himself, or that were taken before an operation.
type stepsTaken struct {
	preparing sync.Mutex   // held while steps of the greeting are taken before an operation
	taken     map[any]bool // guarded by the codec's lock
}

// noteTaken notes that a step is not to be taken again: a *load.Step or a *load.Goodbye.
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

// ownAnswer keeps of the answer to the user's call what the step would keep.
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
