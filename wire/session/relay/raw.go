package relay

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// This file carries the raw traffic of a conversation over a socket. The method raw opens a stream of the peer's
// messages. raw.send sends one message, and raw.finish declares that the process will send no more.

// rawRequest contains the params of raw.send and raw.finish.
type rawRequest struct {
	Stream  json.RawMessage `json:"stream"`
	Message string          `json:"message,omitempty"`
}

// A RawPipe carries the traffic of a conversation as whole messages (rpcx-sessions(7)). Its user receives messages for
// which there is no hook, in order of arrival, and sends messages.
type RawPipe interface {
	// Recv returns the next message, or io.EOF after the last. idle is set if no further message is queued.
	Recv() (m wire.Message, idle bool, err error)
	// Send sends one message from the user: a request, a notification, or the response to a request. The message keeps
	// its id unless that id is in use. While rpcx reconnects, Send waits.
	Send(ctx context.Context, msg []byte) error
	// Finish declares that the user will send no more messages. Requests of the peer that are pending, or arrive later,
	// get -32603. Finish waits, at most until ctx ends, for the responses to the user's messages and, except in a
	// session, to the peer's requests. It fails if a response cannot arrive: the connection was lost, the peer rejected
	// the request, or the response was invalid.
	Finish(ctx context.Context) error
	// Stop makes Recv return io.EOF after the queued messages.
	Stop()
	// Err returns why the traffic ended. It returns nil before the end, and after a clean end without missing
	// responses.
	Err() error
}

// A SharedPipe is a RawPipe of a conversation that several processes use.
type SharedPipe interface {
	RawPipe
	// Leave ends the pipe and rejects its pending requests.
	Leave()
	// Context returns a context that ends when Leave is called.
	Context() context.Context
}

// openRaw responds with a stream of the incoming messages for which there is no hook.
func openRaw(ctx context.Context, h *Process, in *dialect.Inbound, up Backend) (json.RawMessage, error) {
	shared, ok := up.(interface{ JoinRaw() SharedPipe }) // the connection of a session
	if !ok {
		return nil, wire.Usagef("only a session has raw traffic")
	}
	passed, err := h.socket.beginStream()
	if err != nil {
		return nil, err
	}
	defer passed()
	pipe := shared.JoinRaw()
	defer pipe.Leave()
	return nil, h.stream(in, openStream{cancel: pipe.Stop, pipe: pipe}, func(token wire.ID) error {
		defer context.AfterFunc(ctx, pipe.Stop)()
		for {
			m, _, err := pipe.Recv()
			if err != nil {
				if failed := pipe.Err(); failed != nil {
					err = failed
				}
				return over(err, token, in.Emit)
			}
			item := packed{Kind: m.Kind, Final: m.Final, Msg: m.Raw}.json()
			if err := in.Emit(wire.Event{Kind: wire.Data, Stream: token, Data: item}); err != nil {
				return err
			}
		}
	})
}

func (h *Process) pipe(in *dialect.Inbound) (r rawRequest, pipe SharedPipe, err error) {
	if err := json.Unmarshal(in.Msg.Params, &r); err != nil {
		return r, nil, wire.Usagef("invalid raw request: %v", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if pipe = h.open[string(r.Stream)].pipe; pipe == nil {
		return r, nil, wire.NewFault(wire.Closed, "the raw traffic has ended", nil)
	}
	return r, pipe, nil
}

func sendRaw(_ context.Context, h *Process, in *dialect.Inbound) (json.RawMessage, error) {
	r, pipe, err := h.pipe(in)
	if err != nil {
		return nil, err
	}
	return nil, pipe.Send(pipe.Context(), []byte(r.Message)) // over HTTP, the response may arrive much later
}

func finishRaw(ctx context.Context, h *Process, in *dialect.Inbound) (json.RawMessage, error) {
	_, pipe, err := h.pipe(in)
	if err != nil {
		return nil, err
	}
	return nil, pipe.Finish(ctx)
}

// remotePipe is the raw traffic of a conversation that another process offers.
type remotePipe struct {
	r      *Client
	stream *remoteStream
	token  json.RawMessage
	ctx    context.Context // bounds Recv
	stop   context.CancelFunc

	mu  sync.Mutex
	err error
}

func (r *Client) Raw() (RawPipe, error) {
	if r.hello.Session == "" {
		return nil, wire.Usagef("connect needs its own connection or a session; in a hook, @ works with call and subscribe")
	}
	st, err := r.stream(context.Background(), "raw", nil)
	if err != nil {
		return nil, err
	}
	if err := r.InTime(context.Background(), st.opened); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	return &remotePipe{r: r, stream: st, token: json.RawMessage(st.token), ctx: ctx, stop: stop}, nil
}

func (p *remotePipe) Recv() (wire.Message, bool, error) {
	m, err := p.stream.Next(p.ctx)
	if err != nil {
		p.mu.Lock()
		if err != io.EOF && p.ctx.Err() == nil {
			p.err = err
		}
		p.mu.Unlock()
		return wire.Message{}, true, io.EOF
	}
	return m, !p.stream.Waiting(), nil
}

func (p *remotePipe) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Stop ends the traffic after the messages that have been received.
func (p *remotePipe) Stop() {
	ctx, cancel := context.WithTimeout(context.Background(), dialect.CancelTimeout)
	defer cancel()
	_, _ = p.r.Call(ctx, "cancel", json.RawMessage("["+string(p.token)+"]"))
	time.AfterFunc(dialect.CancelTimeout, p.stop) // the end of the stream may never arrive
}

func (p *remotePipe) Send(ctx context.Context, msg []byte) error {
	_, err := p.r.Call(ctx, "raw.send", scan.JSON(rawRequest{p.token, string(msg)}))
	return err
}

func (p *remotePipe) Finish(ctx context.Context) error {
	_, err := p.r.Call(ctx, "raw.finish", scan.JSON(rawRequest{Stream: p.token}))
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
