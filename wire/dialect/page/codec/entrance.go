package codec

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"rpcx/wire"
)

// An entrance controls whether a server admits a client that must make a certain call first (serve.first). Messages that arrive
// during that call wait for its result.
type entrance struct {
	mu      sync.Mutex
	open    bool
	left    bool      // the client has called the method after which it sends no further requests
	pending int       // the number of first calls that have no result yet
	change  wire.Gate // opens when a first call has a result
}

// wait waits for the results of pending first calls and reports whether the client is admitted.
func (e *entrance) wait(ctx context.Context) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for !e.open && e.pending > 0 && e.change.Await(ctx, &e.mu) == nil {
	}
	return e.open
}

// settle records the result of a first call.
func (e *entrance) settle(succeeded bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pending--
	e.open = e.open || succeeded
	e.left = e.left && e.open
	e.change.Pass()
}

// early sets the error of a message that arrives before the first call, or of a request that arrives after the client's last
// one. The codec does this because the order of the messages matters; the server sends the error.
func (c *Codec) early(m *wire.Message) {
	if !c.o.Serving || !c.d.guards {
		return
	}
	e := c.entrance
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case m.Method == c.d.Page.Serve.First:
		e.pending++
	case !e.open && e.pending == 0:
		m.Err = c.tooEarly(m.Method)
	}
	if last := c.d.last; last != "" && m.Kind == wire.Request && m.Err == nil {
		if e.left {
			m.Err = wire.NewError(wire.CodeInvalidRequest, last+" was called before "+m.Method)
		}
		e.left = e.left || m.Method == last
	}
}

// tooEarly returns the error for a message before the first call, or nil if its method is allowed at any time.
func (c *Codec) tooEarly(method string) *wire.Error {
	rule := &c.d.Page.Serve
	text := rule.First + " must be called before " + method
	switch {
	case rule.Early == nil:
		return wire.NewError(wire.CodeServer, text)
	case slices.Contains(rule.Early.Except, method):
		return nil
	}
	return wire.NewError(rule.Early.Code, cmp.Or(rule.Early.Message, text))
}

// Enter waits for the result of the first call if m arrived during it. If the client is not admitted, Enter returns the error for m.
func (c *Codec) Enter(ctx context.Context, m *wire.Message) error {
	if !c.o.Serving || !c.d.guards || m.Method == c.d.Page.Serve.First {
		return nil
	}
	if e := c.tooEarly(m.Method); e != nil && !c.entrance.wait(ctx) {
		return e
	}
	return nil
}

// Entered records whether m succeeded if m is a first call.
func (c *Codec) Entered(m *wire.Message, succeeded bool) {
	if c.o.Serving && c.d.guards && m.Method == c.d.Page.Serve.First {
		c.entrance.settle(succeeded)
	}
}
