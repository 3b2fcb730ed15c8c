package jsonrpc

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// discover is the method of OpenRPC's service discovery.
const discover = "rpc.discover"

// NewServer returns a server for the methods of b. It answers calls and jobs; a job's answer is its last data. Its
// streams have the form that Ethereum nodes use: a subscription, which an unsubscribe method ends. If b has a catalog,
// it answers rpc.discover.
func NewServer(b dialect.Backend) dialect.Server {
	return dialect.Server{Accept: func(c dialect.Caller) dialect.Handler {
		h := &handler{b: b, r: b.Bind(c), now: c.Connection().SingleResponse}
		return dialect.Handler{Handle: h.Handle, Close: h.r.Close, Ignores: h.Ignores}
	}}
}

// A handler answers the requests of one connection.
type handler struct {
	b   dialect.Backend
	r   dialect.Responder
	now bool // the peer accepts one response and no items

	streams sync.Map // the *subscription by its id token
}

type subscription struct {
	method string
	item   string // the method of its items, or "" for its own
	id     wire.ID
	cancel context.CancelFunc
	ended  atomic.Bool // ended by NAME_unsubscribe; nothing more is sent
}

// Handle answers one request or notification.
func (h *handler) Handle(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
	method := in.Msg.Method
	if answer, mine := h.unsubscribe(method, in.Msg.Params); mine {
		return answer, nil
	}
	kind, ok := h.r.Kind(method)
	switch {
	case method == discover && h.b.Catalog() != nil && (!ok || dialect.Describes(h.b, h.r, discover)):
		return ToOpenRPC(h.b.Catalog()), nil
	case !ok:
		return nil, dialect.Unknown(h.b, method)
	case in.Msg.Kind == wire.Notification:
		return h.r.Respond(ctx, dialect.Request{
			Method: method, Params: in.Msg.Params, Notification: true,
			Stream: kind == catalog.Stream, Emit: func(wire.Event) error { return nil },
		})
	case kind == catalog.Stream && !h.now:
		return nil, h.stream(ctx, in)
	}
	r := dialect.Request{Method: method, Params: in.Msg.Params, ID: in.Msg.ID}
	if kind == catalog.Stream {
		gathered := dialect.Gather(&r, wire.DefaultMaxMessage)
		return gathered(h.r.Respond(ctx, r))
	}
	return dialect.LastOf(ctx, h.r.Respond, r, nil)
}

// Ignores reports whether a notification has no effect (see dialect.Handler).
func (h *handler) Ignores(method string) bool {
	hooked := func(name string) bool {
		_, ok := h.r.Kind(name)
		return ok
	}
	return method != discover && !hooked(method) && !slices.ContainsFunc(subscribeNames(method), hooked)
}

// stream answers with a subscription id, then the items, and then the end. A request that is rejected before its hook
// runs gets an error response.
func (h *handler) stream(ctx context.Context, in *dialect.Inbound) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var form catalog.StreamForm
	if m := h.b.Catalog().Method(in.Msg.Method); m != nil && m.Stream != nil {
		form = *m.Stream
	}
	s := &subscription{method: in.Msg.Method, item: form.Method, id: newID(form.ID), cancel: cancel}
	h.streams.Store(string(s.id), s)
	emit := func(ev wire.Event) error {
		if s.ended.Load() {
			return context.Canceled
		}
		ev.Stream, ev.Method = s.id, s.item
		return in.Emit(ev)
	}
	failed := false
	_, err := h.r.Respond(ctx, dialect.Request{
		Method: in.Msg.Method, Params: in.Msg.Params, ID: in.Msg.ID, Stream: true,
		Begin: func() error {
			in.Answered = true
			return in.Emit(wire.Event{Kind: wire.Opened, Stream: s.id})
		},
		Emit: func(ev wire.Event) error {
			switch {
			case ev.Kind == wire.Done: // reported once, below
				return nil
			case failed: // the error was the end
				return context.Canceled
			case ev.Kind == wire.Failure && !recovers(ev.Err):
				failed = true
				h.remove(s)
			}
			return emit(ev)
		},
	})
	h.remove(s) // a client may read the end and unsubscribe at once
	switch {
	case !in.Answered:
		return err
	case failed:
		return nil
	}
	switch {
	case err != nil:
		return emit(wire.Event{Kind: wire.Failure, Final: true, Err: wire.AsError(err)})
	case s.item != "": // clients of such streams do not know an end message
		return nil
	}
	return emit(wire.Event{Kind: wire.Done, Final: true})
}

// recovers reports whether the stream continues after an error.
func recovers(e *wire.Error) bool {
	return e != nil && string(scan.Get(e.JSON(), "recoverable")) == "true"
}

func (h *handler) remove(s *subscription) { h.streams.Delete(string(s.id)) }

// unsubscribe ends a stream of this connection. mine is false for other methods.
func (h *handler) unsubscribe(method string, params json.RawMessage) (answer json.RawMessage, mine bool) {
	if !slices.ContainsFunc(subscribeNames(method), func(name string) bool {
		kind, ok := h.r.Kind(name)
		return ok && kind == catalog.Stream
	}) {
		return nil, false
	}
	stream, _ := h.streams.Load(string(SubscriptionIn(params)))
	s, ok := stream.(*subscription)
	if !ok || !Ends(method, s.method) || s.ended.Swap(true) {
		return json.RawMessage("false"), true
	}
	s.cancel()
	return json.RawMessage("true"), true
}

// SubscriptionIn finds a stream's id in params: the first element of an array, or a member whose name identifies it.
func SubscriptionIn(params json.RawMessage) []byte {
	switch scan.Type(params) {
	case 'a':
		return scan.First(params)
	case 'o':
		for key, val := range scan.Members(params) {
			if isSubscription(key) || string(key) == "id" {
				return val
			}
		}
	}
	return nil
}

// newID returns a stream id that clients cannot guess, in one of the forms of catalog.StreamForm. An integer is below
// 2^53, which every client can read.
func newID(form string) wire.ID {
	switch form {
	case "hex":
		return wire.ID(`"0x` + wire.RandomHex(16) + `"`)
	case "integer":
		var b [8]byte
		_, _ = rand.Read(b[:]) // never fails
		return strconv.AppendUint(nil, binary.BigEndian.Uint64(b[:])>>11, 10)
	}
	return wire.ID(`"` + wire.RandomHex(8) + `"`)
}
