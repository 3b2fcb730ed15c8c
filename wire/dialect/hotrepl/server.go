package hotrepl

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// stateName is the one session of the runtime: what code has set is there for
// whoever connects, until a reset.
const stateName = "hotrepl"

// evictTime bounds how long a client that is evicted is told so.
const evictTime = 2 * time.Second

// server is a host: one client at a time, and a clock of frames on which all
// that clients ask for is done.
type server struct {
	b       dialect.Backend
	runtime dialect.Runtime // nil: nothing is evaluated
	cfg     config
	journal journal
	files   artifacts

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	wg     sync.WaitGroup
	accept sync.Mutex // one client comes at a time

	mu      sync.Mutex // for all below
	closed  bool
	client  *handler // nil: none has come
	wake    chan struct{}
	tasks   []task     // wait for the next frame, in order
	evals   []*running // wait for a frame each, in order
	calls   []*running // evals and commands that run
	watches []*watch   // in the order in which they came
	jobs    map[string]*job
}

// A task is a message of a client that waits for a frame.
type task struct {
	h   *handler
	msg wire.Message
}

// running is what can be cancelled by the id of its message.
type running struct {
	task
	begun  time.Time
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// NewServer returns a host of what b offers and evaluates. Where b tells no
// catalog we are the client, and answer nothing.
func NewServer(b dialect.Backend) dialect.Server {
	s := &server{b: b, wake: make(chan struct{}, 1), jobs: map[string]*job{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if e, ok := b.(dialect.Evaluator); ok {
		s.runtime = e.Runtime()
	}
	if b.Catalog() == nil {
		return guest{s}
	}
	var hosting dialect.Hosting
	if h, ok := b.(dialect.Hoster); ok {
		hosting = h.Hosting()
	}
	s.cfg = newConfig(b.Catalog(), s.runtime, hosting)
	s.files.dir = hosting.Artifacts
	s.wg.Go(s.frames)
	return s
}

// Accept sends the handshake to a new client, after the one that was there has
// been told that it is evicted.
func (s *server) Accept(c dialect.Caller) dialect.Handler {
	s.accept.Lock()
	defer s.accept.Unlock()
	h := &handler{server: s, caller: c, r: s.b.Bind(c)}
	h.ctx, h.cancel = context.WithCancel(s.ctx)
	s.mu.Lock()
	old := s.client
	s.client = h
	s.mu.Unlock()
	if old != nil {
		old.evict()
	}
	h.send(s.cfg.handshake())
	return h
}

// Close ends the host and all that it does.
func (s *server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	s.wg.Wait()
	return s.files.close()
}

// Reload says that what the host is made of was loaded again: the evaluator's
// state is gone.
func (s *server) Reload() {
	s.mu.Lock()
	defer s.mu.Unlock()
	client := s.client
	if s.closed {
		return
	}
	s.wg.Go(func() {
		if s.runtime != nil {
			s.runtime.Forget(stateName)
		}
		if client != nil {
			client.send(build(typeReload).text("assembly", s.cfg.host.Name).text("message", "Hot-reload detected. REPL session reset.").end())
		}
	})
}

// A handler is one client.
type handler struct {
	server *server
	caller dialect.Caller
	r      dialect.Responder
	ctx    context.Context // ends when it goes or is evicted
	cancel context.CancelFunc
}

// Close ends what the client has begun: nobody could hear of it any more.
func (h *handler) Close() error {
	h.drop()
	err := h.r.Close()
	s := h.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == h {
		s.client = nil
	}
	return err
}

// drop takes out of the queues what is the client's, and ends what runs.
func (h *handler) drop() {
	s := h.server
	s.mu.Lock()
	s.tasks = slices.DeleteFunc(s.tasks, func(t task) bool { return t.h == h })
	s.evals = slices.DeleteFunc(s.evals, func(e *running) bool { return e.h == h })
	s.watches = slices.DeleteFunc(s.watches, func(w *watch) bool { return w.h == h })
	s.mu.Unlock()
	h.cancel()
}

// evict makes room for another client.
func (h *handler) evict() {
	ctx, cancel := context.WithTimeout(h.server.ctx, evictTime)
	defer cancel()
	msg := build(typeEvicted).text("reason", "new_connection").end()
	_ = h.caller.Notify(ctx, dialect.Op{Kind: dialect.Own, Method: typeEvicted, Params: msg})
	h.drop()
	h.server.wg.Go(func() { _ = h.caller.CloseWith(1000, "") })
}

// send writes one message. It waits until it is written, so that a slow client
// slows the frames, but no longer than the client is there.
func (h *handler) send(msg json.RawMessage) {
	kind, _ := scan.Text(scan.Get(msg, "type"))
	_ = h.caller.Notify(h.ctx, dialect.Op{Kind: dialect.Own, Method: kind, Params: msg})
}

// Handle takes one message. Its answer comes on one of the next frames.
func (h *handler) Handle(_ context.Context, in *dialect.Inbound) (json.RawMessage, error) {
	m := in.Msg
	if m.Err != nil {
		code, _ := scan.Text(m.Err.Code)
		h.send(errorMessage(m.ID, envelope{m.Err.Kind, code, m.Err.Message, false, nil}))
		return nil, nil
	}
	if m.ID == nil {
		m.ID = wire.ID(`""`)
	}
	if m.Method == typeCancel {
		h.server.give(scan.Get(m.Raw, "targetId"))
		return nil, nil
	}
	if !h.server.enqueue(task{h, m}) {
		h.send(errorMessage(m.ID, envelope{kindBusy, "commandQueueFull", "Too many messages wait for a frame.", true, nil}))
	}
	return nil, nil
}

// guest is the answering side of a client, of which hosts ask nothing.
type guest struct{ s *server }

func (g guest) Accept(c dialect.Caller) dialect.Handler { return guestHandler{c, g.s.b.Bind(c)} }
func (g guest) Close() error                            { g.s.cancel(); return nil }

type guestHandler struct {
	caller dialect.Caller
	r      dialect.Responder
}

// Handle shows that the host's assemblies were loaded again, and lets a hook of
// that name hear of it. Anything else that comes unasked is nobody's.
func (g guestHandler) Handle(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
	m := in.Msg
	if t, ok := g.caller.(dialect.Teller); ok && m.Method == typeReload {
		t.Tell(reloaded(m.Raw))
	}
	_, ok := g.r.Kind(m.Method)
	switch {
	case !ok && m.Method == typeReload:
		return nil, nil
	case !ok:
		return nil, wire.NewError(wire.CodeNoMethod, "nothing takes "+m.Method)
	}
	return g.r.Respond(ctx, dialect.Request{
		Method: m.Method, Params: m.Raw, Notification: true, Emit: func(wire.Event) error { return nil },
	})
}

// Close ends the hooks of the connection.
func (g guestHandler) Close() error { return g.r.Close() }
