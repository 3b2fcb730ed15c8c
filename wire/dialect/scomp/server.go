package scomp

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// A server responds to all peers of a listener, or to the only peer of a client. Hooks answer invokes of bindings. A
// runtime answers evals; its state belongs to a session.
type server struct {
	b       dialect.Backend
	runtime dialect.Runtime // may be nil
	keep    time.Duration

	checked sync.Once // checks the declared schemas

	mu       sync.Mutex
	sessions map[string]*session // nil after Close
	idle     []*session          // sessions without a connection, the longest idle first
}

// NewServer returns a server with the methods and the evaluator of b.
func NewServer(b dialect.Backend) dialect.Server {
	s := newServer(b, idleLifetime)
	return dialect.Server{Accept: s.Accept, End: s.Close}
}

func newServer(b dialect.Backend, keep time.Duration) *server {
	return &server{b: b, runtime: b.Host().Runtime, keep: keep, sessions: map[string]*session{}}
}

// Accept returns the handler for one connection.
func (s *server) Accept(c dialect.Caller) dialect.Handler {
	h := &handler{server: s, caller: c, r: s.b.Bind(c), ready: make(chan struct{})}
	s.checked.Do(func() { warnDrafts(c.Connection().Warn, s.b.Catalog()) })
	if checked := s.b.Host().Checked; checked != nil {
		h.caller = checked(c)
	}
	return dialect.Handler{Handle: h.Handle, Close: h.Close}
}

// Close removes all sessions.
func (s *server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ses := range s.sessions {
		if ses.end != nil {
			ses.end.Stop()
		}
	}
	s.sessions = nil
	return nil
}

// A handler answers requests on one connection, in either role.
type handler struct {
	server *server
	caller dialect.Caller
	r      dialect.Responder

	ready   chan struct{} // closed after the response to the handshake, when session and remote are set
	session *session
	remote  []string // the names of the client's bindings
}

// Close ends the hooks of this connection and leaves its session.
func (h *handler) Close() error {
	err := h.r.Close()
	if h.session != nil {
		h.server.leave(h.session)
	}
	return err
}

// Handle answers one request. If the codec found an error, the response is that error.
func (h *handler) Handle(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
	if in.Msg.Kind == wire.Notification {
		return nil, nil // the codec has already processed release_ref, the only notification
	}
	if in.Msg.Err != nil {
		return nil, in.Msg.Err
	}
	switch word := wordOf(in.Msg); word {
	case handshake:
		return nil, h.handshake(in)
	case evalWord:
		return h.eval(ctx, in)
	case invokeWord:
		if _, ok := h.r.Kind(in.Msg.Method); !ok {
			return nil, h.unknown(in.Msg)
		}
		// The last output of the hook is the result, because scomp has no streams.
		return h.r.Respond(ctx, dialect.Request{Method: in.Msg.Method, Params: in.Msg.Params, ID: in.Msg.ID})
	case releaseWord:
		return nil, nil
	default:
		return nil, wire.NewError(wire.CodeNoMethod, "scomp has no method "+quoted(word))
	}
}

// handshake answers the client's handshake and then closes ready.
func (h *handler) handshake(in *dialect.Inbound) error {
	h.remote = declared(scan.Get(in.Msg.Params, "bindings"))
	h.session = h.server.join(scan.String(scan.Get(scan.Get(in.Msg.Params, "metadata"), resumeWord)))
	in.Answered = true
	err := in.Emit(wire.Event{Kind: wire.Data, Final: true, Data: h.server.handshakePart(h.session.id)})
	close(h.ready)
	h.r.HandshakeDone(h.remote)
	return err
}

