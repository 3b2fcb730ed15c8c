package dialect

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
)

// A Server is a dialect's other side, shared by all connections of a listener:
// what outlives one connection lives in it. It may own goroutines, which end in
// Close.
type Server interface {
	// Accept returns the handler for one connection.
	Accept(c Caller) Handler
	Close() error
}

// A Backend is what answers, in the terms of no dialect. wire/serve gives it.
type Backend interface {
	// Catalog is what we offer; nil when we tell nobody (a client's role).
	Catalog() *catalog.Catalog
	// Bind returns the responder for one connection; c leads back to its far
	// side.
	Bind(c Caller) Responder
}

// An Evaluator is a Backend that may have a Runtime, which is nil where it has
// none.
type Evaluator interface {
	Runtime() Runtime
}

// A Hoster is a Backend that says how a host runs that has a clock and files of
// its own.
type Hoster interface {
	Hosting() Hosting
}

// Hosting is what a user says of such a host. The zero value is usable.
type Hosting struct {
	Frame     time.Duration // how long a simulated frame is; 0: the dialect's usual one
	Artifacts string        // the folder in which hooks write files for clients; "": one of the host's own

	MaxMessage int // the greatest message that the connection lets through; 0: not known
}

// A Reloader is a Server that can be told that what it is made of was loaded
// again.
type Reloader interface {
	Reload()
}

// A Completer is a Runtime that knows names that code can use.
type Completer interface {
	Completions() []string
}

// A Runtime evaluates code, in sessions that know nothing of each other. Any
// number of sessions may evaluate at once; of one session the caller lets one
// evaluation run at a time.
type Runtime interface {
	// Eval returns the value of e.Code. A failure is a *wire.Error where the far
	// side should get it as it stands, an *EvalError where the code is at fault.
	// When ctx ends it returns soon.
	Eval(ctx context.Context, e Evaluation) (json.RawMessage, error)
	// Forget drops the state of a session.
	Forget(session string)
	// About is what is told of it: its language and its engine.
	About() map[string]string
	Close() error
}

// An Evaluation is one piece of code.
type Evaluation struct {
	Session string
	Code    string
	Names   []string // what the code can invoke by name
	// Invoke calls what the code names; it may be called by several goroutines.
	Invoke func(ctx context.Context, name string, input json.RawMessage) (json.RawMessage, error)
	// Function makes a function value of a name that Invoke takes. May be nil.
	Function func(name string) json.RawMessage
	// Printed gets what the code prints, where the runtime can tell. May be nil.
	Printed io.Writer
}

// An EvalError is how code failed.
type EvalError struct {
	Kind    string // "": the dialect's word for it
	Message string
	Stack   string      // "": none
	Compile bool        // it never ran: it is no code of the runtime's language
	Cause   *wire.Error // what an invoke was answered with, where that ended the evaluation; else nil
}

// Error is the message.
func (e *EvalError) Error() string { return e.Message }

// A Responder answers the requests of one connection.
type Responder interface {
	// Kind says how method is answered; false when nothing answers it.
	Kind(method string) (catalog.Kind, bool)
	// Respond answers one request. Where r.Stream is true the events go to
	// r.Emit and the result is dropped. A failure is a *wire.Error where it
	// should reach the far side as it stands.
	Respond(ctx context.Context, r Request) (json.RawMessage, error)
	Close() error
}

// A Request is one call of the far side.
type Request struct {
	Method       string
	Params       json.RawMessage // nil: none
	ID           wire.ID         // nil for a notification
	Notification bool
	Stream       bool                   // the method streams: every output is an event
	Emit         func(wire.Event) error // never nil for a stream; may be nil elsewhere
	Vars         map[string]string      // further RPCX_ variables for a command
	// Input makes of params, checked, what a hook gets; nil: the params.
	Input func(params json.RawMessage) json.RawMessage
	// Begin is called when policy and schemas have let the request pass, before
	// anything runs; its error is the answer. May be nil.
	Begin func() error
}

// ByPolicy is the Kind of an error with which a Responder refuses what its
// policy does not allow.
const ByPolicy = "policy"
