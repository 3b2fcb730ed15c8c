package dialect

import (
	"encoding/json"
	"fmt"

	"rpcx/wire"
)

// Gather changes r, a request of a method that streams, so that its items are collected. gathered returns them as an
// array of at most most bytes, together with the result of Respond. It is for clients that cannot receive items one by
// one. A hook that does not end is stopped after the time limit of a call.
func Gather(r *Request, most int) (gathered func(json.RawMessage, error) (json.RawMessage, error)) {
	items := []byte("[")
	var failed error
	r.Stream, r.Whole = true, true
	r.Emit = func(ev wire.Event) error {
		switch {
		case failed != nil:
			return failed
		case ev.Kind == wire.Failure && ev.Err != nil && ev.Extra == nil: // the last item
			failed = ev.Err
		case ev.Kind == wire.Data:
			item := ev.Data
			if item == nil {
				item = json.RawMessage("null")
			}
			if len(items)+len(item) > most {
				failed = wire.NewError(wire.CodeServer, fmt.Sprintf("the items are longer than %d bytes in total", most))
				return failed
			}
			if len(items) > 1 {
				items = append(items, ',')
			}
			items = append(items, item...)
		}
		return nil
	}
	return func(result json.RawMessage, err error) (json.RawMessage, error) {
		if failed != nil {
			return nil, failed
		}
		if err != nil {
			return nil, err
		}
		return append(items, ']'), nil
	}
}
