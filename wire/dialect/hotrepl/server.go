package hotrepl

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// sessionName is the only session of the runtime. All clients share the state of the code until a reset.
const sessionName = "hotrepl"

// evictTimeout bounds the time for sending an eviction.
const evictTimeout = 2 * time.Second

// server is a host: it has one client at a time and works on the ticks of a frame clock, like a game.
type server struct {
	b       dialect.Backend
	runtime dialect.Runtime // evaluates code; may be nil
	cfg     config
	journal journal
	files   artifacts

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	wg     sync.WaitGroup
	accept sync.Mutex // serializes Accept: clients evict each other in order

	queue *queue

	mu     sync.Mutex // guards the fields below, and the end of ctx
	client *handler   // may be nil
	jobs   map[string]*job
}

// NewServer returns a host with the methods and the evaluator of b. Without a catalog, b belongs to a client, which
// answers no requests.
func NewServer(b dialect.Backend) dialect.Server {
	if b.Catalog() == nil {
		return dialect.Server{Accept: func(c dialect.Caller) dialect.Handler {
			h := clientHandler{c, b.Bind(c)}
			return dialect.Handler{Handle: h.Handle, Close: h.r.Close}
		}}
	}
	s := newHost(b)
	return dialect.Server{Accept: s.Accept, End: s.Close, Reload: s.Reload}
}

func newHost(b dialect.Backend) *server {
	host := b.Host()
	s := &server{b: b, runtime: host.Runtime, jobs: map[string]*job{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.cfg = newConfig(b.Catalog(), s.runtime, host.HostOptions)
	s.files.dir, s.files.temporary.Kind = host.Artifacts, "artifacts"
	s.queue = newQueue(&s.cfg)
	s.wg.Go(func() { s.queue.frames(s.ctx, s.frame) })
	return s
}

// Accept evicts the previous client and sends the handshake to the new one.
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
	h.send(bytes.Clone(s.cfg.handshake))
	return dialect.Handler{Handle: h.Handle, Close: h.Close}
}

// Close ends the host and all work on it.
func (s *server) Close() error {
	s.mu.Lock()
	s.cancel()
	s.mu.Unlock()
	s.wg.Wait()
	return s.files.temporary.Remove()
}

// Reload drops the evaluator's state and sends an assembly_reload, because hooks and catalog were reloaded.
func (s *server) Reload() {
	s.mu.Lock()
	defer s.mu.Unlock()
	client := s.client
	if s.ctx.Err() != nil {
		return
	}
	s.wg.Go(func() {
		if s.runtime != nil {
			s.runtime.Forget(sessionName)
		}
		if client != nil {
			client.send(build(typeReload).text("assembly", s.cfg.name).text("message", "Hot-reload detected. REPL session reset.").end())
		}
	})
}

// frame does the work of one frame in the same order as real hosts: all queued messages, at most one eval, then the
// subscriptions. Cancels do not wait for a frame.
func (s *server) frame() {
	for n := s.queue.len(); n > 0; n-- { // one by one, because a message can cancel later ones
		t, ok := s.queue.next()
		if !ok {
			break
		}
		if do := requests[t.msg.Method].do; do != nil && t.h.ctx.Err() == nil {
			do(s, t)
		}
	}
	if eval := s.queue.nextEval(); eval != nil {
		s.eval(eval)
		s.queue.over(eval)
	}
	for _, w := range s.queue.due() {
		if w.ctx.Err() == nil && s.step(w) {
			s.queue.endWatch(w)
		}
	}
}

// cancelByID cancels the evals, commands and subscriptions with that id, whichever client sent them. A cancel has no
// response. A cancelled request does have one, unless it is a subscription.
func (s *server) cancelByID(id []byte) {
	for _, t := range s.queue.cancel(id) {
		switch t.msg.Method {
		case typeCall:
			t.h.send(outcome{err: cancelledCommand}.message(t.msg.ID, time.Now()))
		case typeEval:
			s.evalFailed(t, time.Now(), cancelledEval("Eval was cancelled."))
		}
	}
}

type handler struct {
	server *server
	caller dialect.Caller
	r      dialect.Responder
	ctx    context.Context // ends when the client disconnects or is evicted
	cancel context.CancelFunc
}

// Close cancels everything that the client started, because no client would receive the responses.
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

// drop removes the client's queued messages and cancels its running ones.
func (h *handler) drop() {
	h.server.queue.drop(h)
	h.cancel()
}

// evict notifies the client that it was replaced and closes its connection.
func (h *handler) evict() {
	ctx, cancel := context.WithTimeout(h.server.ctx, evictTimeout)
	defer cancel()
	msg := build(typeEvicted).text("reason", "new_connection").end()
	_ = h.caller.Notify(ctx, dialect.Op{Kind: dialect.Internal, Method: typeEvicted, Params: msg})
	h.drop()
	h.server.wg.Go(func() { _ = h.caller.CloseWith(1000, "") })
}

// send writes one message and waits until it is written, so that a slow client slows down the frames. After the client
// has disconnected, send does nothing.
func (h *handler) send(msg json.RawMessage) {
	_ = h.caller.Notify(h.ctx, dialect.Op{Kind: dialect.Internal, Method: scan.String(scan.Get(msg, "type")), Params: msg})
}

// Handle queues one message for the next frame. It handles cancels and errors at once.
func (h *handler) Handle(_ context.Context, in *dialect.Inbound) (json.RawMessage, error) {
	m := in.Msg
	if m.Err != nil {
		h.send(errorMessage(m.ID, m.Err))
		return nil, nil
	}
	if m.ID == nil {
		m.ID = wire.ID(`""`)
	}
	if m.Method == typeCancel {
		h.server.cancelByID(scan.Get(m.Raw, "targetId"))
		return nil, nil
	}
	if !h.server.queue.add(task{h, m}) {
		h.send(errorMessage(m.ID, busy("commandQueueFull", "Too many messages are waiting for a frame.")))
	}
	return nil, nil
}

// A clientHandler is the handler of a client. A host sends it no requests.
type clientHandler struct {
	caller dialect.Caller
	r      dialect.Responder
}

// Handle shows an assembly_reload to the user, and runs the hook, if any, for each notification.
func (g clientHandler) Handle(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
	m := in.Msg
	if yield := g.caller.Connection().Tell; yield != nil && m.Method == typeReload {
		yield(reloadEvent(m.Raw))
	}
	_, ok := g.r.Kind(m.Method)
	switch {
	case !ok && m.Method == typeReload:
		return nil, nil
	case !ok:
		return nil, wire.NewError(wire.CodeNoMethod, "no hook for "+m.Method)
	}
	return g.r.Respond(ctx, dialect.Request{
		Method: m.Method, Params: m.Raw, Notification: true, Emit: func(wire.Event) error { return nil },
	})
}
