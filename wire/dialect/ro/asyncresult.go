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

// results describes the address of a method's async results. It is the method's hints.results in a catalog. All members
// are optional.
type results struct {
	Resource string `json:"resource"`   // the results' resource; the request's by default
	Target   string `json:"target"`     // "same" for the request's target, "new" for a generated one; the default is "same" if the request has a target
	ID       *bool  `json:"request_id"` // whether results contain request_id (the default)
}

// results returns the address of one request's async results. requestID is nil if the results do not name the request.
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

// An asyncResult writes the answer to a request as async results: a yield for each event, and one return.
type asyncResult struct {
	in     *dialect.Inbound
	extra  json.RawMessage // members beside each result
	stream wire.ID
	job    bool            // the method is a job: its last data is its result
	held   json.RawMessage // a job's latest data, which is its result if no other data follows; may be nil
	ended  bool            // the return was sent
}

// answerLater responds at once with the status accepted. It then sends a yield for each event, and finally a return. A
// request that is rejected before its hook runs gets an ordinary error response.
func (h *handler) answerLater(ctx context.Context, in *dialect.Inbound, a Address, req dialect.Request, kind catalog.Kind) error {
	resource, target, requestID := h.results(a, in.Msg.ID)
	var accepted, extra scan.Object
	accepted.Text("status", "accepted")
	for _, o := range []*scan.Object{&accepted, &extra} {
		o.Text("resource", resource)
		o.Add("target", target)
	}
	extra.Add("request_id", requestID)
	l := &asyncResult{in: in, stream: wire.ID(target), job: kind == catalog.Job, extra: extra.End()}
	req.Begin = func() error {
		in.Answered = true
		return in.Emit(wire.Event{Kind: wire.Data, Data: accepted.End()})
	}
	req.Stream, req.Emit = true, l.event
	_, err := h.respond(ctx, a, req)
	switch {
	case !in.Answered:
		return err
	case l.ended:
		return nil
	case err != nil:
		return l.send(true, failed(wire.AsError(err)))
	}
	return l.send(true, withStatus("done", "result", l.held))
}

// event sends an event of a hook as an async result. It sends progress and a stream's data at once. It delays a job's
// data until the next data arrives, because the last data is the job's result. Data with the status done or error
// becomes the return.
func (l *asyncResult) event(ev wire.Event) error {
	if l.ended {
		return context.Canceled
	}
	switch ev.Kind {
	case wire.Data:
		return l.data(ev.Data)
	case wire.Progress:
		return l.send(false, underway(ev))
	case wire.Failure:
		if string(scan.Get(ev.Extra, "recoverable")) == "true" {
			return l.send(false, withStatus("pending", "error", ev.Err.JSON()))
		}
		return l.send(true, failed(ev.Err))
	}
	return nil
}

func (l *asyncResult) data(val json.RawMessage) error {
	state := status(val)
	switch {
	case state == "done" || state == "error":
		return l.send(true, val)
	case !l.job || isPromise(val):
		return l.send(false, withStatus("pending", "data", val))
	}
	before := l.held
	l.held = bytes.Clone(val)
	if before == nil {
		return nil
	}
	return l.send(false, withStatus("pending", "data", before))
}

func (l *asyncResult) send(final bool, result json.RawMessage) error {
	l.ended = l.ended || final
	return l.in.Emit(wire.Event{Kind: wire.Data, Final: final, Stream: l.stream, Data: result, Extra: l.extra})
}

// underway encodes a progress event as a pending result.
func underway(ev wire.Event) json.RawMessage {
	var o scan.Object
	o.Text("status", "pending")
	if f, err := strconv.ParseFloat(string(ev.Fraction), 64); err == nil {
		o.Add("progress", strconv.AppendFloat(nil, f*100, 'f', -1, 64))
	}
	o.SomeText("message", ev.Message)
	return o.End()
}

// withStatus returns val as a result object with the status s. An object that has a status stays unchanged. A value
// that is not an object is stored under the key that member names.
func withStatus(s, member string, val json.RawMessage) json.RawMessage {
	if status(val) != "" {
		return val
	}
	var o scan.Object
	o.Text("status", s)
	if scan.Type(val) != 'o' || scan.Get(val, "status") != nil {
		o.Add(member, val)
	} else {
		o.Members(val)
	}
	return o.End()
}

// failed encodes an error as the result of a return.
func failed(e *wire.Error) json.RawMessage {
	var o scan.Object
	o.Text("status", "error")
	o.Text("message", e.Message)
	o.Add("error", e.JSON())
	return o.End()
}
