package dialect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// A Server is the answering side of a dialect. All connections of a listener share one Server, which owns the state
// that outlives a connection, such as jobs. Its goroutines end before End returns.
type Server struct {
	// Accept returns the handler for one connection.
	Accept func(c Caller) Handler
	// End releases the Server's state. It may be nil.
	End func() error
	// Reload notifies the clients that hooks and catalog were reloaded. It is nil if the dialect has no message for
	// that.
	Reload func()
	// Changed notifies clients of a new catalog if they requested such notifications. It is nil if the dialect has no
	// message for that.
	Changed func()
	// Gets returns the paths and responses for GET requests to the server's HTTP listener. about describes the server.
	// Gets may be nil.
	Gets func(about catalog.Info) wire.HTTPGets
	// Posts contains the rules for POST requests outside sessions. It may be nil.
	Posts *wire.HTTPPosts
}

// Close ends the server after its handlers have ended.
func (s Server) Close() error {
	if s.End == nil {
		return nil
	}
	return s.End()
}

// A Handler answers the peer's requests.
type Handler struct {
	// Handle runs in its own goroutine for each request. It may block, call the peer and emit events. Notifications
	// arrive one at a time, in order.
	Handle func(ctx context.Context, in *Inbound) (json.RawMessage, error)
	// Close releases the handler's resources. It may be nil.
	Close func() error
	// Ignores reports whether Handle would answer a notification with "method not found". Handle does not receive such
	// notifications. Ignores must not block or wait for a lock. Only Connection.Ask calls it concurrently. If it is nil,
	// Handle receives all notifications.
	Ignores func(method string) bool
	// Starts is called for each request before Handle, in the order of the requests. It must not block or wait for a
	// lock. It may be nil.
	Starts func(in *Inbound)
}

// A Backend answers requests of any dialect. Package wire/serve implements it.
type Backend interface {
	// Catalog returns the local catalog, or nil. A client usually has none.
	Catalog() *catalog.Catalog
	// Bind returns the Responder for one connection, which can call the peer through c.
	Bind(c Caller) Responder
	// Host returns the data for servers that do more than answer requests.
	Host() Host
}

// A Host is the part of a Backend without its hooks. The zero value is usable.
type Host struct {
	Runtime Runtime // evaluates code; may be nil
	HostOptions
	// Checked returns a Caller that checks calls against the schemas that the peer declared. It does not send a call with
	// invalid params, and fails a call with an invalid result. If Checked is nil, there are no checks.
	Checked func(c Caller) Caller
}

// HostOptions configure a server that simulates a host. The zero value is usable.
type HostOptions struct {
	Frame     time.Duration // the length of a simulated frame; 0 is the dialect's default
	Artifacts string        // the directory for files that hooks write for clients; "" for a temporary one

	MaxMessage int // bounds a message in bytes; 0 if unknown

	InputTimeout time.Duration // bounds how long a hook waits for a disconnected client; 0 is the dialect's default
	StateKey     []byte        // seals the data that clients store for hooks; nil for a random key
}

// A Runtime evaluates code in independent sessions. Evaluations of different sessions may be concurrent. The caller
// runs one evaluation of a session at a time.
type Runtime interface {
	// Eval returns the value of e.Code, or nil for code without a value. It returns a *wire.Error that the peer
	// receives unchanged, or an *EvalError if the code failed. It returns soon after the end of ctx.
	Eval(ctx context.Context, e Code) (json.RawMessage, error)
	// Forget discards the state of a session.
	Forget(session string)
	// About describes the runtime's language and engine to peers.
	About() map[string]string
	// Completions returns the names that can complete code.
	Completions() []string
	Close() error
}

// A Code is code to evaluate, with its environment.
type Code struct {
	Session string
	Code    string
	Names   []string // the functions that the code can call by name
	// Invoke calls a function by name. It is safe for concurrent use.
	Invoke func(ctx context.Context, name string, input json.RawMessage) (json.RawMessage, error)
	// Function returns a function value for a name that Invoke accepts, or nil if the peer answers such calls itself.
	// It may be nil.
	Function func(name string) json.RawMessage
	// Printed receives the output of the code if the runtime reports it. It may be nil.
	Printed io.Writer
}

// An EvalError is a failure of the evaluated code.
type EvalError struct {
	Kind    string // "" lets the dialect choose
	Message string
	Stack   string
	Compile bool        // the code did not run because of a syntax error
	Cause   *wire.Error // the error of the invocation that ended the evaluation, or nil
}

// Error returns Message.
func (e *EvalError) Error() string { return e.Message }

// A Responder answers the requests of one connection.
type Responder interface {
	// Kind returns the kind of a method. It returns false for a method without a hook.
	Kind(method string) (catalog.Kind, bool)
	// Respond answers one request. If r.Stream is true, r.Emit receives the events and the result is ignored. The peer
	// receives a *wire.Error unchanged.
	Respond(ctx context.Context, r Request) (json.RawMessage, error)
	// Allows reports whether the policy allows calls of method.
	Allows(method string) bool
	// Denied reports whether the policy denies method by name, even if a dialect answers the method itself.
	Denied(method string) bool
	// ByPattern reports whether hooks match method only by a pattern.
	ByPattern(method string) bool
	// HandshakeDone runs after the client's handshake, with the methods that the client declares. Only dialects with a
	// handshake call it.
	HandshakeDone(answers []string)
	Close() error
}

