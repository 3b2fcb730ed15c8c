package session

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/all"
	"rpcx/wire/endpoint"
	"rpcx/wire/hook"
	"rpcx/wire/scan"
	"rpcx/wire/serve"
	"rpcx/wire/session/relay"
)

// A responder answers requests from the peer with hooks and, on a server, with a catalog. It receives those requests
// that the dialect's server does not answer itself. All connections of a listener share one responder.
type responder struct {
	spec     dialect.Spec
	endpoint endpoint.Endpoint
	table    *hook.Table
	server   dialect.Server
	backend  *serve.Backend
	upstream func(c dialect.Caller) relay.Backend // returns the backend that the hooks on c's connection can call
	funcs    *relay.Functions
	runtime  dialect.Runtime // may be nil

	mu      sync.Mutex
	sockets map[dialect.Caller]*relay.Socket // the socket that hooks use, for each connection; nil after it was closed
	opening map[dialect.Caller]func()        // the functions that run --on-open, for each connection that is not open yet (see Opened)
	failed  error
}

// newResponder returns a responder. serving is set for a server, which describes its methods to clients.
func newResponder(spec dialect.Spec, e endpoint.Endpoint, o Options, serving bool) (*responder, error) {
	s := &responder{spec: spec, endpoint: e, sockets: map[dialect.Caller]*relay.Socket{}, opening: map[dialect.Caller]func(){}, funcs: &relay.Functions{}}
	if o.Shared != nil {
		s.funcs = o.Shared.Functions
	}
	s.upstream = func(c dialect.Caller) relay.Backend { return relay.PeerBackend{Caller: c, Codec: c.Connection().Codec} }
	ho := o.Hook
	ho.Dialect, ho.Hurry = spec.Name, o.Hurry
	next := ho.OnFailure
	ho.OnFailure = func(method string, err error) {
		s.mu.Lock()
		s.failed = cmp.Or(s.failed, err)
		s.mu.Unlock()
		if next != nil {
			next(method, err)
		}
	}
	var err error
	if s.table, err = hook.NewTable(ho, forHooks(spec, o.Hooks)...); err != nil {
		return nil, err
	}
	if s.runtime, err = newRuntime(spec, o); err != nil {
		return nil, err
	}
	known := o.Catalog
	if !serving && o.Offers != nil && len(o.Offers.Methods) > 0 { // Offers describes the local hooks, and Catalog may describe the peer
		known = o.Offers
	}
	s.backend = serve.New(serve.Options{
		Catalog: known, Hooks: s.table, Allow: spec.Names.ForPolicy(o.Allow), Deny: spec.Names.ForPolicy(o.Deny), Name: spec.Names.ForHooks,
		Runtime: s.runtime, Hosting: o.Hosting, Check: known != nil, Discoverable: serving, Warn: ho.Warn, CallbackEndpoint: s.callbackEndpoint, OnBind: s.onBind, OnClose: s.dropSocket,
	})
	var backend dialect.Backend = s.backend
	if o.Bridge != nil {
		backend = o.Bridge(backend)
	}
	if serving && ho.Warn != nil {
		warnUnmatched(spec, o, ho.Warn)
	}
	s.server = spec.NewServer(relay.WithFunctions(backend, s.funcs))
	return s, nil
}

// warnUnmatched warns about patterns in the policy that match no method. It cannot do this if hooks are patterns, or if
// the dialect itself defines methods.
func warnUnmatched(spec dialect.Spec, o Options, warn func(string)) {
	names := []string{"rpc.discover", "rpc.describe"}
	if spec.Discovery != nil {
		names = append(names, spec.Discovery.Answers...)
	}
	names = spec.Names.AllForHooks(names)
	for _, e := range o.Hooks {
		if strings.Contains(e.Pattern, "*") {
			return
		}
		names = append(names, spec.Names.ForHooks(e.Pattern))
	}
	if o.Catalog != nil {
		listed := spec.Names.AllForHooks(o.Catalog.Names())
		if o.Bridge != nil && !slices.ContainsFunc(listed, func(name string) bool { return !slices.Contains(names, name) }) {
			return // the methods of the bridge's peer are unknown
		}
		names = append(names, listed...)
		for _, class := range o.Catalog.Classes {
			names = append(names, scan.String(scan.Get(class, "name"))+".\x00")
		}
	}
	for flag, patterns := range map[string][]string{"--allow": o.Allow, "--deny": o.Deny} {
		for i, p := range spec.Names.AllForHooks(patterns) {
			if covered := append(spec.Names.ForPolicy(patterns[i:i+1]), p); len(serve.Unmatched(covered, names)) == len(covered) {
				warn(fmt.Sprintf("%s %s matches no method with a hook", flag, wire.Quote(patterns[i])))
			}
		}
	}
}

