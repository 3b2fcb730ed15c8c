package codec

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"rpcx/wire"
	"rpcx/wire/dialect/page/load"
)

// manualStep is what the user says himself of the greeting and the goodbye, which then is not said
// twice.
type manualStep struct {
	step atomic.Pointer[load.Step] // of the greeting, whose call is the user's; nil: none
	id   wire.ID                   // of that call, until it is answered

	mu   sync.Mutex
	said []*load.Goodbye // of the goodbye
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
		if (step.Call == m.Method || step.Notify == m.Method) && !c.hasSaid(step) {
			c.own.mu.Lock()
			c.own.said = append(c.own.said, step)
			c.own.mu.Unlock()
		}
	}
}

// hasSaid reports whether the user has said what a step of the goodbye says.
func (c *Codec) hasSaid(step *load.Goodbye) bool {
	c.own.mu.Lock()
	defer c.own.mu.Unlock()
	return slices.Contains(c.own.said, step)
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
