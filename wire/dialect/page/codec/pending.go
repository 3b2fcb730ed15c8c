package codec

import (
	"bytes"
	"context"
	"encoding/json"

	"rpcx/wire"
)

// A Pending is a request of the peer that a hook of a client is answering, of a method that the page
// has an answer for when a call of ours is given up.
type Pending struct {
	msg    *wire.Message
	cancel context.CancelFunc
	answer json.RawMessage
}

// Pend notes that m, a request of the peer, is being answered. The context that it returns
// ends when a call of ours is given up to which m belongs. It returns nil where the page has
// nothing to say of that.
func (c *Codec) Pend(ctx context.Context, m *wire.Message) (context.Context, *Pending) {
	rule := c.d.Page.Cancel
	if c.o.Serving || rule == nil || rule.Pending[m.Method] == nil {
		return ctx, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &Pending{msg: m, cancel: cancel}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pendings[p] = true
	return ctx, p
}

// Settle ends what Pend began. It returns the answer that the page has for m, as the call was
// given up; nil if it was not.
func (c *Codec) Settle(p *Pending) json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pendings, p)
	p.cancel()
	return p.answer
}

// settlePending answers what the peer asks within s, a call that is given up.
func (c *Codec) settlePending(s *call) error {
	sc := c.scope(s)
	c.mu.Lock()
	defer c.mu.Unlock()
	for p := range c.pendings {
		answer, err := c.d.Page.Cancel.Pending[p.msg.Method].First(p.msg.Params, sc.Value)
		if err != nil {
			return err
		}
		if answer != nil {
			p.answer = bytes.Clone(answer)
			p.cancel()
		}
	}
	return nil
}
