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

// results says how a method's async results are addressed. A catalog gives it as
// the method's hints.results; all members are optional.
type results struct {
	Resource string `json:"resource"`   // of the results; "": the request's
	Target   string `json:"target"`     // "same": the request's; "new": one made up by us; "": the request's if it has one, else new
	ID       *bool  `json:"request_id"` // whether results carry request_id (the default)
}

// results returns how the async results of one request are addressed. requestID
// is nil if they do not name the request.
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
		target = scan.AppendQuoted(nil, resource+"-"+n)
	}
	if o.ID == nil || *o.ID {
		requestID = id
	}
	return resource, target, requestID
}

// An asyncResult writes the answer to one request as async results: a yield for
// each event, and one return.
type asyncResult struct {
	in     *dialect.Inbound
	extra  json.RawMessage // the members of each message beside its result
	stream wire.ID
	job    bool            // the method is a job, whose last data is its result
	held   json.RawMessage // a job's latest data, which may be its result; nil: none yet
	ended  bool            // the return was sent
}

// answerLater responds at once with the status accepted, then sends a yield for
// each event and finally a return. A request that is refused before its hook
// runs gets an ordinary error response instead.
func (h *handler) answerLater(ctx context.Context, in *dialect.Inbound, a Address, req dialect.Request, kind catalog.Kind) error {
	resource, target, requestID := h.results(a, in.Msg.ID)
	at := append(append(scan.AppendQuoted([]byte(`"resource":`), resource), `,"target":`...), target...)
	l := &asyncResult{in: in, stream: wire.ID(target), job: kind == catalog.Job, extra: append(append([]byte{'{'}, at...), '}')}
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

// event sends what a hook emits as a result. Progress and a stream's data go out
// at once. A job's data is held until the next comes, because the last is its
// result. Data whose status is done or error is the return itself.
func (l *asyncResult) event(ev wire.Event) error {
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

func (l *asyncResult) data(val json.RawMessage) error {
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

func (l *asyncResult) say(final bool, result json.RawMessage) error {
	l.ended = l.ended || final
	return l.in.Emit(wire.Event{Kind: wire.Data, Final: final, Stream: l.stream, Data: result, Extra: l.extra})
}

// underway encodes a progress event as a pending result.
func underway(ev wire.Event) json.RawMessage {
	b := []byte(`{"status":"pending"`)
	if f, err := strconv.ParseFloat(string(ev.Fraction), 64); err == nil {
		b = strconv.AppendFloat(append(b, `,"progress":`...), f*100, 'f', -1, 64)
	}
	if ev.Message != "" {
		b = scan.AppendQuoted(append(b, `,"message":`...), ev.Message)
	}
	return append(b, '}')
}

// withStatus returns a value as a result object with the status s. An object that
// has a status of its own stays as it is; a value that is no object becomes the
// named member.
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
		b = append(scan.AppendQuoted(append(b, ','), key), ':')
		b = append(b, v...)
	}
	return append(b, '}')
}

// failed encodes an error as the result of a return.
func failed(e *wire.Error) json.RawMessage {
	b := scan.AppendQuoted([]byte(`{"status":"error","message":`), e.Message)
	b = append(append(b, `,"error":`...), e.JSON()...)
	return append(b, '}')
}
