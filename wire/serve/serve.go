// Package serve answers a dialect's requests with hooks, as a policy allows and a catalog describes. It also contains the
// embedded demos, which are data.
package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/hook"
	"rpcx/wire/scan"
)

// Options are the parts with which a backend answers.
type Options struct {
	Catalog *catalog.Catalog // nil if nothing is described or checked
	Hooks   *hook.Table      // nil if nothing is answered
	// Allow and Deny are patterns of method names, in which "*" stands for any characters. Deny takes precedence. If
	// Allow is set, everything else is denied.
	Allow, Deny []string
	// Name returns the name of a catalog's method for hooks and the policy. Requests also have that name. nil keeps the
	// name.
	Name    func(method string) string
	Runtime dialect.Runtime     // evaluates code, or nil
	Hosting dialect.HostOptions // how a host with its own clock and files runs
	Check   bool                // params and results are checked with the catalog's schemas
	Tell    bool                // the peer may request the catalog
	// Warn receives one line for the user. It may be nil.
	Warn func(line string)
	// TalkBack returns a function that gives the hooks of one connection the endpoint that leads back to the
	// connection. suspend releases the slot of a hook that waits for a nested call. It may be nil.
	TalkBack func(c dialect.Caller, hooks dialect.Commands) func() (string, error)
	// OnBind receives, for each bound connection, the function that starts its --on-open hook. It may be nil.
	OnBind func(c dialect.Caller, open func())
	// OnClose is called when the hooks of a connection have ended. It may be nil.
	OnClose func(c dialect.Caller)
}

// New returns the backend for any dialect's server.
func New(o Options) dialect.Backend {
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	if o.Name == nil {
		o.Name = func(method string) string { return method }
	}
	return &backend{o: o, methods: map[string]*method{}, published: sync.OnceValue(func() *catalog.Catalog { return publish(o) })}
}

type backend struct {
	o         Options
	published func() *catalog.Catalog

	mu      sync.Mutex
	doc     json.RawMessage // the catalog as the schemas' document, made when first needed
	methods map[string]*method
}

// Catalog returns the catalog for the peer: without run members and without denied methods.
func (b *backend) Catalog() *catalog.Catalog { return b.published() }

// Host returns the evaluator of code, and how a host with its own clock and files runs.
func (b *backend) Host() dialect.Host {
	return dialect.Host{Runtime: b.o.Runtime, HostOptions: b.o.Hosting, Checked: b.Checked}
}

func publish(o Options) *catalog.Catalog {
	if !o.Tell || o.Catalog == nil {
		return nil
	}
	c := o.Catalog.Clone()
	catalog.StripRun(c)
	kept := c.Methods[:0]
	for _, m := range c.Methods {
		if o.allows(o.Name(m.Name)) {
			kept = append(kept, m)
		}
	}
	c.Methods = kept
	c.Classes = slices.DeleteFunc(c.Classes, func(class json.RawMessage) bool {
		name, ok := scan.Text(scan.Get(class, "name"))
		return ok && !o.allowsClass(name)
	})
	return c
}

// Bind returns the responder for one connection.
func (b *backend) Bind(c dialect.Caller) dialect.Responder {
	about := c.Connection()
	r := &responder{b: b, caller: c, client: about.Name}
	if b.o.Hooks == nil {
		return r
	}
	binding := hook.Binding{Caller: b.Checked(c), Client: r.client, SingleExchange: about.SingleExchange}
	if b.o.TalkBack != nil {
		binding.Endpoint = b.o.TalkBack(c, r)
	}
	r.bound = b.o.Hooks.Bind(binding)
	if b.o.OnBind != nil {
		b.o.OnBind(c, r.bound.Open)
	}
	return r
}

// Suspend and Request implement dialect.Commands.
func (r *responder) Suspend(hook string) (resume func()) { return r.bound.Suspend(hook) }

func (r *responder) Request(hook string) wire.ID { return r.bound.Request(hook) }

// A responder answers on one connection.
type responder struct {
	b      *backend
	caller dialect.Caller
	bound  *hook.ConnectionHooks // nil if there are no hooks
	client string                // its name in warnings; "" for the only one
}

