package codec

import (
	"context"
	"encoding/json"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// A Native is the Go part of a protocol, which the dialect file names in flow: work that continues after the response to the call that
// begins it.
type Native struct {
	Notification string              // the method of a notification about such work, which needs no hook
	Open         func(c *Codec) Flow // returns the flow of one connection
}

// A Flow is the native part of one connection. The codec calls Mark, Accompany and About, and the
// methods of Companions, while the peer holds its lock.
type Flow interface {
	// Mark changes an operation that is not a call before its message is written.
	Mark(op *dialect.Op)
	// Accompany changes a call before its message is written. It returns a companion for the duration of the call, or nil.
	Accompany(op *dialect.Op) Companion
	// About returns the name of the work that a notification concerns, or nil.
	About(m *wire.Message) json.RawMessage
	// Job and RunningJobs are those of dialect.Abilities.
	Job(ctx context.Context, caller dialect.Caller, op dialect.Op) (dialect.Stream, error)
	RunningJobs() []string
	// Shutdown ends running work before the goodbye.
	Shutdown(ctx context.Context, caller dialect.Caller) error
}

// A Preparer is a Flow that sends requests before a call is encoded.
type Preparer interface {
	// PrepareCall is that of dialect.Abilities.
	PrepareCall(ctx context.Context, caller dialect.Caller, op dialect.Op) error
}

// A Mirrorer is a Flow with its own headers for messages that are sent over HTTP.
type Mirrorer interface {
	// Mirror adds to the headers of a message. The headers are not empty.
	Mirror(msg []byte, headers map[string]string)
}

// A Completer is a Flow that completes the results of hooks.
type Completer interface {
	// Complete returns the result of a hook for m, a request of the peer, in the form that is sent.
	Complete(m *wire.Message, result json.RawMessage) json.RawMessage
}

// A Lister is a Flow that filters lists of methods.
type Lister interface {
	// Listed returns the response to a method of [[describe]] without unusable entries.
	Listed(caller dialect.Caller, method string, answer json.RawMessage) json.RawMessage
}

// A Companion is the state that a Flow keeps for one call.
type Companion interface {
	// Begins returns the name of the work that a response has begun. The call then continues, and gets the notifications about the work.
	// nil: the response is the result.
	Begins(m *wire.Message) json.RawMessage
	// Over is called when the call is over, or could not be sent.
	Over()
}

// Flow returns the connection's flow, or nil if the dialect file names none.
func (c *Codec) Flow() Flow { return c.flow }

// begins records the work that a response has begun. It returns false if the response is the result.
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

// works reports whether the call has begun work.
func (s *call) works() bool { return s.rule == nil && s.stream != nil }

// passOn passes a notification about work to the calls that began it.
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

// IsPlain reports whether calls of a method are sent without being wrapped.
func (c *Codec) IsPlain(method string) bool { return c.d.Plain(method) }

// Described returns the peer's description of a method, which it requests if necessary. It returns nil if the peer does not know the
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

// Unwrap replaces the result of a wrapped call of a method by the caller's result.
func (c *Codec) Unwrap(m *wire.Message, method string, params json.RawMessage) error {
	s := &call{method: method, params: params}
	if rule := c.d.Page.Call; rule != nil {
		s.unwrap = unwrapping{rule.Result, rule.Error}
	}
	return c.unwrapped(m, s)
}
