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

// A Server is the answering side of a dialect. All connections of a listener share one Server, which holds all state
// that outlives a connection, such as jobs. It may own goroutines, which end before End returns.
type Server struct {
	// Accept returns the handler for one connection.
	Accept func(c Caller) Handler
	// End releases the state that outlives connections. It may be nil.
	End func() error
	// Reload notifies the clients that hooks and catalog were reloaded. It is nil if the dialect has no message for
	// that.
	Reload func()
	// Changed notifies the clients that have requested it that the catalog was replaced. It is nil if the dialect has no
	// message for that.
	Changed func()
	// Gets returns the paths for which the server's HTTP listener answers a GET, with their responses. about describes
	// the server. It may be nil.
	Gets func(about catalog.Info) wire.HTTPGets
	// the rules for POSTs that belong to no session, or nil
	Posts *wire.HTTPPosts
}

// Close ends the server after its handlers have ended.
func (s Server) Close() error {
	if s.End == nil {
		return nil
	}
	return s.End()
}

// A Handler answers the peer's requests, each in its own goroutine.
type Handler struct {
	// Handle may block, call back and emit events before it returns. Notifications arrive one at a time, in order.
	Handle func(ctx context.Context, in *Inbound) (json.RawMessage, error)
	// Close releases the handler's resources for its connection. It may be nil.
	Close func() error
	// Ignores reports, without blocking, whether Handle would answer a notification with "method not found". Handle
	// does not receive such notifications. Ignores must not wait for a lock, and is called by one goroutine at a time.
	// If it is nil, Handle receives all notifications.
	Ignores func(method string) bool
}

// A Backend answers requests independently of the dialect. wire/serve implements it.
type Backend interface {
	// Catalog returns the local catalog, or nil if the local side, such as a client, has none.
	Catalog() *catalog.Catalog
	// Bind returns the Responder for one connection. The Responder can call the peer through c.
	Bind(c Caller) Responder
	// Host returns the data of the backend for servers that do more than answer requests.
	Host() Host
}

// A Host is the part of a Backend other than its hooks. The zero value is usable.
type Host struct {
	Runtime Runtime // evaluates code, or nil
	HostOptions
	// Checked returns a Caller that wraps c and checks calls with the schemas that the peer declared for its methods:
	// it does not send a call with invalid params, and a call with an invalid result fails. If Checked is nil, calls
	// are not checked.
	Checked func(c Caller) Caller
}

// HostOptions are the settings of a server that simulates a host. The zero value is
// usable.
type HostOptions struct {
	Frame     time.Duration // the length of a simulated frame; 0 for the dialect's default
	Artifacts string        // the directory in which hooks write files for clients; "" for a temporary one

	MaxMessage int // the connection's limit for a message, in bytes; 0 if unknown

	InputTimeout time.Duration // how long a hook waits for answers from a disconnected client; 0 for the dialect's default
	StateKey     []byte        // seals the data that clients keep for hooks; nil for a random key
}

// A Runtime evaluates code, in independent sessions. Any number of sessions may evaluate at once; the caller runs one
// evaluation of a session at a time.
type Runtime interface {
	// Eval returns the value of e.Code, or nil if it has none. The error is a *wire.Error if the peer should receive it
	// unchanged, and an *EvalError if the code failed. Eval returns soon after ctx has ended.
	Eval(ctx context.Context, e Code) (json.RawMessage, error)
	// Forget discards the state of a session.
	Forget(session string)
	// About describes the runtime to peers: its language and engine.
	About() map[string]string
	// Completions returns the names that code can use, as far as the runtime knows.
	Completions() []string
	Close() error
}

// Code is one piece of code to evaluate, with its environment.
type Code struct {
	Session string
	Code    string
	Names   []string // the functions that the code can invoke by name
	// Invoke calls the function that the code names. Several goroutines may call it at once.
	Invoke func(ctx context.Context, name string, input json.RawMessage) (json.RawMessage, error)
	// Function returns a function value for a name that Invoke accepts, or nil if the peer itself answers calls of that
	// name. It may be nil.
	Function func(name string) json.RawMessage
	// Printed receives the output of the code, if the runtime can report it. It may be nil.
	Printed io.Writer
}

