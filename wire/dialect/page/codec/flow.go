package codec

import (
	"context"
	"encoding/json"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// A Native is the part of a protocol that is written in Go; a dialect file selects it with its member flow. It adds work that
// continues after the response to its call.
type Native struct {
	Notification string              // the method of notifications about such work, which need no hook
	Open         func(c *Codec) Flow // returns the flow for one connection
}

// A Flow is the native part of one connection. The codec calls Mark, Accompany, About, Interim and the methods of Companions
// while it holds the lock of the peer.Peer. A Flow embeds NoFlow for the methods that it does not need.
type Flow interface {
	// Mark may change an operation other than a call before its message is written.
	Mark(op *dialect.Op)
	// Accompany may change a call before its message is written. It returns a companion of the call, or nil.
	Accompany(op *dialect.Op) Companion
	// About returns the name of the work that a notification is about, or nil.
	About(m *wire.Message) json.RawMessage
	// PrepareCall, Job and RunningJobs are the functions of dialect.Abilities.
	PrepareCall(ctx context.Context, caller dialect.Caller, op dialect.Op) error
	Job(ctx context.Context, caller dialect.Caller, op dialect.Op) (dialect.Stream, error)
	RunningJobs() []string
	// Shutdown ends running work before the closing messages are sent.
	Shutdown(ctx context.Context, caller dialect.Caller) error

	// Mirror adds headers of msg, which is sent over HTTP, to headers, which contains those of the dialect file.
	Mirror(msg []byte, headers map[string]string)
	// Complete returns the final form of a hook's result for m, a request from the peer.
	Complete(m *wire.Message, result json.RawMessage) json.RawMessage
	// Listed returns the response to a method of [[describe]], without the entries that cannot be used.
	Listed(caller dialect.Caller, method string, answer json.RawMessage) json.RawMessage

	// Interim reports whether a response is not the result, for a reason other than [input].
	Interim(m *wire.Message) bool
	// Resume returns the stream that yields the result of op after an interim response m.
	Resume(ctx context.Context, caller dialect.Caller, op dialect.Op, m wire.Message) (dialect.Stream, error)
	// Failed reports whether to send op again after err, an error of the peer or of the connection. instead is a more specific error,
	// or nil to keep err.
	Failed(ctx context.Context, caller dialect.Caller, op dialect.Op, err error) (again bool, instead *wire.Error)
	// Unanswered returns the error of a call if no hook answers the request for input.
	Unanswered(method string, params json.RawMessage) error
}

// NoFlow is the Flow of dialect files without a native part.
type NoFlow struct{}

// These methods do nothing.
func (NoFlow) Mark(*dialect.Op)                                                 {}
func (NoFlow) Accompany(*dialect.Op) Companion                                  { return nil }
func (NoFlow) About(*wire.Message) json.RawMessage                              { return nil }
func (NoFlow) PrepareCall(context.Context, dialect.Caller, dialect.Op) error    { return nil }
func (NoFlow) RunningJobs() []string                                            { return nil }
func (NoFlow) Shutdown(context.Context, dialect.Caller) error                   { return nil }
func (NoFlow) Mirror([]byte, map[string]string)                                 {}
func (NoFlow) Complete(_ *wire.Message, result json.RawMessage) json.RawMessage { return result }
func (NoFlow) Interim(*wire.Message) bool                                       { return false }

// Unanswered names the missing hook.
func (NoFlow) Unanswered(method string, _ json.RawMessage) error {
	return &wire.Error{Message: "the peer requests " + method + " ([input]), which no hook answers", Hint: "a hook has to answer, such as --on " + method + "=ANSWER"}
}

// Job returns wire.ErrUnsupported.
func (NoFlow) Job(context.Context, dialect.Caller, dialect.Op) (dialect.Stream, error) {
	return nil, wire.ErrUnsupported
}

// Listed returns answer.
func (NoFlow) Listed(_ dialect.Caller, _ string, answer json.RawMessage) json.RawMessage {
	return answer
}

// Resume returns wire.ErrUnsupported.
func (NoFlow) Resume(context.Context, dialect.Caller, dialect.Op, wire.Message) (dialect.Stream, error) {
	return nil, wire.ErrUnsupported
}

// Failed returns false.
func (NoFlow) Failed(context.Context, dialect.Caller, dialect.Op, error) (again bool, instead *wire.Error) {
	return false, nil
}

// A Companion is the state of a Flow for one call.
type Companion interface {
	// Begins returns the name of the work that a response starts, or nil if the response is the result. If there is work, the call
	// continues, and receives the notifications about the work.
	Begins(m *wire.Message) json.RawMessage
	// Over runs when the call ends, or if it could not be sent.
	Over()
}

// Flow returns the connection's flow.
func (c *Codec) Flow() Flow { return c.flow }

// begins records the work that a response starts. It returns false if the response is the result.
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
	name := c.flow.About(m)
	if name == nil {
		return
	}
	for _, s := range c.calls {
		if s.works() && scan.Equal(s.result, name) {
			c.out = append(c.out, wire.Message{Kind: wire.Item, Beside: true, ID: s.id, Method: m.Method, Raw: m.Raw, Body: m.Params})
		}
	}
}

// HandshakeByUser reports whether the user makes a call of the handshake.
func (c *Codec) HandshakeByUser() bool { return c.own.step.Load() != nil }

// IsPlain reports whether calls of a method are never wrapped.
func (c *Codec) IsPlain(method string) bool { return c.d.Plain(method) }

// Described returns the peer's description of a method. It requests the description if necessary. It returns nil if the peer does
// not list the method.
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

// Unwrap replaces the result of a wrapped call in m with the result for the user.
func (c *Codec) Unwrap(m *wire.Message, method string, params json.RawMessage) error {
	s := &call{method: method, params: params}
	if rule := c.d.Page.Call; rule != nil {
		s.unwrap = unwrapping{rule.Result, rule.Error}
	}
	return c.unwrapped(m, s)
}
