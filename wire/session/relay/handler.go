package relay

import (
	"context"
	"encoding/json"
	"io"
	"strconv"
	"sync"
	"sync/atomic"

	"rpcx/wire"
	"rpcx/wire/cache"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// A Process is a process that is connected to the socket. It handles the requests of that process.
type Process struct {
	socket   *Socket
	client   dialect.Caller
	attached atomic.Bool // the process has sent a request other than status
	number   string      // distinguishes the processes of a session
	next     atomic.Int64
	mu       sync.Mutex
	open     map[string]openStream // by the stream's token
}

// An openStream is a stream that the process has opened.
type openStream struct {
	cancel context.CancelFunc
	stream dialect.Stream // nil for raw traffic
	pipe   SharedPipe     // the raw traffic, or nil
}

func (h *Process) Attach() { h.attached.Store(true) }

// isBusy reports whether the process has anything open, such as a call.
func (h *Process) isBusy() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.open) > 0
}

func (h *Process) Close() error {
	h.socket.forget(h)
	if s := h.socket.Session; s != nil {
		s.ClientGone(h)
	}
	return nil
}

// A Method implements one method of the socket.
type Method func(ctx context.Context, h *Process, in *dialect.Inbound) (json.RawMessage, error)

// socketMethods are the methods that every socket has.
var socketMethods = map[string]Method{
	"hello": sayHello, "cancel": cancelStream, "finish": finishStream, answersMethod: answersFallback, "raw.send": sendRaw, "raw.finish": finishRaw,
	"open": onUpstream(openOp), "notify": onUpstream(notifyOp), "describe": onUpstream(describeFar), "typing": onUpstream(typingFar), "raw": onUpstream(openRaw),
}

// onUpstream returns a Method that calls do with the connection that the socket offers.
func onUpstream(do func(ctx context.Context, h *Process, in *dialect.Inbound, up Backend) (json.RawMessage, error)) Method {
	return func(ctx context.Context, h *Process, in *dialect.Inbound) (json.RawMessage, error) {
		up, err := h.socket.Upstream(ctx)
		if err != nil {
			return nil, err
		}
		return do(ctx, h, in, up)
	}
}

func (h *Process) Handle(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
	method := socketMethods[in.Msg.Method]
	if more := h.socket.Methods[in.Msg.Method]; more != nil {
		method = more
	}
	if method == nil {
		return nil, wire.Errorf(wire.CodeNoMethod, "a conversation has no method %q", in.Msg.Method)
	}
	out, err := method(ctx, h, in)
	if out == nil && err == nil && !in.Answered {
		out = json.RawMessage("null")
	}
	return out, ToRPC(err)
}

// Hello describes a conversation to a process that connects to the socket.
type Hello struct {
	Version     string       `json:"version,omitempty"` // the version of the rpcx that runs a session
	Dialect     string       `json:"dialect"`
	Endpoint    string       `json:"endpoint"`
	Session     string       `json:"session,omitempty"`
	Fingerprint string       `json:"fingerprint,omitempty"`
	Answers     cache.Source `json:"answers,omitzero"`
}

func sayHello(_ context.Context, h *Process, _ *dialect.Inbound) (json.RawMessage, error) {
	return scan.JSON(Hello{Dialect: h.socket.Dialect, Endpoint: h.socket.Shown}), nil
}

// A wireOp is an operation in the form that is sent over the socket.
type wireOp struct {
	dialect.Op
	Hook string `json:"hook,omitempty"` // the hook that sends the request
}

// readOp decodes an operation, and adds the functions of the calling process to those of the session.
func (h *Process) readOp(in *dialect.Inbound) (dialect.Op, string, error) {
	var w wireOp
	if err := json.Unmarshal(in.Msg.Params, &w); err != nil {
		return dialect.Op{}, "", wire.NewFault(wire.Usage, "invalid operation: "+err.Error(), err)
	}
	for at, name := range w.Funcs {
		w.Funcs[at] = h.socket.enter(h, name)
	}
	if w.Known != nil {
		for i := range w.Known.Methods {
			w.Known.Methods[i].Name = h.socket.enter(h, w.Known.Methods[i].Name)
		}
	}
	if w.Hook != "" && h.socket.Hooks != nil {
		w.About, w.Nested = h.socket.Hooks.Request(w.Hook), true
	}
	return w.Op, w.Hook, nil
}

func notifyOp(ctx context.Context, h *Process, in *dialect.Inbound, up Backend) (json.RawMessage, error) {
	op, _, err := h.readOp(in)
	if err != nil {
		return nil, err
	}
	return nil, up.Notify(ctx, op)
}

