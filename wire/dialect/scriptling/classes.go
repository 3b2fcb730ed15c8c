package scriptling

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// create answers an object.new. The object exists once Class.__init__ has succeeded, if a hook answers it.
func (h *handler) create(ctx context.Context, in *dialect.Inbound, p []byte) (json.RawMessage, error) {
	name, args, err := target(p, "class")
	if err != nil {
		return nil, err
	}
	s, _ := h.server.once()
	cl := s.class(name)
	if cl == nil {
		known := wire.Map(s.Classes, func(c class) string { return c.Name })
		return nil, wire.Errorf(wire.CodeServer, "unknown class %s (available: %s)", clip(name), strings.Join(known, ", "))
	}
	o, err := h.server.add(cl)
	if err != nil {
		return nil, err
	}
	if _, err := h.ask(ctx, in, o, constructor, p, args); err != nil && !isUnknown(err) {
		if h.server.take(o) {
			h.server.clean(o)
		}
		return nil, err
	}
	return ref{h.server.b.Catalog().Info.Name, cl.Name, o.id}.append(nil), nil
}

// method answers an object.call_method, which names a method or a property.
func (h *handler) method(ctx context.Context, in *dialect.Inbound, p []byte) (json.RawMessage, error) {
	name, args, err := target(p, "method")
	if err != nil {
		return nil, err
	}
	o, err := h.object(p)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(o.class.Properties, func(m member) bool { return m.Name == name }); i >= 0 {
		if err := o.class.Properties[i].takes(args); err != nil {
			return nil, err
		}
	}
	result, err := json.RawMessage(nil), error(errUnknown)
	if name != constructor && name != destructor { // these run only when an object is created or destroyed
		result, err = h.ask(ctx, in, o, name, p, args)
	}
	if isUnknown(err) {
		return nil, wire.Errorf(wire.CodeServer, "unknown method %s on %s (available: %s)", clip(name), o.class.Name, names(o.class.Methods))
	}
	return value(result, err)
}

// takes returns an error unless the property can be read (without arguments) or set (with one positional argument).
func (m member) takes(args []byte) error {
	switch n, named := scan.Count(scan.Get(args, "args")), string(scan.Get(args, "kwargs")) != "{}"; {
	case n > 1 || named:
		return wire.Errorf(wire.CodeServer, "the property %s takes at most one positional argument and no keyword arguments", m.Name)
	case n == 1 && !m.Settable:
		return wire.Errorf(wire.CodeServer, "can't set attribute '%s': property is read-only", m.Name)
	}
	return nil
}

// destroy answers an object.destroy. Destroying an unknown object is not an error.
func (h *handler) destroy(ctx context.Context, in *dialect.Inbound, p []byte) (json.RawMessage, error) {
	null := json.RawMessage("null")
	if _, err := text(p, "object_id"); err != nil {
		return nil, err
	}
	o, err := h.object(p)
	if err != nil || !h.server.take(o) {
		return null, nil
	}
	args, _ := plainArguments(nil)
	_, err = h.ask(ctx, in, o, destructor, p, args)
	h.server.clean(o)
	if err != nil && !isUnknown(err) {
		return nil, err
	}
	return null, nil
}

func (h *handler) object(p []byte) (*object, error) {
	id, err := text(p, "object_id")
	if err != nil {
		return nil, err
	}
	if o, ok := h.server.objects.Load(id); ok {
		return o.(*object), nil
	}
	return nil, wire.Errorf(wire.CodeServer, "unknown object %s", clip(id))
}

// errUnknown is the error of a method without a hook.
var errUnknown = wire.NewError(wire.CodeNoMethod, "method not found")

func isUnknown(err error) bool { return err == error(errUnknown) }

// ask runs the hook Class.name for an object after the object's other calls.
func (h *handler) ask(ctx context.Context, in *dialect.Inbound, o *object, name string, p, args []byte) (json.RawMessage, error) {
	hook := o.class.Name + "." + name
	if _, ok := h.r.Kind(hook); !ok {
		return nil, errUnknown
	}
	if err := o.enter(ctx); err != nil {
		return nil, err
	}
	defer o.leave()
	if name != destructor && o.destroyed.Load() {
		return nil, wire.Errorf(wire.CodeServer, "unknown object %s", clip(o.id))
	}
	defer h.hold(o, callbacksIn(p))()
	r := h.request(in, hook, args)
	r.Vars = o.vars()
	return h.respond(ctx, r)
}

// hold records that a call of o received callbacks. over removes them.
func (h *handler) hold(o *object, callbacks []string) (over func()) {
	for _, id := range callbacks {
		h.holders.Store(id, o)
	}
	return func() {
		for _, id := range callbacks {
			h.holders.Delete(id)
		}
	}
}

// calling records that a hook has called a callback (on) or received the response. In between, the object accepts other
// calls, because the callback may call the object.
func (h *handler) calling(id string, on bool) {
	if o, ok := h.holders.Load(id); ok {
		o.(*object).wait(on)
	}
}
