package all_test

import (
	"encoding/json"
	"fmt"

	"rpcx/wire"
	"rpcx/wire/dialect"
)

// spelt returns the operation that a JSON object says.
func spelt(text string) (dialect.Op, error) {
	var o struct {
		Kind, Method, Code, Job, Unsubscribe, Beside string
		Params, UnsubscribeParams, Extra             json.RawMessage
		OfID, Stream, About                          json.RawMessage
		Of                                           json.RawMessage
		Funcs                                        map[string]string
		Lasting, Nested                              bool
	}
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return dialect.Op{}, err
	}
	kind, ok := kinds[o.Kind]
	if !ok {
		return dialect.Op{}, fmt.Errorf("there is no operation %q", o.Kind)
	}
	op := dialect.Op{
		Kind: kind, Method: o.Method, Params: o.Params, Code: o.Code, Job: o.Job, Unsubscribe: o.Unsubscribe,
		UnsubscribeParams: o.UnsubscribeParams, Extra: o.Extra, OfID: wire.ID(o.OfID), Stream: wire.ID(o.Stream),
		About: wire.ID(o.About), Funcs: o.Funcs, Lasting: o.Lasting, Nested: o.Nested, Beside: o.Beside,
	}
	if o.Of != nil {
		of, err := spelt(string(o.Of))
		if err != nil {
			return op, err
		}
		op.Of = &of
	}
	return op, nil
}

// speltEvent returns the event that a JSON object says.
func speltEvent(text string) (wire.Event, error) {
	var e struct {
		Event  string
		Stream json.RawMessage
		Kind   json.RawMessage // so that the event's own is not read
	}
	var ev wire.Event
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return ev, err
	}
	rest := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(text), &rest); err != nil {
		return ev, err
	}
	delete(rest, "event")
	delete(rest, "stream")
	plain, err := json.Marshal(rest)
	if err == nil {
		err = json.Unmarshal(plain, &ev)
	}
	ev.Stream = wire.ID(e.Stream)
	for kind := wire.Data; kind <= wire.Opened; kind++ {
		if kind.String() == e.Event {
			ev.Kind = kind
			return ev, err
		}
	}
	return ev, fmt.Errorf("there is no event %q", e.Event)
}