// openOp starts an operation and forwards its messages until it ends.
func openOp(ctx context.Context, h *Process, in *dialect.Inbound, up Backend) (json.RawMessage, error) {
	op, hook, err := h.readOp(in)
	if err != nil {
		return nil, err
	}
	if hook != "" && h.socket.Hooks != nil {
		defer h.socket.Hooks.Suspend(hook)()
	}
	passed, err := h.socket.beginStream()
	if err != nil {
		return nil, err
	}
	defer passed()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	st, err := up.Open(ctx, op)
	if err != nil {
		return nil, h.socket.Meaning(err)
	}
	defer dialect.CancelAnyway(ctx, st)
	return nil, h.stream(in, openStream{cancel: cancel, stream: st}, func(token wire.ID) error {
		return h.pass(ctx, up, st, token, in.Emit)
	})
}

// stream responds with a token, and forwards the events that run emits. The methods cancel and finish refer to the
// stream by its token.
func (h *Process) stream(in *dialect.Inbound, o openStream, run func(token wire.ID) error) error {
	token := strconv.FormatInt(h.next.Add(1), 10)
	h.mu.Lock()
	h.open[token] = o
	h.mu.Unlock()
	defer context.AfterFunc(h.socket.cancelled, o.cancel)()
	defer func() {
		h.mu.Lock()
		delete(h.open, token)
		h.mu.Unlock()
	}()
	in.Answered = true
	if err := in.Emit(wire.Event{Kind: wire.Opened, Stream: wire.ID(token)}); err != nil {
		return err
	}
	return run(wire.ID(token))
}

// pass emits all messages of st and then the end of the stream.
func (h *Process) pass(ctx context.Context, up Backend, st dialect.Stream, token wire.ID, emit func(wire.Event) error) error {
	var m wire.Message // reused for all messages
	var ev wire.Event
	for {
		var err error
		m, err = st.Next(ctx)
		switch {
		case err == io.EOF:
			return over(err, token, emit)
		case err != nil:
			return over(h.socket.Meaning(err), token, emit)
		}
		err = up.Event(&m, &ev)
		if err := emit(wire.Event{Kind: wire.Data, Stream: token, Data: pack(m, ev, err)}); err != nil {
			return err
		}
	}
}

// over emits the end of a stream.
func over(err error, token wire.ID, emit func(wire.Event) error) error {
	ev := wire.Event{Kind: wire.Done, Final: true, Stream: token}
	if err != io.EOF {
		ev.Kind, ev.Err = wire.Failure, ToRPC(err).(*wire.Error)
	}
	return emit(ev)
}

// named returns the stream to which a request refers. ok is false if the stream has ended.
func (h *Process) named(in *dialect.Inbound) (o openStream, ok bool, err error) {
	var ids []json.RawMessage
	if err := json.Unmarshal(in.Msg.Params, &ids); err != nil || len(ids) != 1 {
		return openStream{}, false, wire.Usagef("%s needs one stream", in.Msg.Method)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	o, ok = h.open[string(ids[0])]
	return o, ok, nil
}

func cancelStream(_ context.Context, h *Process, in *dialect.Inbound) (json.RawMessage, error) {
	o, ok, err := h.named(in)
	if !ok || err != nil {
		return json.RawMessage("false"), err
	}
	o.cancel()
	return json.RawMessage("true"), nil
}

// finishStream makes a watch stop reading. The messages that have already been received are still forwarded.
func finishStream(ctx context.Context, h *Process, in *dialect.Inbound) (json.RawMessage, error) {
	o, ok, err := h.named(in)
	if !ok || err != nil || o.stream == nil {
		return nil, err
	}
	return nil, dialect.Finish(ctx, o.stream)
}

func describeFar(ctx context.Context, _ *Process, _ *dialect.Inbound, up Backend) (json.RawMessage, error) {
	return catalogJSON(up.Describe(ctx))
}

// typingRequest contains the params of the method typing.
type typingRequest struct {
	Method string `json:"method"`
}

func typingFar(ctx context.Context, _ *Process, in *dialect.Inbound, up Backend) (json.RawMessage, error) {
	var r typingRequest
	if err := json.Unmarshal(in.Msg.Params, &r); err != nil {
		return nil, wire.Usagef("typing needs a method")
	}
	return catalogJSON(up.Typing(ctx, r.Method))
}

func catalogJSON(c *catalog.Catalog, err error) (json.RawMessage, error) {
	if c == nil || err != nil {
		return nil, err
	}
	return c.Marshal()
}
