package codec

import (
	"context"
	"encoding/json"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// A Native is the Go part of a protocol, which the dialect file names as its flow. It implements work that continues after the
// response to its call.
type Native struct {
	Notification string              // the method of notifications about such work, which need no hook
	Open         func(c *Codec) Flow // returns the flow of one connection
}

// A Flow is the native part of one connection. The codec calls Mark, Accompany, About and the methods of Companions
// under the peer's lock.
type Flow interface {
	// Mark changes an operation other than a call before its message is written.
	Mark(op *dialect.Op)
	// Accompany changes a call before its message is written. It returns a companion for the call, or nil.
	Accompany(op *dialect.Op) Companion
	// About returns the name of a notification's work, or nil.
	About(m *wire.Message) json.RawMessage
	// Job and RunningJobs are the functions of dialect.Abilities.
	Job(ctx context.Context, caller dialect.Caller, op dialect.Op) (dialect.Stream, error)
	RunningJobs() []string
	// Shutdown ends running work before the closing messages.
	Shutdown(ctx context.Context, caller dialect.Caller) error
}

// A Preparer is a Flow that sends requests before a call is encoded.
type Preparer interface {
	// PrepareCall is the function of dialect.Abilities.
	PrepareCall(ctx context.Context, caller dialect.Caller, op dialect.Op) error
}

// A Mirrorer is a Flow that adds headers to messages over HTTP.
type Mirrorer interface {
	// Mirror adds to headers, the existing headers of a message.
	Mirror(msg []byte, headers map[string]string)
}

// A Completer is a Flow that completes results of hooks.
type Completer interface {
	// Complete returns a hook's result for m, the peer's request, in its final form.
	Complete(m *wire.Message, result json.RawMessage) json.RawMessage
}

// A Lister is a Flow that filters lists of methods.
type Lister interface {
	// Listed returns the response to a method of [[describe]] without unusable entries.
	Listed(caller dialect.Caller, method string, answer json.RawMessage) json.RawMessage
}

// A Companion is a Flow's state for one call.
type Companion interface {
	// Begins returns the name of the work that a response has started. The call then continues, and receives the notifications about the
	// work. nil means that the response is the result.
	Begins(m *wire.Message) json.RawMessage
	// Over runs at the end of the call, or if it could not be sent.
	Over()
}

// Flow returns the connection's flow, or nil.
func (c *Codec) Flow() Flow { return c.flow }

// begins records the work that a response has started. It returns false if the response is the result.
func (c *Codec) begins(m *wire.Message, s *call) bool {
	if s.companion == nil {
		return false
	}
	name := s.companion.Begins(m)
	if name == nil {
		return false
	}
	s.result, s.stream = name, s.id
	return true
}

// works reports whether the call has started work.
func (s *call) works() bool { return s.rule == nil && s.stream != nil }

// passOn passes a notification about work to the calls that started the work.
func (c *Codec) passOn(m *wire.Message) {
	if c.flow == nil {
		return
	}
	name := c.flow.About(m)
	for _, s := range c.calls {
		if name != nil && s.works() && scan.Equal(s.result, name) {
			c.out = append(c.out, wire.Message{Kind: wire.Item, Beside: true, ID: s.id, Method: m.Method, Raw: m.Raw, Body: m.Params})
		}
	}
}

// HandshakeByUser reports whether the user makes a call of the handshake.
func (c *Codec) HandshakeByUser() bool { return c.own.step.Load() != nil }

// IsPlain reports whether calls of a method are never wrapped.
func (c *Codec) IsPlain(method string) bool { return c.d.Plain(method) }

// Described returns the peer's description of a method, and requests it if necessary. It returns nil if the peer does not know the
// method.
func (c *Codec) Described(ctx context.Context, caller dialect.Caller, method string) (*catalog.Method, error) {
	if d := c.described.Load(); d != nil && d.Method(method) != nil {
		return d.Method(method), nil
	}
	cat, err := c.describe(ctx, caller, method)
	if err != nil {
		return nil, err
	}
	return cat.Method(method), nil
}

// Relist requests the peer's description of a method again.
func (c *Codec) Relist(ctx context.Context, caller dialect.Caller, method string) error {
	_, err := c.describe(ctx, caller, method)
	return err
}

// Unwrap returns the caller's result in the result of a wrapped call.
func (c *Codec) Unwrap(m *wire.Message, method string, params json.RawMessage) error {
	s := &call{method: method, params: params}
	if rule := c.d.Page.Call; rule != nil {
		s.unwrap = unwrapping{rule.Result, rule.Error}
	}
	return c.unwrapped(m, s)
}
