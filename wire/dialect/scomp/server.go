package scomp

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// keep is how long a session outlives its last connection.
const keep = 10 * time.Minute

// A server is our answering side: what hooks answer and, on a listener, a
// runtime and the sessions whose state it keeps.
type server struct {
	b       dialect.Backend
	runtime dialect.Runtime // nil: there is none
	keep    time.Duration

	mu       sync.Mutex
	closed   bool
	sessions map[string]*session
}

// A session is a runtime's state, which connections come and go with.
type session struct {
	id    string
	turn  chan struct{} // holds one: evals take turns, in the order in which they came
	conns int
	end   *time.Timer // while conns is 0
}

// NewServer returns a server of what b offers and evaluates.
func NewServer(b dialect.Backend) dialect.Server { return newServer(b, keep) }

func newServer(b dialect.Backend, keep time.Duration) *server {
	s := &server{b: b, keep: keep, sessions: map[string]*session{}}
	if e, ok := b.(dialect.Evaluator); ok {
		s.runtime = e.Runtime()
	}
	return s
}

// Accept returns the handler for one connection.
func (s *server) Accept(c dialect.Caller) dialect.Handler {
	return &handler{server: s, caller: c, r: s.b.Bind(c), ready: make(chan struct{})}
}

// Close forgets every session.
func (s *server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, ses := range s.sessions {
		if ses.end != nil {
			ses.end.Stop()
		}
	}
	clear(s.sessions)
	return nil
}

// join returns the session of that id, or a new one where there is none.
func (s *server) join(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	ses := s.sessions[id]
	if ses == nil {
		ses = &session{id: newSession(), turn: make(chan struct{}, 1)}
		if !s.closed {
			s.sessions[ses.id] = ses
		}
	}
	if ses.conns++; ses.end != nil {
		ses.end.Stop()
		ses.end = nil
	}
	return ses
}

// leave notes that a connection of ses has gone. After the last one its state is
// kept for a while.
func (s *server) leave(ses *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ses.conns--; ses.conns > 0 || s.closed {
		return
	}
	var end *time.Timer
	end = time.AfterFunc(s.keep, func() {
		s.mu.Lock()
		over := ses.end == end && !s.closed
		if over {
			delete(s.sessions, ses.id)
		}
		s.mu.Unlock()
		if over && s.runtime != nil {
			s.runtime.Forget(ses.id)
		}
	})
	ses.end = end
}

// newSession is an id that nobody guesses: who knows it has the session.
func newSession() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return "sess_" + hex.EncodeToString(b[:])
}

// A handler answers on one connection, in either role.
type handler struct {
	server *server
	caller dialect.Caller
	r      dialect.Responder

	ready   chan struct{} // closed when the handshake is answered
	session *session      // these two are set before
	theirs  []string      // the bindings of the client
}

// Close ends what answers on this connection.
func (h *handler) Close() error {
	err := h.r.Close()
	if h.session != nil {
		h.server.leave(h.session)
	}
	return err
}

// Handle answers one request. What the codec found wrong with it is the answer.
func (h *handler) Handle(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
	if in.Msg.Kind == wire.Notification {
		return nil, nil // release_ref, which the codec has heard; there is no other
	}
	if in.Msg.Err != nil {
		return nil, in.Msg.Err
	}
	switch word := wordOf(in.Msg); word {
	case handshake:
		return nil, h.handshake(in)
	case evalWord:
		return h.eval(ctx, in.Msg.Params)
	case invokeWord:
		return h.invoke(ctx, in.Msg.Method, in.Msg.Params, in.Msg.ID)
	default:
		return nil, wire.NewError(wire.CodeNoMethod, "scomp has no method "+quoted(word))
	}
}

// handshake answers the client's. Nothing else is answered before that is on its
// way.
func (h *handler) handshake(in *dialect.Inbound) error {
	for b := range elements(scan.Get(in.Msg.Params, "bindings")) {
		if name := text(scan.Get(b, "name")); name != "" && !slices.Contains(h.theirs, name) {
			h.theirs = append(h.theirs, name)
		}
	}
	h.session = h.server.join(text(scan.Get(scan.Get(in.Msg.Params, "metadata"), resumeWord)))
	in.Answered = true
	err := in.Emit(wire.Event{Kind: wire.Data, Final: true, Data: h.server.hello(h.session.id)})
	close(h.ready)
	return err
}

// hello is our part of the handshake.
func (s *server) hello(session string) json.RawMessage {
	cat := s.b.Catalog()
	if cat == nil {
		cat = &catalog.Catalog{}
	}
	self := bytes.TrimSuffix(named(cat.Info), []byte("}"))
	for key, val := range members(scan.Get(cat.Info.Extra, "server")) {
		self = member(self, key, val)
	}
	metadata := member([]byte{'{'}, "server", append(self, '}'))
	if s.runtime != nil && scan.Get(cat.Info.Extra, "runtime") == nil {
		about, _ := json.Marshal(s.runtime.About())
		metadata = member(metadata, "runtime", about)
	}
	for key, val := range members(cat.Info.Extra) { // what the catalog says is told as it stands
		if key != "server" && key != resumeWord {
			metadata = member(metadata, key, val)
		}
	}
	return hello(bindings(cat), append(metadata, '}'), session)
}

// invoke answers the invoke of a binding, or of a function of ours.
func (h *handler) invoke(ctx context.Context, name string, input json.RawMessage, id wire.ID) (json.RawMessage, error) {
	kind, ok := h.r.Kind(name)
	if !ok {
		return nil, h.server.unknown(name)
	}
	var last json.RawMessage
	result, err := h.r.Respond(ctx, dialect.Request{
		Method: name, Params: input, ID: id, Stream: kind == catalog.Stream,
		Emit: func(ev wire.Event) error {
			if ev.Kind == wire.Data {
				last = ev.Data
			}
			return nil
		},
	})
	if result == nil {
		result = last // of a stream or a job
	}
	return result, err
}

// unknown is the answer to a binding that we do not have. Its data names the
// nearest one that we tell of.
func (s *server) unknown(name string) error {
	e := wire.NewError(wire.CodeNoMethod, "unknown binding: "+name)
	if near := catalog.Nearest(name, s.b.Catalog().Names()); near != "" {
		return e.WithData(map[string]string{"nearest": near})
	}
	return e
}