// A Request is one call of the peer.
type Request struct {
	Method       string
	Params       json.RawMessage // may be nil
	ID           wire.ID         // nil for a notification
	Notification bool
	Refused      func()                 // called if the hook of a notification fails; may be nil
	Claimed      bool                   // see wire.Message
	Wrapped      bool                   // another request contained the method
	Stream       bool                   // the method streams: every output is an event
	Whole        bool                   // the items become one answer, which has the time limit of a call
	Emit         func(wire.Event) error // never nil for a stream
	Vars         map[string]string      // additional RPCX_ variables for commands
	// Input converts checked params to the form for hooks. It may be nil.
	Input func(params json.RawMessage) json.RawMessage
	// Begin runs before the hook, after the policy and the schemas have allowed the request. Its error is the response.
	// It may be nil.
	Begin func() error
	// Checked returns the part of a result to check against the catalog, or nil for none. By default, the whole result is
	// checked.
	Checked func(result json.RawMessage) json.RawMessage
}

// ByPolicy is the Kind of a Responder's error for a call that its policy denies.
const ByPolicy = "policy"

// Describes reports whether b's catalog answers a request for the method name even though a hook's pattern matches
// name. Such a pattern stands for the methods of the catalog. A hook with exactly that name answers the request itself.
// A catalog without methods answers nothing.
func Describes(b Backend, r Responder, name string) bool {
	c := b.Catalog()
	return c != nil && len(c.Methods) > 0 && r.ByPattern(name)
}

// Gather makes r, a request for a streaming method, collect the items, for clients that cannot receive single items.
// The hook then has the time limit of a call. gathered converts the results of Respond to an array of the items. most
// bounds the size of the array in bytes; a longer array is an error.
func Gather(r *Request, most int) (gathered func(json.RawMessage, error) (json.RawMessage, error)) {
	items := []byte("[")
	var failed error
	r.Stream, r.Whole = true, true
	r.Emit = func(ev wire.Event) error {
		switch {
		case failed != nil:
			return failed
		case ev.Kind == wire.Failure && ev.Err != nil && ev.Extra == nil: // the last item
			failed = ev.Err
		case ev.Kind == wire.Data:
			item := scan.OrNull(ev.Data)
			if len(items)+len(item) > most {
				failed = wire.NewError(wire.CodeServer, fmt.Sprintf("the items are longer than %d bytes in total", most))
				return failed
			}
			if len(items) > 1 {
				items = append(items, ',')
			}
			items = append(items, item...)
		}
		return nil
	}
	return func(result json.RawMessage, err error) (json.RawMessage, error) {
		if failed != nil {
			return nil, failed
		}
		if err != nil {
			return nil, err
		}
		return append(items, ']'), nil
	}
}

// LastOf returns the result of respond for r or, without a result, the last emitted data, as for a job. others receives all
// events except data. It may be nil.
func LastOf(ctx context.Context, respond func(context.Context, Request) (json.RawMessage, error), r Request, others func(wire.Event) error) (json.RawMessage, error) {
	var data json.RawMessage
	r.Emit = func(ev wire.Event) error {
		switch {
		case ev.Kind == wire.Data:
			data = ev.Data
		case others != nil:
			return others(ev)
		}
		return nil
	}
	result, err := respond(ctx, r)
	return scan.Or(result, data), err
}

// Unknown returns the error response for a method that b does not offer. Its data names the most similar method of b.
func Unknown(b Backend, method string) error {
	return WithNearest(wire.Errorf(wire.CodeNoMethod, "method not found: %s", method), method, b.Catalog().Names())
}

// WithNearest adds to e, the error for an unknown name, the most similar one of names, if any.
func WithNearest(e *wire.Error, name string, names []string) *wire.Error {
	if near := catalog.Nearest(name, names); near != "" {
		return e.WithData(map[string]string{"nearest": near})
	}
	return e
}

// Discover calls the method with which peers describe themselves and returns its result. It returns wire.ErrUnsupported
// if the peer lacks the method.
func Discover(ctx context.Context, caller Caller, method string) (json.RawMessage, error) {
	doc, err := caller.Call(ctx, method, nil)
	if e, ok := errors.AsType[*wire.Error](err); ok && string(e.Code) == "-32601" {
		err = wire.ErrUnsupported
	}
	return doc, err
}

// Fraction returns the completed part of a job, from 0 to 1, if val is such a number or a percentage. Otherwise it
// returns nil.
func Fraction(val json.RawMessage) json.RawMessage {
	f, err := strconv.ParseFloat(string(val), 64)
	switch {
	case err != nil || f < 0 || f > 100:
		return nil
	case f > 1:
		return strconv.AppendFloat(nil, f/100, 'f', -1, 64)
	}
	return val
}
