package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"rpcx/wire"
)

// Gather makes of r, a request of a method that streams, one whose items are its
// result: an array of at most most bytes, which gathered returns with what Respond
// returned. It is for who cannot be sent items one by one.
func Gather(r *Request, most int) (gathered func(json.RawMessage, error) (json.RawMessage, error)) {
	var items [][]byte
	var failed error
	size := 0
	r.Stream = true
	r.Emit = func(ev wire.Event) error {
		switch {
		case failed != nil:
			return failed
		case ev.Kind == wire.Failure && ev.Err != nil && ev.Extra == nil: // one after which nothing comes
			failed = ev.Err
		case ev.Kind == wire.Data:
			item := ev.Data
			if item == nil {
				item = json.RawMessage("null")
			}
			if size += len(item) + 1; size > most {
				failed = wire.NewError(wire.CodeServer, fmt.Sprintf("the items are longer than %d bytes in sum", most))
				return failed
			}
			items = append(items, append([]byte(nil), item...))
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
		return slices.Concat([]byte("["), bytes.Join(items, []byte(",")), []byte("]")), nil
	}
}
