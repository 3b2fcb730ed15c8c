package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// socketHandler answers one process on the socket.
type socketHandler struct {
	socket *socket
	next   atomic.Int64
	mu     sync.Mutex
	open   map[string]context.CancelFunc // by the stream's token
}

func (h *socketHandler) Close() error { return nil }

// wireOp is an operation as it crosses the socket.
type wireOp struct {
	Op          string            `json:"op"`
	Method      string            `json:"method,omitempty"`
	Params      json.RawMessage   `json:"params,omitempty"`
	Code        string            `json:"code,omitempty"`
	Funcs       map[string]string `json:"funcs,omitempty"`
	Unsubscribe string            `json:"unsubscribe,omitempty"`
	Extra       json.RawMessage   `json:"extra,omitempty"`
	Hook        string            `json:"hook,omitempty"` // the hook whose command asks
}

// opNames are the operations that can be asked for over a socket.
var opNames = map[string]dialect.OpKind{
	"call": dialect.Call, "notify": dialect.Notify, "subscribe": dialect.Subscribe,
	"raw": dialect.Raw, "watch": dialect.Watch, "eval": dialect.Eval,
}

func opName(k dialect.OpKind) string {
	for name, kind := range opNames {
		if kind == k {
			return name
		}
	}
	return ""
}

func (h *socketHandler) Handle(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
	switch in.Msg.Method {
	case "hello":
		return json.Marshal(hello{Dialect: h.socket.spec.Name, Endpoint: h.socket.shown})
	case "cancel":
		return h.cancel(in.Msg.Params)
	case "open", "notify":
		var w wireOp
		kind, err := readOp(in.Msg.Params, &w)
		if err != nil {
			return nil, err
		}
		op := dialect.Op{
			Kind: kind, Method: w.Method, Params: w.Params, Code: w.Code,
			Funcs: w.Funcs, Unsubscribe: w.Unsubscribe, Extra: w.Extra,
		}
		if in.Msg.Method == "notify" {
			return json.RawMessage("null"), toRPC(h.socket.caller.Notify(ctx, op))
		}
		if w.Hook != "" {
			defer h.socket.suspend(w.Hook)()
		}
		return nil, h.stream(ctx, in, op)
	}
	return nil, wire.Errorf(wire.CodeNoMethod, "a conversation has no method %q", in.Msg.Method)
}

// hello is the answer to a process that has just connected.
type hello struct {
	Dialect  string `json:"dialect"`
	Endpoint string `json:"endpoint"`
}

func readOp(params json.RawMessage, w *wireOp) (dialect.OpKind, error) {
	if err := json.Unmarshal(params, w); err != nil {
		return 0, wire.NewError(wire.CodeInvalidParams, err.Error())
	}
	kind, ok := opNames[w.Op]
	if !ok {
		return 0, wire.Errorf(wire.CodeInvalidParams, "unknown operation %q", w.Op)
	}
	return kind, nil
}

// stream runs op and passes its messages on until it ends or nobody wants it.
func (h *socketHandler) stream(ctx context.Context, in *dialect.Inbound, op dialect.Op) error {
	passed, ok := h.socket.pass()
	if !ok {
		return toRPC(context.Canceled)
	}
	defer passed()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	st, err := h.socket.caller.Open(ctx, op)
	if err != nil {
		return toRPC(err)
	}
	token := strconv.FormatInt(h.next.Add(1), 10)
	h.mu.Lock()
	h.open[token] = cancel
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		delete(h.open, token)
		h.mu.Unlock()
	}()
	defer leave(ctx, st)
	in.Answered = true
	if err := in.Emit(wire.Event{Kind: wire.Opened, Stream: wire.ID(token)}); err != nil {
		return err
	}
	return pass(ctx, st, wire.ID(token), in.Emit)
}

// leaveBound is how long we wait for the far side to hear that nobody wants the
// rest of a stream.
const leaveBound = 2 * time.Second

// leave tells the far side that nobody wants the rest of st, if there is one.
func leave(ctx context.Context, st dialect.Stream) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveBound)
	defer cancel()
	_ = st.Cancel(ctx)
}

// pass emits every message of st, then how it ended.
func pass(ctx context.Context, st dialect.Stream, token wire.ID, emit func(wire.Event) error) error {
	for {
		m, err := st.Next(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return emit(wire.Event{Kind: wire.Done, Final: true, Stream: token})
		case err != nil:
			return emit(wire.Event{Kind: wire.Failure, Final: true, Stream: token, Err: toRPC(err).(*wire.Error)})
		}
		if err := emit(wire.Event{Kind: wire.Data, Stream: token, Data: pack(m)}); err != nil {
			return err
		}
	}
}

func (h *socketHandler) cancel(params json.RawMessage) (json.RawMessage, error) {
	var ids []json.RawMessage
	if err := json.Unmarshal(params, &ids); err != nil || len(ids) != 1 {
		return nil, wire.NewError(wire.CodeInvalidParams, "cancel takes one stream")
	}
	h.mu.Lock()
	cancel := h.open[string(ids[0])]
	h.mu.Unlock()
	if cancel == nil {
		return json.RawMessage("false"), nil
	}
	cancel()
	return json.RawMessage("true"), nil
}

// packed is a message inside an item of the socket: as it came where it fits on
// a line, else as a string.
type packed struct {
	Final bool            `json:"final,omitempty"`
	Msg   json.RawMessage `json:"msg,omitempty"`
	Text  *string         `json:"text,omitempty"`
}

func pack(m wire.Message) json.RawMessage {
	b := []byte(`{"final":false`)
	if m.Final {
		b = []byte(`{"final":true`)
	}
	if bytes.ContainsAny(m.Raw, "\n\r") {
		b = append(b, `,"text":`...)
		return append(wire.AppendString(b, string(m.Raw)), '}')
	}
	b = append(b, `,"msg":`...)
	return append(append(b, m.Raw...), '}')
}
