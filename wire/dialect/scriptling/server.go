package scriptling

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
	"rpcx/wire/scratch"
)

// A server is a plugin or, on a host, answers the plugin's requests. All connections of a listener share it and its
// objects, because over HTTP each call is a separate connection.
type server struct {
	b    dialect.Backend
	once func() (schema, error)

	objects sync.Map // the *object by its id
	last    atomic.Int64
	dir     scratch.Dir                    // contains the objects' directories
	client  atomic.Pointer[dialect.Caller] // of the latest connection; destructors that run after its end cannot call the host
}

// NewServer returns a server for b. The hook with a function's name answers the function. A class Config has the hooks
// Config.__init__, Config.METHOD, Config.PROPERTY (which sets the property if it has an argument) and Config.__del__.
// Without a catalog, b belongs to a host, whose hooks answer a plugin's requests.
func NewServer(b dialect.Backend) dialect.Server {
	s := &server{
		b: b, dir: scratch.Dir{Kind: "plugin"},
		once: sync.OnceValues(func() (schema, error) { return fromCatalog(b.Catalog()) }),
	}
	return dialect.Server{Accept: s.Accept, End: s.Close}
}

// Accept returns the handler for one connection.
func (s *server) Accept(c dialect.Caller) dialect.Handler {
	h := &handler{server: s, r: s.b.Bind(c)}
	s.client.Store(&c)
	if codec, ok := c.Connection().Codec.(*codec); ok {
		codec.calling = h.calling
	}
	return dialect.Handler{Handle: h.Handle, Close: h.r.Close}
}

type handler struct {
	server  *server
	r       dialect.Responder
	holders sync.Map // by callback id, the *object whose call received the callback
}

// Handle answers one request or notification.
func (h *handler) Handle(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
	if h.server.b.Catalog() == nil {
		return h.asHost(ctx, in)
	}
	p := in.Msg.Params
	switch in.Msg.Method {
	case methodHandshake:
		s, err := h.server.once()
		if err != nil {
			return nil, wire.NewError(wire.CodeServer, err.Error())
		}
		return handshakeResult(h.server.b.Catalog(), s)
	case methodOpen, methodClose, methodShutdown:
		return json.RawMessage("null"), nil
	case methodCall:
		return h.function(ctx, in, p)
	case methodNew:
		return h.create(ctx, in, p)
	case methodMethod:
		return h.method(ctx, in, p)
	case methodDestroy:
		return h.destroy(ctx, in, p)
	}
	return nil, wire.Errorf(wire.CodeServer, "unknown method %s", in.Msg.Method)
}

// asHost answers a request from a plugin: an expired callback, host.log (which the codec has already passed to the
// user), or a method with a hook.
func (h *handler) asHost(ctx context.Context, in *dialect.Inbound) (json.RawMessage, error) {
	method := in.Msg.Method
	switch {
	case method == "" && in.Msg.Kind == wire.Notification: // an object that is not a message
		return nil, nil
	case method == methodCallback:
		return nil, wire.Errorf(wire.CodeServer, "unknown callback %s", clip(scan.String(scan.Get(in.Msg.Params, "id"))))
	}
	if _, ok := h.r.Kind(method); ok {
		return h.r.Respond(ctx, h.request(in, method, in.Msg.Params))
	}
	if method == methodLog {
		if err := checkLog(in.Msg.Params); err != nil {
			return nil, wire.NewError(wire.CodeServer, err.Error())
		}
		return json.RawMessage("null"), nil
	}
	return nil, wire.Errorf(wire.CodeServer, "unknown method %s", method)
}

func (h *handler) request(in *dialect.Inbound, name string, params json.RawMessage) dialect.Request {
	return dialect.Request{
		Method: name, Params: params, ID: in.Msg.ID, Notification: in.Msg.Kind == wire.Notification,
		Emit: func(wire.Event) error { return nil },
	}
}

// function answers a function.call.
func (h *handler) function(ctx context.Context, in *dialect.Inbound, p []byte) (json.RawMessage, error) {
	name, args, err := target(p, "name")
	if err != nil {
		return nil, err
	}
	if _, ok := h.r.Kind(name); !ok || strings.Contains(name, ".") {
		s, _ := h.server.once()
		i := slices.IndexFunc(s.Functions, func(m member) bool { return m.Name == name })
		switch {
		case i >= 0 && s.Functions[i].Source != "":
			return nil, wire.Errorf(wire.CodeServer, "the function %s runs in the host, which has its source; no hook answers it", name)
		case i >= 0: // a description without a hook
			return nil, wire.Errorf(wire.CodeServer, "no hook answers the function %s", name)
		}
		return nil, wire.Errorf(wire.CodeServer, "unknown function %s (available: %s)", clip(name), names(s.Functions))
	}
	return value(h.respond(ctx, h.request(in, name, args)))
}

// respond runs the hook that answers r. The specification has only one error code for a failed call, even for invalid
// arguments. An error of the hook stays unchanged.
func (h *handler) respond(ctx context.Context, r dialect.Request) (json.RawMessage, error) {
	result, err := h.r.Respond(ctx, r)
	var rpc *wire.Error
	if !errors.As(err, &rpc) || rpc.Raw != nil {
		return result, err
	}
	switch string(rpc.Code) {
	case "-32601", "-32602", "-32001":
		e := rpc.Clone()
		e.Code = wire.NewError(wire.CodeServer, "").Code
		return nil, e
	}
	return result, err
}

// text returns a required string member of the params.
func text(p []byte, key string) (string, error) {
	s, ok := scan.Text(scan.Get(p, key))
	if scan.Type(p) != 'o' || !ok {
		return "", wire.Errorf(wire.CodeServer, "the params have no string member %s", strconv.Quote(key))
	}
	return s, nil
}

// target returns the name in a member of the params, and the arguments for the hook of that name.
func target(p []byte, key string) (name string, args json.RawMessage, err error) {
	if name, err = text(p, key); err != nil {
		return "", nil, err
	}
	if args, err = plainArguments(p); err != nil {
		return "", nil, wire.NewError(wire.CodeServer, err.Error())
	}
	return name, args, nil
}

// value converts a hook's result to a Value.
func value(result json.RawMessage, err error) (json.RawMessage, error) {
	if err != nil {
		return nil, err
	}
	return encoder{}.value(nil, scan.OrNull(result), "")
}

// destructorsTimeout bounds the time for the destructors of all objects that exist when the server closes.
const destructorsTimeout = 2 * time.Second

// Close destroys the remaining objects, oldest first, and removes their directories.
func (s *server) Close() error {
	var left []*object
	for id, o := range s.objects.Range {
		s.objects.Delete(id)
		left = append(left, o.(*object))
	}
	number := func(o *object) int { n, _ := strconv.Atoi(o.id); return n }
	slices.SortFunc(left, func(a, b *object) int { return number(a) - number(b) })
	s.destroyAll(left)
	return s.dir.Remove()
}

// destroyAll runs the destructors of objects whose connections have ended.
func (s *server) destroyAll(left []*object) {
	if len(left) == 0 {
		return
	}
	r := s.b.Bind(*s.client.Load())
	defer func() { _ = r.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), destructorsTimeout)
	defer cancel()
	args, _ := plainArguments(nil)
	for _, o := range left {
		hook := o.class.Name + "." + destructor
		if _, ok := r.Kind(hook); !ok {
			continue
		}
		_, _ = r.Respond(ctx, dialect.Request{
			Method: hook, Params: args, Vars: o.vars(), // no client can receive an error
		})
	}
}
