package codec

import (
	"bytes"
	"context"
	"encoding/json"

	"rpcx/wire"
)

// A pending is a request of the peer that a hook of a client is answering, of a method that the dialect file
// has an answer for when a call of ours is given up.
type pending struct {
	msg    *wire.Message
	cancel context.CancelFunc
	answer json.RawMessage // of the dialect file, as the call was given up; nil means it was not
}

// Answer answers m, a request of the peer, by answer. If a call of ours to which m belongs is given up
// first, answer's context ends, and the answer is the dialect file's for that case. c may be nil.
func (c *Codec) Answer(ctx context.Context, m *wire.Message, answer func(context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
	if c == nil || c.o.Serving || c.d.Page.Cancel == nil || c.d.Page.Cancel.Pending[m.Method] == nil {
		return answer(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &pending{msg: m, cancel: cancel}
	c.mu.Lock()
	c.pendings[p] = true
	c.mu.Unlock()
	result, err := answer(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pendings, p)
	if p.answer != nil {
		return p.answer, nil
	}
	return result, err
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