// handshakePart returns the result of a handshake.
func (s *server) handshakePart(session string) json.RawMessage {
	cat := cmp.Or(s.b.Catalog(), &catalog.Catalog{})
	var self, metadata scan.Object
	self.Inside(identity(cat.Info))
	self.SomeText("description", cat.Info.Description)
	self.Members(scan.Get(cat.Info.Extra, "server"), "description")
	metadata.Add("server", self.End())
	if s.runtime != nil && scan.Get(cat.Info.Extra, "runtime") == nil {
		metadata.Value("runtime", s.runtime.About())
	}
	metadata.Members(cat.Info.Extra, "server", sessionWord) // members other than name and version stay unchanged
	return handshakePart(bindings(cat), metadata.End(), session)
}

// unknown returns the error for an invoke that no hook answers: an unknown binding, or a function whose process has
// ended.
func (h *handler) unknown(req wire.Message) error {
	if _, ref, _ := invocation(lastMember(req.Raw, "params")); ref != "" {
		return unknownRef(ref)
	}
	return h.server.unknown(req.Method)
}

// unknown returns -32601 for an unknown binding. Its data names the most similar binding.
func (s *server) unknown(name string) error {
	return dialect.WithNearest(wire.NewError(wire.CodeNoMethod, "unknown binding: "+name), name, s.b.Catalog().Names())
}

const (
	idleLifetime    = 10 * time.Minute // how long a session exists without a connection
	maxIdleSessions = 1024             // the maximum number of sessions without a connection; above it, the one with the longest idle time ends
	// maxDeclared bounds the client's bindings that code can call by name.
	maxDeclared = 4096
)

// A session is the state of a runtime. It exists until it has had no connection for idleLifetime.
type session struct {
	id    string
	turn  chan struct{} // has capacity one; its holder evaluates
	conns int
	end   *time.Timer // expires the session while conns is 0
	left  int         // how often conns became 0; a timer for an earlier time is invalid
}

// join returns the session with that id, or a new session.
func (s *server) join(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	ses := s.sessions[id]
	if ses == nil {
		// Whoever has the id can resume the session, so clients must not be able to guess it.
		ses = &session{id: "sess_" + wire.RandomHex(16), turn: make(chan struct{}, 1)}
		if s.sessions != nil {
			s.sessions[ses.id] = ses
		}
	}
	if ses.conns++; ses.end != nil {
		ses.end.Stop()
		ses.end = nil
		s.idle = slices.DeleteFunc(s.idle, func(i *session) bool { return i == ses })
	}
	return ses
}

// leave records that a connection of ses has closed. After the last one, the session remains for idleLifetime. Beyond
// maxIdleSessions, the session with the longest idle time ends.
func (s *server) leave(ses *session) {
	s.mu.Lock()
	if ses.conns--; ses.conns > 0 || s.sessions == nil {
		s.mu.Unlock()
		return
	}
	ses.left++
	left := ses.left
	ses.end = time.AfterFunc(s.keep, func() { s.expire(ses, left) })
	s.idle = append(s.idle, ses)
	var oldest *session
	if len(s.idle) > maxIdleSessions {
		oldest = s.idle[0]
		left = oldest.left
	}
	s.mu.Unlock()
	if oldest != nil {
		s.expire(oldest, left)
	}
}

// expire ends a session unless a client has joined it since it became idle for the left-th time.
func (s *server) expire(ses *session, left int) {
	s.mu.Lock()
	over := ses.end != nil && ses.left == left && s.sessions != nil
	if over {
		ses.end.Stop()
		ses.end = nil
		delete(s.sessions, ses.id)
		s.idle = slices.DeleteFunc(s.idle, func(i *session) bool { return i == ses })
	}
	s.mu.Unlock()
	if over && s.runtime != nil {
		s.runtime.Forget(ses.id)
	}
}

// declared returns the names of a client's bindings.
func declared(bindings []byte) (names []string) {
	known := map[string]bool{}
	for b := range scan.Elements(bindings) {
		name := scan.String(scan.Get(b, "name"))
		if name != "" && !known[name] && len(names) < maxDeclared {
			known[name] = true
			names = append(names, name)
		}
	}
	return names
}
