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

// try records the start of a first call. settle records its result.
func (e *entrance) try() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pending++
}

// closed reports whether no first call has succeeded and none is pending.
func (e *entrance) closed() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.open && e.pending == 0
}

// wait waits for the results of pending first calls and reports whether the client is admitted.
func (e *entrance) wait(ctx context.Context) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for !e.open && e.pending > 0 && e.change.Await(ctx, &e.mu) == nil {
	}
	return e.open
}

func (e *entrance) settle(succeeded bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pending--
	e.open = e.open || succeeded
	e.left = e.left && e.open
	e.change.Pass()
}

// leave reports whether an earlier message was the client's last request. now means that the current message is that
// request.
func (e *entrance) leave(now bool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	before := e.left
	e.left = before || now
	return before
}

// early sets the error of a message that arrives before the first call, or of a request that arrives after the client's last
// one. The codec does this because the order of the messages matters; the server sends the error.
func (c *Codec) early(m *wire.Message) {
	switch {
	case !c.o.Serving || !c.d.guards:
	case m.Method == c.d.Page.Serve.First:
		c.entrance.try()
	case c.entrance.closed():
		m.Err = c.tooEarly(m.Method)
	}
	if last := c.d.last; c.o.Serving && last != "" && m.Kind == wire.Request && m.Err == nil && c.entrance.leave(m.Method == last) {
		m.Err = wire.NewError(wire.CodeInvalidRequest, last+" was called before "+m.Method)
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

// Enter waits for the result of the first call if m arrived during it. If the client is not admitted, Enter returns the error for m. c
// may be nil.
func (c *Codec) Enter(ctx context.Context, m *wire.Message) error {
	if c == nil || !c.o.Serving || !c.d.guards || m.Method == c.d.Page.Serve.First {
		return nil
	}
	if e := c.tooEarly(m.Method); e != nil && !c.entrance.wait(ctx) {
		return e
	}
	return nil
}

// Entered records whether m succeeded if m is a first call. c may be nil.
func (c *Codec) Entered(m *wire.Message, succeeded bool) {
	if c != nil && c.o.Serving && c.d.guards && m.Method == c.d.Page.Serve.First {
		c.entrance.settle(succeeded)
	}
}
