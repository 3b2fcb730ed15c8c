package codec

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"rpcx/wire"
)

// An entrance is where a server lets a client in that has made the call that must be its first (serve.first). A message that
// comes while that call is being answered waits for the outcome.
type entrance struct {
	mu      sync.Mutex
	open    bool
	pending int           // first calls without an outcome
	change  chan struct{} // closed when one has its outcome; nil means no message waits
}

// try notes a first call, whose outcome settle will tell.
func (e *entrance) try() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pending++
}

// closed reports whether there was no first call that has succeeded, or may still succeed.
func (e *entrance) closed() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.open && e.pending == 0
}

// wait waits for the outcome of pending first calls, and reports whether the client is in.
func (e *entrance) wait(ctx context.Context) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for !e.open && e.pending > 0 && ctx.Err() == nil {
		if e.change == nil {
			e.change = make(chan struct{})
		}
		change := e.change
		e.mu.Unlock()
		select {
		case <-change:
		case <-ctx.Done():
		}
		e.mu.Lock()
	}
	return e.open
}

func (e *entrance) settle(succeeded bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pending--
	e.open = e.open || succeeded
	if e.change != nil {
		close(e.change)
		e.change = nil
	}
}

// early sets an error on a message that comes before the first call. That depends on the order of the messages, so it is
// decided here; the server sends the error.
func (c *Codec) early(m *wire.Message) {
	switch {
	case !c.o.Serving || !c.d.guards:
	case m.Method == c.d.Page.Serve.First:
		c.entrance.try()
	case c.entrance.closed():
		m.Err = c.tooEarly(m.Method)
	}
}

// tooEarly returns the error for a message before the first call, or nil if the method may be called at any time.
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

// Enter waits for the outcome of the first call, if m came after it. It returns the error for m if that has failed. c may
// be nil.
func (c *Codec) Enter(ctx context.Context, m *wire.Message) error {
	if c == nil || !c.o.Serving || !c.d.guards || m.Method == c.d.Page.Serve.First {
		return nil
	}
	if e := c.tooEarly(m.Method); e != nil && !c.entrance.wait(ctx) {
		return e
	}
	return nil
}

// Entered tells the outcome of m, if that is the first call. c may be nil.
func (c *Codec) Entered(m *wire.Message, succeeded bool) {
	if c != nil && c.o.Serving && c.d.guards && m.Method == c.d.Page.Serve.First {
		c.entrance.settle(succeeded)
	}
}
