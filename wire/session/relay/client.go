package relay

import (
	"context"
	"encoding/json"
	"io"
	"sync"

	"rpcx/wire"
	"rpcx/wire/cache"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/endpoint"
	"rpcx/wire/peer"
	"rpcx/wire/scan"
)

// Client is a Conversation that another rpcx process offers on a socket.
type Client struct {
	e     endpoint.Endpoint
	p     *peer.Peer
	pid   int // the id of that process, or 0 if unknown
	hello Hello
	tap   wire.Tap // receives those messages of the peer that this process receives; may be nil

	mu        sync.Mutex
	functions Answerer
	working   bool             // hooks in the other process are working
	work      func(change int) // called with +1 when such hooks start to work and with -1 when they stop; may be nil
}

// RemoteEndpoint returns the redacted endpoint to which the other process is connected.
func (r *Client) RemoteEndpoint() endpoint.Endpoint {
	far, _ := endpoint.Parse(r.hello.Endpoint, "")
	return far
}

// Leave closes the connection, unless that has already been done by closing the conversation.
func (r *Client) Leave() {
	if r != nil {
		_ = r.p.Close()
	}
}

// Hello returns the other process's description of the conversation.
func (r *Client) Hello() Hello { return r.hello }

// PID returns the id of the other process, or 0 if unknown.
func (r *Client) PID() int { return r.pid }

// Done is closed when the connection to the other process has ended.
func (r *Client) Done() <-chan struct{} { return r.p.Done() }

// ShowTo sets the tap for those messages of the peer that this process receives. It must be called before the first
// request.
func (r *Client) ShowTo(tap wire.Tap) { r.tap = tap }

// Answers returns the source of the responses, for caching. It is the zero Source if the other process does not name
// one.
func (r *Client) Answers() cache.Source {
	if r == nil {
		return cache.Source{}
	}
	return r.hello.Answers
}

// An Answerer answers calls of this process's functions.
type Answerer struct {
	Accept  func(c dialect.Caller) dialect.Handler
	Failure func() error // returns the first failure of a hook, or nil; may be nil
	Close   func() error // may be nil
}

// AnswerBy sets the Answerer.
func (r *Client) AnswerBy(a Answerer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.functions = a
}

func (r *Client) answerer() Answerer {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.functions
}

// ownFunctions handles requests from the other process, which call functions of this process.
type ownFunctions struct {
	r *Client
	c dialect.Caller

	once  sync.Once
	inner dialect.Handler
}

func (f *ownFunctions) Handle(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
	if in.Msg.Method == workingMethod && in.Msg.Kind == wire.Notification {
		f.r.setWorking(string(in.Msg.Params) == "true")
		return nil, nil
	}
	s := f.r.answerer()
	if s.Accept == nil {
		return nil, wire.NewError(wire.CodeNoMethod, "method not found")
	}
	if f.r.tap != nil {
		f.r.tap(wire.Recv, in.Msg.Raw)
	}
	f.once.Do(func() { f.inner = s.Accept(f.c) })
	return f.inner.Handle(ctx, in)
}

func (f *ownFunctions) Close() error {
	f.once.Do(func() {})
	if f.inner.Close == nil {
		return nil
	}
	return f.inner.Close()
}

// Dialect returns the name of the peer's dialect.
func (r *Client) Dialect() string { return r.hello.Dialect }

func (r *Client) params(op dialect.Op) json.RawMessage { return scan.JSON(wireOp{op, r.e.Hook}) }

func (r *Client) Open(ctx context.Context, op dialect.Op) (dialect.Stream, error) {
	st, err := r.stream(ctx, "open", r.params(op))
	if err == nil && op.Kind == dialect.Watch { // the watch must be open before the next request is sent
		err = st.opened(ctx)
	}
	if err != nil {
		return nil, err
	}
	return st, nil
}

func (r *Client) stream(ctx context.Context, method string, params json.RawMessage) (*remoteStream, error) {
	st, err := r.p.Open(ctx, dialect.Op{Kind: dialect.Subscribe, Method: method, Params: params, Unsubscribe: "cancel"})
	if err != nil {
		return nil, fromSocket(err)
	}
	return &remoteStream{Stream: st, r: r}, nil
}