// Kind returns how name is answered. A denied method has a kind, and is refused rather than unknown. A method
// that Allow excludes and that has no hook is left to the dialect, because it may be the dialect's own, such as the end
// of a stream.
func (r *responder) Kind(name string) (catalog.Kind, bool) {
	o := r.b.o
	match := o.Hooks != nil && o.Hooks.Match(name)
	switch {
	case some(o.Deny, name), match && !o.allows(name):
		return catalog.Call, true
	case !match:
		return "", false
	}
	if m := r.b.method(name); m != nil && m.entry.Kind != "" {
		return m.entry.Kind, true
	}
	if o.Hooks.Streams(name) {
		return catalog.Stream, true
	}
	return catalog.Call, true
}

// Denied reports whether the policy refuses name outright, for methods that a dialect answers itself.
func (r *responder) Denied(name string) bool { return some(r.b.o.Deny, name) }

// HandshakeDone does nothing.
func (r *responder) HandshakeDone([]string) {}

// ByPattern reports whether a pattern among the hooks matches name, and no hook has exactly that name. It is false for
// methods that the policy refuses outright.
func (r *responder) ByPattern(name string) bool {
	hooks := r.b.o.Hooks
	return hooks != nil && hooks.Match(name) && !slices.Contains(hooks.Names(), name) && !r.Denied(name)
}

// Respond answers one request, in the order policy, params, hook, result.
func (r *responder) Respond(ctx context.Context, req dialect.Request) (json.RawMessage, error) {
	if !r.b.o.allows(req.Method) {
		e := wire.NewError(wire.CodeRefused, "refused by policy").WithData(map[string]string{"method": req.Method})
		e.Kind = dialect.ByPolicy
		return nil, e
	}
	if r.bound == nil {
		return nil, wire.NewError(wire.CodeNoMethod, "method not found")
	}
	m := r.b.method(req.Method)
	if err := r.admit(ctx, m, &req); err != nil {
		return nil, err
	}
	if m == nil {
		return r.bound.Answer(ctx, req)
	}
	if emit := req.Emit; emit != nil {
		req.Emit = func(ev wire.Event) error {
			if err := m.event(ctx, &req, ev); err != nil {
				return r.checked(err)
			}
			return emit(ev)
		}
	}
	result, err := r.bound.Answer(ctx, req)
	if err != nil || req.Stream || req.Notification {
		return result, err
	}
	return result, r.checked(m.result(ctx, &req, "the result", result))
}

// checked prints a warning for hook output that does not match the catalog. The peer only learns that the output was
// wrong.
func (r *responder) checked(err error) error {
	var unfit *unfitError
	if !errors.As(err, &unfit) {
		return err
	}
	r.bound.Failed(unfit.method, err.Error())
	return wire.NewError(wire.CodeInternal, unfit.what+" does not fit the catalog")
}

// warn prints a warning about this connection.
func (r *responder) warn(text string) {
	if r.client != "" {
		text = r.client + ": " + text
	}
	r.b.o.Warn(text)
}

// admit checks the params of req and converts them for hooks. m may be nil.
func (r *responder) admit(ctx context.Context, m *method, req *dialect.Request) (err error) {
	if m != nil {
		req.Params, err = m.input(ctx, req.Params)
	}
	if err != nil && req.Notification {
		r.warn(fmt.Sprintf("notification %s: %v", req.Method, err))
	}
	if err == nil && req.Begin != nil {
		err = req.Begin()
	}
	if err == nil && req.Input != nil {
		req.Params = req.Input(req.Params)
	}
	return err
}

// Close ends the hooks that run for this connection.
func (r *responder) Close() error {
	if r.b.o.OnClose != nil {
		defer r.b.o.OnClose(r.caller)
	}
	if r.bound == nil {
		return nil
	}
	return r.bound.Close()
}

// A Changing is a backend whose catalog can be replaced.
type Changing struct {
	o   Options
	now atomic.Pointer[backend]
}

// NewChanging returns New(o) as a Changing.
func NewChanging(o Options) *Changing {
	c := &Changing{o: o}
	c.Update(o.Catalog)
	return c
}

// Update replaces the catalog, for the connections that are bound from now on.
func (c *Changing) Update(to *catalog.Catalog) {
	o := c.o
	o.Catalog = to
	c.now.Store(New(o).(*backend))
}

// Catalog is that of dialect.Backend.
func (c *Changing) Catalog() *catalog.Catalog { return c.now.Load().Catalog() }

// Bind is that of dialect.Backend.
func (c *Changing) Bind(caller dialect.Caller) dialect.Responder { return c.now.Load().Bind(caller) }

// Host is that of dialect.Backend.
func (c *Changing) Host() dialect.Host { return c.now.Load().Host() }