// forHooks returns the entries with the names that the dialect uses for hooks.
func forHooks(spec dialect.Spec, entries []hook.Entry) []hook.Entry {
	out := slices.Clone(entries)
	for i := range out {
		out[i].Pattern = spec.Names.ForHooks(out[i].Pattern)
	}
	return out
}

// newRuntime returns the runtime that evaluates code, or nil.
func newRuntime(spec dialect.Spec, o Options) (dialect.Runtime, error) {
	if o.Runtime == "" {
		return nil, nil
	}
	if spec.Evaluation == nil || !spec.Evaluation.Runtime {
		return nil, wire.Usagef("--runtime does not apply to %s: it needs --dialect %s", spec.Name, all.NamesOf(func(s dialect.Spec) bool { return s.Evaluation != nil && s.Evaluation.Runtime }))
	}
	return serve.NewRuntime(o.Runtime, serve.RuntimeOptions{Stderr: o.Hook.Stderr, Warn: o.Hook.Warn})
}

// update replaces the hooks and the catalog, and notifies the clients that listen for changes.
func (s *responder) update(entries []hook.Entry, c *catalog.Catalog) error {
	if err := s.table.Replace(forHooks(s.spec, entries)...); err != nil {
		return err
	}
	s.backend.Update(c)
	if s.server.Changed != nil {
		s.server.Changed()
	}
	return nil
}

// Accept returns the handler for the requests on a connection. When the handler has ended, it closes the connection's
// socket, which hooks may use until then.
func (s *responder) Accept(c dialect.Caller) dialect.Handler {
	h := s.server.Accept(c)
	end := h.Close
	h.Close = func() error {
		s.takeOpening(c)
		defer s.dropSocket(c)
		if end == nil {
			return nil
		}
		return end()
	}
	return h
}

// onBind stores open, the function that runs --on-open, until the handshake on c's connection is done.
func (s *responder) onBind(c dialect.Caller, open func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opening[c] = open
}

// takeOpening removes and returns the function that onBind has stored for c.
func (s *responder) takeOpening(c dialect.Caller) func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	open := s.opening[c]
	delete(s.opening, c)
	return open
}

// Opened runs --on-open. It is called after the handshake on c's connection.
func (s *responder) Opened(c dialect.Caller) {
	if open := s.takeOpening(c); open != nil {
		open()
	}
}

// answers reports whether there is a hook for method.
func (s *responder) answers(method string) bool { return s.table.Match(s.spec.Names.ForHooks(method)) }

// parks reports whether calls of method wait in the inbox.
func (s *responder) parks(method string) bool {
	return s.table.Kind(s.spec.Names.ForHooks(method)) == hook.Inbox
}

// callbackEndpoint returns the endpoint with which the hooks of a connection can call back. The first call creates the
// socket.
func (s *responder) callbackEndpoint(c dialect.Caller, hooks dialect.Commands) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sockets == nil {
		return "", errors.New("the conversation ended")
	}
	sock := s.sockets[c]
	if sock == nil {
		var err error
		if sock, err = relay.ListenForHooks(s.upstream(c), s.funcs, s.callbackDialect(c), s.endpoint, hooks); err != nil {
			return "", err
		}
		s.sockets[c] = sock
	}
	return sock.Endpoint(), nil
}

// callbackDialect returns the dialect for hooks that call back. It is the dialect of the connection, even if another
// process owns that connection.
func (s *responder) callbackDialect(c dialect.Caller) string {
	if r, ok := s.upstream(c).(*relay.Client); ok {
		return r.Dialect()
	}
	return s.spec.Name
}

func (s *responder) dropSocket(c dialect.Caller) {
	s.mu.Lock()
	sock := s.sockets[c]
	delete(s.sockets, c)
	s.mu.Unlock()
	if sock != nil {
		sock.Close(relay.DrainTimeout)
	}
}

// Failure returns the first failure of a hook. It is a Fault of kind Helper, or nil.
func (s *responder) Failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

func (s *responder) Close() error {
	err := errors.Join(s.server.Close(), s.table.Close())
	if s.runtime != nil {
		err = errors.Join(err, s.runtime.Close())
	}
	s.mu.Lock()
	left := s.sockets
	s.sockets = nil
	s.mu.Unlock()
	for _, sock := range left {
		sock.Close(relay.DrainTimeout)
	}
	return err
}
