package dialect

import (
	"context"
	"encoding/json"
	"errors"

	"rpcx/wire"
	"rpcx/wire/catalog"
)

// LastOf changes r so that its answer is the result of Respond or, if there is none, the last data that was emitted (a
// job's). last makes the answer from the result of Respond. Other events go to others; nil drops them.
func LastOf(r *Request, others func(wire.Event) error) (last func(json.RawMessage, error) (json.RawMessage, error)) {
	var data json.RawMessage
	r.Emit = func(ev wire.Event) error {
		switch {
		case ev.Kind == wire.Data:
			data = ev.Data
		case others != nil:
			return others(ev)
		}
		return nil
	}
	return func(result json.RawMessage, err error) (json.RawMessage, error) {
		if result == nil {
			result = data
		}
		return result, err
	}
}

// Unknown returns the error response for a method that b does not have. Its data names the most similar method that b
// describes.
func Unknown(b Backend, method string) error {
	e := wire.Errorf(wire.CodeNoMethod, "method not found: %s", method)
	if c := b.Catalog(); c != nil {
		if near := catalog.Nearest(method, c.Names()); near != "" {
			return e.WithData(map[string]string{"nearest": near})
		}
	}
	return e
}

// Discover returns the result of the method by which a peer describes itself, or wire.ErrUnsupported if the peer does
// not have it.
func Discover(ctx context.Context, caller Caller, method string) (json.RawMessage, error) {
	doc, err := caller.Call(ctx, method, nil)
	if e, ok := errors.AsType[*wire.Error](err); ok && string(e.Code) == "-32601" {
		err = wire.ErrUnsupported
	}
	return doc, err
}
