package ro

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// results say how a method's async results are addressed, as hints.results of a
// catalog's method has it: {"resource","target","request_id"}, all optional.
type results struct {
	Resource string `json:"resource"`   // "": that of the request
	Target   string `json:"target"`     // "same": that of the request; "new": one of our own; "": the same where there is one
	ID       *bool  `json:"request_id"` // whether results name the request (the default)
}

// results returns the members of the results of one request but for the result,
// and whether results name the request.
func (h *handler) results(a Address, id wire.ID) (resource string, target json.RawMessage, requestID wire.ID) {
	var o results
	if m := h.method(a); m != nil {
		_ = json.Unmarshal(scan.Get(m.Hints, "results"), &o)
	}
	resource, target = resourceOf(a), a.Target
	if o.Resource != "" && o.Resource != resource {
		resource = o.Resource
		if o.Target != "same" {
			target = nil
		}
	}
	if target == nil || o.Target == "new" {
		n := strconv.FormatInt(h.server.last.Add(1), 10)
		target = wire.AppendString(nil, resource+"-"+n)
	}
	if o.ID == nil || *o.ID {
		requestID = id
	}
	return resource, target, requestID
}

// A later answers one request by async results.
type later struct {
	in     *dialect.Inbound
	extra  json.RawMessage // the members of each
	stream wire.ID
	job    bool            // its last data is the result
	held   json.RawMessage // of a job: data that may be the last; nil: none
	ended  bool            // the return is out
}

// later answers at once that more comes, then with a yield for each event and
// at last a return. What is refused before anything runs is an error as any.
func (h *handler) later(ctx context.Context, in *dialect.Inbound, a Address, req dialect.Request, kind catalog.Kind) error {
	resource, target, requestID := h.results(a, in.Msg.ID)
	at := append(append(wire.AppendString([]byte(`"resource":`), resource), `,"target":`...), target...)
	l := &later{in: in, stream: wire.ID(target), job: kind == catalog.Job, extra: append(append([]byte{'{'}, at...), '}')}
	if requestID != nil {
		l.extra = append(append(append(l.extra[:len(l.extra)-1], `,"request_id":`...), requestID...), '}')
	}
	req.Begin = func() error {
		in.Answered = true
		return in.Emit(wire.Event{Kind: wire.Data, Data: append(append([]byte(`{"status":"accepted",`), at...), '}')})
	}
	req.Stream, req.Emit = true, l.event
	_, err := h.respond(ctx, a, req)
	switch {
	case !in.Answered:
		return err
	case l.ended:
		return nil
	case err != nil:
		return l.say(true, failed(wire.AsError(err)))
	}
	return l.say(true, withStatus("done", "result", l.held))
}

// event makes a result of what a hook emits: of progress, and of a stream's
// data, at once; a job's data wait for the next, since the last are its result.
// Data that say that it is done, or an error, are the return.
func (l *later) event(ev wire.Event) error {
	if l.ended {
		return context.Canceled
	}
	switch ev.Kind {
	case wire.Data:
		return l.data(ev.Data)
	case wire.Progress:
		return l.say(false, underway(ev))
	case wire.Failure:
		return l.say(true, failed(ev.Err))
	}
	return nil
}

func (l *later) data(val json.RawMessage) error {
	said := status(val)
	switch {
	case said == "done" || said == "error":
		return l.say(true, val)
	case !l.job || said == "accepted" || said == "pending":
		return l.say(false, withStatus("pending", "data", val))
	}
	before := l.held
	l.held = bytes.Clone(val)
	if before == nil {
		return nil
	}
	return l.say(false, withStatus("pending", "data", before))
}

func (l *later) say(final bool, result json.RawMessage) error {
	l.ended = l.ended || final
	return l.in.Emit(wire.Event{Kind: wire.Data, Final: final, Stream: l.stream, Data: result, Extra: l.extra})
}

// underway is a progress event as a result.
func underway(ev wire.Event) json.RawMessage {
	b := []byte(`{"status":"pending"`)
	if f, err := strconv.ParseFloat(string(ev.Fraction), 64); err == nil {
		b = strconv.AppendFloat(append(b, `,"progress":`...), f*100, 'f', -1, 64)
	}
	if ev.Message != "" {
		b = wire.AppendString(append(b, `,"message":`...), ev.Message)
	}
	return append(b, '}')
}

// withStatus is a value as the result of a message: an object with a status of
// its own as it stands, another with this one, anything else as its member.
func withStatus(s, member string, val json.RawMessage) json.RawMessage {
	b := append(append([]byte(`{"status":"`), s...), '"')
	switch {
	case status(val) != "":
		return val
	case scan.Type(val) != 'o':
		if len(val) > 0 {
			b = append(append(append(append(b, `,"`...), member...), `":`...), val...)
		}
		return append(b, '}')
	}
	if scan.Get(val, "status") != nil {
		b = append(append(append(b, `,"`...), member...), `":`...)
		return append(append(b, val...), '}')
	}
	for key, v := range each(val) {
		b = append(wire.AppendString(append(b, ','), key), ':')
		b = append(b, v...)
	}
	return append(b, '}')
}

// failed is an error as the result of a return.
func failed(e *wire.Error) json.RawMessage {
	b := wire.AppendString([]byte(`{"status":"error","message":`), e.Message)
	b = append(append(b, `,"error":`...), e.JSON()...)
	return append(b, '}')
}