// Call calls a method of the other process itself.
func (r *Client) Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	out, err := r.p.Call(ctx, method, params)
	return out, fromSocket(err)
}

// Ask is like Call, for a method that the other process answers without its peer, in a short time.
func (r *Client) Ask(ctx context.Context, method string, params json.RawMessage) (out json.RawMessage, err error) {
	err = r.InTime(ctx, func(ctx context.Context) (err error) {
		out, err = r.Call(ctx, method, params)
		return err
	})
	return out, err
}

func (r *Client) Notify(ctx context.Context, op dialect.Op) error {
	op.Kind = dialect.Notify
	_, err := r.Call(ctx, "notify", r.params(op))
	return err
}

func (r *Client) Describe(ctx context.Context) (*catalog.Catalog, error) {
	return readCatalog(r.Call(ctx, "describe", nil))
}

func (r *Client) Typing(ctx context.Context, method string) (*catalog.Catalog, error) {
	return readCatalog(r.Call(ctx, "typing", scan.JSON(typingRequest{method})))
}

func readCatalog(raw json.RawMessage, err error) (*catalog.Catalog, error) {
	if err != nil || string(raw) == "null" {
		return nil, err
	}
	return catalog.Received(catalog.Parse(raw))
}

// Event sets ev to the event of m, which the other process has decoded.
func (r *Client) Event(m *wire.Message, ev *wire.Event) error {
	if m.Event == nil {
		return wire.NewFault(wire.Protocol, "the process that owns the connection sent an invalid event", nil)
	}
	*ev = *m.Event
	return nil
}

func (r *Client) HookFailure() error {
	if s := r.answerer(); s.Failure != nil {
		return s.Failure()
	}
	return nil
}

// Settle does nothing, because all hooks are in the other process.
func (r *Client) Settle(context.Context) {}

func (r *Client) Err() error { return r.p.Err() }

func (r *Client) Close() error {
	err := r.p.Close()
	if s := r.answerer(); s.Close != nil {
		_ = s.Close()
	}
	return err
}

// remoteStream is a stream whose messages arrive packed in items of the socket.
type remoteStream struct {
	dialect.Stream
	r     *Client
	token wire.ID // assigned by the other process; nil before that
	over  bool
}

func (s *remoteStream) Next(ctx context.Context) (wire.Message, error) {
	for !s.over {
		m, err := s.Stream.Next(ctx)
		switch {
		case err != nil:
			if err != io.EOF && ctx.Err() == nil {
				err = fromSocket(err)
			}
			return wire.Message{}, err
		case m.Err != nil:
			s.over = true
			return wire.Message{}, FromRPC(m.Err)
		case m.Kind == wire.Response:
			s.token = m.Stream.Clone()
			continue
		case m.Final && m.Body == nil:
			s.over = true
			continue
		}
		m, err = unpack(m.Body)
		if tap := s.r.tap; tap != nil && len(m.Raw) > 0 {
			tap(wire.Recv, m.Raw)
		}
		return m, err
	}
	return wire.Message{}, io.EOF
}

// Finish makes the watch in the other process stop reading (see dialect.Finisher).
func (s *remoteStream) Finish(ctx context.Context) error {
	if err := s.opened(ctx); err != nil {
		return err
	}
	_, err := s.r.Call(ctx, "finish", scan.JSON([]json.RawMessage{json.RawMessage(s.token)}))
	return err
}

// opened waits until the other process has opened the stream. Later requests refer to the stream's token.
func (s *remoteStream) opened(ctx context.Context) error {
	for s.token == nil {
		m, err := s.Stream.Next(ctx)
		switch {
		case err != nil:
			return err
		case m.Err != nil:
			return FromRPC(m.Err)
		}
		s.token = m.Stream.Clone()
	}
	return nil
}

// Waiting reports whether Next would return at once.
func (s *remoteStream) Waiting() bool { return dialect.Waiting(s.Stream) }