// An EvalError is a failure of the evaluated code.
type EvalError struct {
	Kind    string // "" if the dialect chooses the kind
	Message string
	Stack   string      // "" if there is none
	Compile bool        // the code never ran, because it has a syntax error
	Cause   *wire.Error // the error of the invocation that ended the evaluation, or nil
}

// Error returns Message.
func (e *EvalError) Error() string { return e.Message }

// A Responder answers the requests of one connection.
type Responder interface {
	// Kind returns the kind of a method, or false if the method has no hook.
	Kind(method string) (catalog.Kind, bool)
	// Respond answers one request. If r.Stream is true, the events go to r.Emit and the result is ignored. If the
	// failure is a *wire.Error, the peer gets it unchanged.
	Respond(ctx context.Context, r Request) (json.RawMessage, error)
	// Allows reports whether the policy allows calls of method.
	Allows(method string) bool
	// Denied reports whether the policy denies method by name, including methods that a dialect answers itself.
	Denied(method string) bool
	// ByPattern reports whether the hooks match method only by a pattern, not by name.
	ByPattern(method string) bool
	// HandshakeDone is called after the client's handshake, in dialects that have one, with the methods that the client
	// declares.
	HandshakeDone(answers []string)
	Close() error
}

// A Request is one call of the peer.
type Request struct {
	Method       string
	Params       json.RawMessage // nil if there are none
	ID           wire.ID         // nil for a notification
	Notification bool
	Stream       bool                   // the method streams: every output is an event
	Whole        bool                   // the items are collected into one answer, so the request has the time limit of a call
	Emit         func(wire.Event) error // never nil for a stream; otherwise it may be nil
	Vars         map[string]string      // further RPCX_ variables for a command
	// Input converts the checked params to the form for hooks. nil leaves them unchanged.
	Input func(params json.RawMessage) json.RawMessage
	// Begin is called before the hook runs, after the policy and the schemas have allowed the request. If it fails, the
	// request is answered with its error. It may be nil.
	Begin func() error
	// Checked returns the part of a result to check with the catalog, or nil to check nothing. If Checked is nil, the
	// whole result is checked.
	Checked func(result json.RawMessage) json.RawMessage
}

// ByPolicy is the Kind of the error with which a Responder refuses a call that its policy does not
// allow.
const ByPolicy = "policy"

// Describes reports whether b's catalog answers the request name for the catalog, although a pattern of hooks also
// matches that name, because the pattern stands for the methods in the catalog. A hook with exactly that name answers
// itself, and a catalog without methods answers nothing.
func Describes(b Backend, r Responder, name string) bool {
	c := b.Catalog()
	return c != nil && len(c.Methods) > 0 && r.ByPattern(name)
}

// Gather changes r, a request for a method that streams, so that its items are collected. gathered returns an array of
// the items, of at most most bytes, for the result of Respond. It is for clients that cannot receive items one by one.
// A hook that does not end is stopped after the time limit of a call.
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

// LastOf changes r so that its answer is the result of Respond or, if there is none, the last data that was emitted, as
// for a job. last computes the answer from the result of Respond. others receives all other events; if it is nil, they
// are dropped.
func LastOf(r *Request, others func(wire.Event) error) (last func(json.RawMessage, error) (json.RawMessage, error)) {
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
	return func(result json.RawMessage, err error) (json.RawMessage, error) {
		result = scan.Or(result, data)
		return result, err
	}
}

// Unknown returns the error response for a method that b does not offer. Its data names the most similar method that b
// describes.
func Unknown(b Backend, method string) error {
	e := wire.Errorf(wire.CodeNoMethod, "method not found: %s", method)
	if c := b.Catalog(); c != nil {
		if near := catalog.Nearest(method, c.Names()); near != "" {
			return e.WithData(map[string]string{"nearest": near})
		}
	}
	return e
}

// Discover returns the result of the method with which a peer describes itself, or wire.ErrUnsupported if the peer does
// not have that method.
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
