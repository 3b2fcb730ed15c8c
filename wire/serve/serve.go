// Package serve answers a dialect's requests with hooks, within a policy and a catalog. It also contains the embedded
// demos, which are data.
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

// Options configure a Backend.
type Options struct {
	Catalog *catalog.Catalog // describes and checks methods; may be nil
	Hooks   *hook.Table
	// Allow and Deny are patterns of method names, in which "*" matches any characters. Deny takes precedence over
	// Allow. If Allow is set, all other methods are denied.
	Allow, Deny []string
	// Name returns the name that hooks, the policy and requests use for a method of the catalog. By default, it is the
	// same name.
	Name         func(method string) string
	Runtime      dialect.Runtime     // evaluates code; may be nil
	Hosting      dialect.HostOptions // settings of a host that has its own clock and files
	Check        bool                // params and results are checked with the catalog's schemas
	Discoverable bool                // the peer may request the catalog
	// Warn receives lines for the user. It may be nil.
	Warn func(line string)
	// CallbackEndpoint returns the endpoint at which the hooks of a connection can call the peer. hooks suspends a hook
	// that waits for its call. CallbackEndpoint may be nil.
	CallbackEndpoint func(c dialect.Caller, hooks dialect.Commands) (string, error)
	// OnBind receives, for each new connection, the function that starts its --on-open hook. It may be nil.
	OnBind func(c dialect.Caller, open func())
	// OnClose runs when the hooks of a connection have ended. It may be nil.
	OnClose func(c dialect.Caller)
}

// A Backend answers the requests of the server of any dialect. Its catalog can change.
type Backend struct {
	o   Options
	now atomic.Pointer[backend]
}

// New returns a Backend.
func New(o Options) *Backend {
	b := &Backend{o: o}
	b.Update(o.Catalog)
	return b
}

// Update replaces the catalog that new connections use.
func (b *Backend) Update(to *catalog.Catalog) {
	o := b.o
	o.Catalog = to
	b.now.Store(newBackend(o))
}

// Catalog returns the catalog that peers can request, without run members and denied methods.
func (b *Backend) Catalog() *catalog.Catalog { return b.now.Load().published() }

// Host returns the evaluator of code, and the settings of a host that has its own clock and files.
func (b *Backend) Host() dialect.Host {
	return dialect.Host{Runtime: b.o.Runtime, HostOptions: b.o.Hosting, Checked: b.now.Load().Checked}
}

// Bind returns the responder for one connection.
func (b *Backend) Bind(c dialect.Caller) dialect.Responder { return b.now.Load().bind(c) }

// A backend is a Backend with one catalog.
type backend struct {
	o         Options
	published func() *catalog.Catalog

	mu      sync.Mutex
	doc     json.RawMessage // the catalog as the document of its schemas, created when it is first used
	methods map[string]*method
}

func newBackend(o Options) *backend {
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	if o.Name == nil {
		o.Name = func(method string) string { return method }
	}
	return &backend{o: o, methods: map[string]*method{}, published: sync.OnceValue(func() *catalog.Catalog { return publish(o) })}
}

func publish(o Options) *catalog.Catalog {
	if !o.Discoverable || o.Catalog == nil {
		return nil
	}
	c := o.Catalog.Clone()
	catalog.StripRun(c)
	c.Methods = slices.DeleteFunc(c.Methods, func(m catalog.Method) bool { return !o.allows(o.Name(m.Name)) })
	c.Classes = slices.DeleteFunc(c.Classes, func(class json.RawMessage) bool {
		name, ok := scan.Text(scan.Get(class, "name"))
		return ok && !o.allowsClass(name)
	})
	return c
}

func (b *backend) bind(c dialect.Caller) dialect.Responder {
	about := c.Connection()
	r := &responder{b: b, caller: c, client: about.Name}
	binding := hook.Binding{Caller: b.Checked(c), Client: r.client, SingleExchange: about.SingleExchange}
	if b.o.CallbackEndpoint != nil {
		binding.Endpoint = func() (string, error) { return b.o.CallbackEndpoint(c, r.bound) }
	}
	r.bound = b.o.Hooks.Bind(binding)
	if b.o.OnBind != nil {
		b.o.OnBind(c, r.bound.Open)
	}
	return r
}

// A responder answers requests on one connection.
type responder struct {
	b      *backend
	caller dialect.Caller
	bound  *hook.ConnectionHooks
	client string // the client's name in warnings, or "" if it is the only client
}

// Kind returns the kind of method as which requests for name are answered. A denied method has a kind, so it is refused
// and not unknown. A method that has no hook and that Allow excludes is left to the dialect, which may implement it,
// such as the end of a stream.
func (r *responder) Kind(name string) (catalog.Kind, bool) {
	o := r.b.o
	match := o.Hooks.Match(name)
	switch {
	case some(o.Deny, name), match && !o.allows(name):
		return catalog.Call, true
	case !match:
		return "", false
	}
	if m := r.b.method(name); m != nil && m.entry.Kind != "" {
		return m.entry.Kind, true
	}
	if o.Hooks.Kind(name) == hook.Lines { // such a method is a stream unless the catalog describes it differently
		return catalog.Stream, true
	}
	return catalog.Call, true
}

// Denied reports whether Deny contains name. It is for methods that a dialect implements itself.
func (r *responder) Denied(name string) bool { return some(r.b.o.Deny, name) }

// HandshakeDone does nothing.
func (r *responder) HandshakeDone([]string) {}

// ByPattern reports whether name matches no hook by its full name, but one by a pattern. It returns false for methods
// in Deny.
func (r *responder) ByPattern(name string) bool {
	hooks := r.b.o.Hooks
	return hooks.Match(name) && !slices.Contains(hooks.Names(), name) && !r.Denied(name)
}

// Respond answers one request: it applies the policy, checks the params, runs the hook and checks the result.
func (r *responder) Respond(ctx context.Context, req dialect.Request) (json.RawMessage, error) {
	if !r.b.o.allows(req.Method) {
		e := wire.NewError(wire.CodeRefused, "refused by policy").WithData(map[string]string{"method": req.Method})
		e.Kind = dialect.ByPolicy
		return nil, e
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

// checked warns about hook output that does not match the catalog, and returns an error without details for the peer.
func (r *responder) checked(err error) error {
	unfit, ok := errors.AsType[*unfitError](err)
	if !ok {
		return err
	}
	r.bound.Failed(unfit.method, err.Error())
	return wire.NewError(wire.CodeInternal, unfit.what+" does not match the catalog")
}

// warn prints a warning that names the client of this connection.
func (r *responder) warn(text string) {
	if r.client != "" {
		text = r.client + ": " + text
	}
	r.b.o.Warn(text)
}

// admit checks the params of req, and converts them to the form for hooks. m may be nil.
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

// Close ends the hooks of this connection.
func (r *responder) Close() error {
	if r.b.o.OnClose != nil {
		defer r.b.o.OnClose(r.caller)
	}
	return r.bound.Close()
}
