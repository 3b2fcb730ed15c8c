package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/peer"
)

// remote is a Conversation that another process of ours holds, reached over its
// socket.
type remote struct {
	p    *peer.Peer
	hook string

	mu    sync.Mutex
	codec dialect.Codec // of the far side's dialect, to read what it said
}

// dialSocket reaches the conversation behind e.Socket.
func dialSocket(ctx context.Context, e Endpoint, o Options) (Conversation, error) {
	if len(o.Hooks) > 0 {
		return nil, usage("hooks belong to the connection: %s has its own", e)
	}
	nc, err := new(net.Dialer).DialContext(ctx, "unix", e.Socket)
	if err != nil {
		return nil, wire.NewFault(wire.Unreachable, fmt.Sprintf("%s: no conversation is there any more", e), err)
	}
	p := socketPeer(nc, peer.Options{})
	raw, err := p.Call(ctx, "hello", nil)
	var h hello
	if err == nil {
		err = json.Unmarshal(raw, &h)
	}
	if err == nil {
		e.Dialect = h.Dialect
		_, err = specOf(e.Dialect)
	}
	if err != nil {
		_ = p.Close()
		return nil, wire.NewFault(wire.Unreachable, fmt.Sprintf("%s does not answer as a conversation does", e), err)
	}
	return &remote{p: p, hook: e.Hook, codec: SpecOf(e).NewCodec(e, o.Transport.Options)}, nil
}

func (r *remote) params(op dialect.Op) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // params are the user's, letter for letter
	err := enc.Encode(wireOp{
		Op: opName(op.Kind), Method: op.Method, Params: op.Params, Code: op.Code,
		Funcs: op.Funcs, Unsubscribe: op.Unsubscribe, Extra: op.Extra, Hook: r.hook,
	})
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func (r *remote) Open(ctx context.Context, op dialect.Op) (dialect.Stream, error) {
	params, err := r.params(op)
	if err != nil {
		return nil, err
	}
	st, err := r.p.Open(ctx, dialect.Op{Kind: dialect.Subscribe, Method: "open", Params: params, Unsubscribe: "cancel"})
	if err != nil {
		return nil, fromRPC(err)
	}
	return &remoteStream{Stream: st, remote: r}, nil
}

func (r *remote) Notify(ctx context.Context, op dialect.Op) error {
	op.Kind = dialect.Notify
	params, err := r.params(op)
	if err == nil {
		_, err = r.p.Call(ctx, "notify", params)
	}
	return fromRPC(err)
}

func (r *remote) Describe(ctx context.Context) (*catalog.Catalog, error) {
	describer, ok := r.codec.(dialect.Describer)
	if !ok {
		return nil, usage("the dialect has no way to ask what the far side offers")
	}
	return received(describer.Describe(ctx, remoteCaller{r}))
}

func (r *remote) Event(m wire.Message) (wire.Event, error) { return eventOf(r.codec, m) }

func (r *remote) Raw() (*RawPipe, error) {
	return nil, usage("connect needs a connection of its own: a hook's @ takes call and subscribe")
}

func (r *remote) HookFailure() error { return nil }

// Settle has nothing to wait for: the hooks are the other process's.
func (r *remote) Settle(context.Context) {}

func (r *remote) Err() error { return r.p.Err() }

func (r *remote) Close() error { return r.p.Close() }

// remoteStream reads the messages that the socket's items carry.
type remoteStream struct {
	dialect.Stream
	remote *remote
	over   bool
}

func (s *remoteStream) Next(ctx context.Context) (wire.Message, error) {
	for !s.over {
		m, err := s.Stream.Next(ctx)
		switch {
		case err != nil:
			return wire.Message{}, fromRPC(err)
		case m.Err != nil:
			s.over = true
			return wire.Message{}, fromRPC(m.Err)
		case m.Kind == wire.Response:
			continue // it names the stream
		case m.Final && m.Body == nil:
			s.over = true
			continue
		}
		return s.remote.unpack(m.Body)
	}
	return wire.Message{}, io.EOF
}

// unpack decodes the message inside an item.
func (r *remote) unpack(body json.RawMessage) (wire.Message, error) {
	var p packed
	if err := json.Unmarshal(body, &p); err != nil {
		return wire.Message{}, wire.NewFault(wire.Protocol, "the conversation sent what is no message", err)
	}
	raw := []byte(p.Msg)
	if p.Text != nil {
		raw = []byte(*p.Text)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	msgs, _, err := r.codec.Decode(raw)
	if err != nil || len(msgs) == 0 {
		return wire.Message{}, wire.NewFault(wire.Protocol, "the conversation sent what is no message", err)
	}
	m := msgs[0].Clone()
	m.Final = p.Final
	return m, nil
}

// remoteCaller lets a flow run over a remote conversation.
type remoteCaller struct{ r *remote }

func (c remoteCaller) Open(ctx context.Context, op dialect.Op) (dialect.Stream, error) {
	return c.r.Open(ctx, op)
}

func (c remoteCaller) Notify(ctx context.Context, op dialect.Op) error { return c.r.Notify(ctx, op) }

func (c remoteCaller) CloseWith(int, string) error { return nil }

func (c remoteCaller) Call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	st, err := c.r.Open(ctx, dialect.Op{Kind: dialect.Call, Method: method, Params: params})
	if err != nil {
		return nil, err
	}
	m, err := st.Next(ctx)
	switch {
	case errors.Is(err, io.EOF):
		return nil, wire.NewFault(wire.Protocol, "the call ended without an answer", nil)
	case err != nil:
		return nil, err
	case m.Err != nil:
		return nil, m.Err
	}
	return m.Body, nil
}
