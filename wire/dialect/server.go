package dialect

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
)

// A Server answers as a dialect's other side. All connections of a listener share
// one, which holds what outlives a connection, such as jobs. It may own
// goroutines, which end before Close returns.
type Server interface {
	// Accept returns the handler for one connection.
	Accept(c Caller) Handler
	Close() error
}

// A Backend answers requests independently of the dialect; wire/serve implements
// it.
type Backend interface {
	// Catalog returns what we offer; nil if peers are told nothing, as when we are
	// the client.
	Catalog() *catalog.Catalog
	// Bind returns the Responder for one connection. It can call the peer by c.
	Bind(c Caller) Responder
}

// An Evaluator is a Backend that can evaluate code.
type Evaluator interface {
	// Runtime returns what evaluates; nil if nothing does.
	Runtime() Runtime
}

// A CallChecker is a Backend that holds calls against what the far side declared
// of what it answers.
type CallChecker interface {
	// Checked is c, whose calls do not go out where their input does not fit, and
	// fail where their result does not.
	Checked(c Caller) Caller
}

// A HostConfigurer is a Backend that has settings for dialects whose server has a
// clock or files.
type HostConfigurer interface {
	HostOptions() HostOptions
}

// HostOptions are the settings of a server that simulates a host. The zero value is
// usable.
type HostOptions struct {
	Frame     time.Duration // the length of a simulated frame; 0: the dialect's default
	Artifacts string        // the folder in which hooks write files for clients; "": a temporary one

	MaxMessage int // the connection's limit for a message, in bytes; 0: not known
}

// A Reloader is a Server whose clients must hear that its hooks and catalog
// were loaded again. It is optional: most dialects have no message for that,
// and HotRepl has one (assembly_reload).
type Reloader interface {
	Reload()
}

// A Getter is a Server whose listener, over HTTP, answers a GET of some paths, beside what is
// spoken with it. It is optional.
type Getter interface {
	// Gets returns the paths; about says who answers.
	Gets(about catalog.Info) wire.HTTPGets
}

// A Completer is a Runtime that knows which names code can use.
type Completer interface {
	Completions() []string
}

// A Runtime evaluates code, in sessions that know nothing of each other. Any
// number of sessions may evaluate at once; of one session the caller lets one
// evaluation run at a time.
type Runtime interface {
	// Eval returns the value of e.Code, nil where it has none. A failure is a
	// *wire.Error where the far side should get it as it stands, an *EvalError
	// where the code is at fault. When ctx ends it returns soon.
	Eval(ctx context.Context, e Evaluation) (json.RawMessage, error)
	// Forget drops the state of a session.
	Forget(session string)
	// About describes the runtime to peers: language and engine.
	About() map[string]string
	Close() error
}

// An Evaluation is one piece of code.
type Evaluation struct {
	Session string
	Code    string
	Names   []string // the functions that the code can invoke by name
	// Invoke calls what the code names; it may be called by several goroutines.
	Invoke func(ctx context.Context, name string, input json.RawMessage) (json.RawMessage, error)
	// Function makes a function value of a name that Invoke takes; nil of one that
	// the far side answers itself. May be nil.
	Function func(name string) json.RawMessage
	// Printed receives what the code prints, if the runtime can tell. May be nil.
	Printed io.Writer
}

// An EvalError is a failure of the evaluated code.
type EvalError struct {
	Kind    string // "": the dialect chooses
	Message string
	Stack   string      // "": none
	Compile bool        // the code never ran, because it has a syntax error
	Cause   *wire.Error // the error of an invoke that ended the evaluation; else nil
}

// Error returns Message.
func (e *EvalError) Error() string { return e.Message }

// A Responder answers the requests of one connection.
type Responder interface {
	// Kind returns how method is answered; false if nothing answers it.
	Kind(method string) (catalog.Kind, bool)
	// Respond answers one request. If r.Stream is true the events go to r.Emit
	// and the result is dropped. A failure that the peer should get as it stands
	// is a *wire.Error.
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
	Whole        bool                   // a stream's items are awaited as one: it may take no longer than a call
	Emit         func(wire.Event) error // never nil for a stream; may be nil elsewhere
	Vars         map[string]string      // further RPCX_ variables for a command
	// Input makes of params, checked, what a hook gets; nil: the params.
	Input func(params json.RawMessage) json.RawMessage
	// Begin is called when policy and schemas have let the request pass, before
	// anything runs; its error is the answer. May be nil.
	Begin func() error
	// Checked returns what of a result is held against the catalog, nil for
	// nothing of it. Without it all of it is.
	Checked func(result json.RawMessage) json.RawMessage
}

// ByPolicy is the Kind of an error with which a Responder refuses what its
// policy does not allow.
const ByPolicy = "policy"
