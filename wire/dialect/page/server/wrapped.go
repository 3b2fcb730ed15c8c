package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"sync"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
)

// wrapped answers a call that wraps another one. token is the name of the hook for the inner call, as JSON.
func (h *handler) wrapped(ctx context.Context, in *dialect.Inbound, rule *load.Wrapped, token json.RawMessage) (json.RawMessage, error) {
	sc := h.of(&in.Msg)
	name, ok := scan.Text(token)
	if ok {
		_, ok = h.Responder.Kind(name)
	}
	if !ok {
		unknown := load.Early{Code: wire.CodeNoMethod}
		if rule.Unknown != nil {
			unknown = *rule.Unknown
		}
		message := cmp.Or(unknown.Message, "method not found")
		return nil, h.unknown(unknown.Code, message+": "+name, name)
	}
	params, err := rule.Params.First(in.Msg.Params, sc.Value)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	started := *sc // outcome changes sc
	r := &ongoing{order: in.Order, cancel: cancel, endedBy: func(m *wire.Message) (bool, error) {
		if !h.stops(m.Method) {
			return false, nil
		}
		return h.d.Page.Serve.Stop.When.Holds(m.Params, started.Value)
	}}
	h.add(r) // which ends ctx if the client has already ended the call
	defer h.remove(r)
	ctx, w, err := h.flow.Begin(ctx, in, name)
	if err != nil {
		return nil, err
	}
	req := dialect.Request{Method: name, Params: params, ID: in.Msg.ID, Wrapped: true, Vars: h.vars(&in.Msg)}
	result, err := h.outcome(ctx, &in.Msg, rule, req, sc, r, w)
	return ended(ctx, in, w, result, h.public(err))
}

// outcome runs the hook of a wrapped call in m and returns the response, as the dialect file defines it. w is nil if the call has not
// become work.
func (h *handler) outcome(ctx context.Context, m *wire.Message, rule *load.Wrapped, req dialect.Request, sc *program.Scope, r *ongoing, w Work) (json.RawMessage, error) {
	var unchecked error
	if rule.Checked != nil {
		req.Checked = func(result json.RawMessage) (checked json.RawMessage) {
			checked, unchecked = rule.Checked.First(result, sc.Value)
			return checked
		}
	}
	result, err := h.respondAs(ctx, m, req, w, rule)
	err = cmp.Or(err, unchecked)
	sc.Method, sc.Result = req.Method, result
	if described := h.Backend.Catalog().Method(req.Method); described != nil {
		sc.Schema = described.Result
	}
	switch {
	case r.ended.Load():
		return h.d.Page.Serve.Stop.Result.First(result, sc.Value)
	case err == nil && rule.Result != nil:
		return rule.Result.First(result, sc.Value)
	case err == nil, rule.Error == nil, ctx.Err() != nil:
		return result, err
	}
	e := wire.AsError(h.public(err))
	if e.Kind == dialect.ByPolicy {
		return nil, err
	}
	sc.Error = e.JSON()
	return rule.Error.First(sc.Error, sc.Value)
}

// respondAs answers a call with a hook. w is the call's work, or nil. The hook's last data is the result. Earlier data become items if the
// dialect file defines items for calls. If rule, which is nil unless the call is wrapped, makes the result, the last data also becomes an
// item.
func (h *handler) respondAs(ctx context.Context, m *wire.Message, r dialect.Request, w Work, rule *load.Wrapped) (json.RawMessage, error) {
	var failed error
	progress := h.newProgressSender(ctx, m)
	progress.work = w
	defer progress.end()
	kind, _ := h.Responder.Kind(r.Method)
	r.Stream = kind == catalog.Stream && h.d.Page.Serve.During.Items != nil
	data := callData{progress: progress, items: r.Stream, made: rule != nil && rule.Result != nil}
	r.Emit = progress.emitter(&failed, data.add)
	result, err := h.Responder.Respond(ctx, r)
	return data.end(result, cmp.Or(err, failed))
}

// callData collects the data of a hook that answers a call.
type callData struct {
	progress *progressSender
	items    bool // data become items
	made     bool // the last data is also an item
	last     json.RawMessage
}

func (d *callData) add(ev wire.Event) (err error) {
	switch {
	case d.items && d.made:
		err = d.progress.event(ev)
	case d.items:
		err = d.item(d.last)
	}
	d.last = slices.Clone(ev.Data)
	return err
}

func (d *callData) item(data json.RawMessage) error {
	if data == nil {
		return nil
	}
	return d.progress.event(wire.Event{Kind: wire.Data, Data: data})
}

// end returns the result of the call. If the call fails, the last data becomes an item.
func (d *callData) end(result json.RawMessage, err error) (json.RawMessage, error) {
	if result = scan.Or(result, d.last); d.items && d.last != nil {
		result = d.last
	}
	switch {
	case err != nil && d.items && !d.made:
		d.progress.h.warn(d.item(d.last))
	case err == nil && d.made && !d.items:
		err = d.item(result)
	case err == nil && d.progress.work != nil && result != nil:
		d.progress.work.Emitted(wire.Event{Kind: wire.Data, Data: result})
	}
	return result, err
}

// A progressSender sends the progress and the log lines of a call to the peer.
type progressSender struct {
	h     *handler
	ctx   context.Context
	m     *wire.Message
	token json.RawMessage // the client's token for progress; nil if the client did not request progress
	work  Work            // the work that the call has become, or nil

	mu     sync.Mutex // held while progress is sent
	sent   bool       // some progress was sent
	failed bool       // the begin message could not be sent
	last   float64    // the last value of the member progress
	of     bool       // last is a fraction of the whole, not a count
}

func (h *handler) newProgressSender(ctx context.Context, m *wire.Message) *progressSender {
	t := &progressSender{h: h, ctx: ctx, m: m}
	if prog := h.d.Page.Serve.During.Token; prog != nil {
		token, err := prog.First(m.Params, h.of(m).Value)
		if h.warn(err); err == nil && string(token) != "null" {
			t.token = token
		}
	}
	return t
}

// emitter returns a function for a hook's events: it passes data to data, stores an error in failed, and sends other events.
func (t *progressSender) emitter(failed *error, data func(wire.Event) error) func(wire.Event) error {
	return func(ev wire.Event) error {
		switch {
		case ev.Kind == wire.Data:
			return data(ev)
		case ev.Kind == wire.Failure && ev.Err != nil:
			*failed = ev.Err
			return nil
		}
		return t.event(ev)
	}
}

// event sends one event if the dialect file has a notification for it and the peer wants such events.
func (t *progressSender) event(ev wire.Event) error {
	rule := &t.h.d.Page.Serve.During
	if t.work != nil {
		t.work.Emitted(ev)
	}
	switch {
	case ev.Kind == wire.Log && rule.Log != nil:
		return t.say(rule.Log, ev, nil)
	case ev.Kind == wire.Data && rule.Items != nil:
		return t.say(rule.Items, ev, nil)
	case ev.Kind == wire.Progress && rule.Progress != nil && len(t.token) > 0:
		return t.progress(ev)
	}
	return nil
}

// progress sends progress, the first after the dialect file's message for the beginning, if there is one. If that message fails, no
// progress is sent.
func (t *progressSender) progress(ev wire.Event) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	rule, first := &t.h.d.Page.Serve.During, !t.sent
	more, ok := t.rising(ev)
	if !ok || t.failed {
		return nil
	}
	if first && rule.Begin != nil {
		if err := t.say(rule.Begin, ev, nil); err != nil {
			t.failed = true
			return err
		}
	}
	return t.say(rule.Progress, ev, more)
}

// end sends the dialect file's message for the end of progress if the one for the beginning was sent.
func (t *progressSender) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if rule := t.h.d.Page.Serve.During.End; t.sent && !t.failed && rule != nil {
		t.h.warn(t.say(rule, wire.Event{Kind: wire.Progress}, nil)) // this message has no details of its own
	}
}

// step is added to the last fraction if an event has no higher fraction, because protocols may require that progress increases.
const step = 1e-6

// rising returns the members progress and total for the next notification: the event's fraction if it is higher than the last one, and
// otherwise a slightly higher number. If there are no fractions, it counts the events from 0. ok is false if the event has neither a
// higher fraction nor a message; such an event is not sent. The caller holds the lock.
func (t *progressSender) rising(ev wire.Event) (more []byte, ok bool) {
	var o scan.Object
	fraction, err := strconv.ParseFloat(string(ev.Fraction), 64)
	given := err == nil && len(ev.Fraction) > 0
	counts := !t.of && t.last > 0
	switch {
	case given && !counts && (fraction > t.last || !t.sent):
		t.last, t.of = fraction, true
	case given && ev.Message == "":
		return nil, false
	case t.of, given && !counts:
		t.last, t.of = t.last+step, true
	case t.sent:
		t.last++
	}
	t.sent = true
	six := strconv.AppendFloat(nil, t.last, 'f', 6, 64) // decimal places, without trailing zeros
	o.Add("progress", bytes.TrimRight(bytes.TrimRight(six, "0"), "."))
	if t.of {
		o.Int("total", 1)
	}
	return o.End(), true
}

// say sends a notification. The program receives the event, with the members of more, as $event.
func (t *progressSender) say(rule *load.Say, ev wire.Event, more []byte) error {
	sc := t.h.of(t.m)
	var o scan.Object
	o.Members(ev.AppendJSON(nil))
	o.Members(more)
	sc.Event, sc.Token = o.End(), t.token
	params, ok, err := program.If(rule.When, rule.Params, sc.Event, sc.Value)
	if err != nil || !ok {
		return err
	}
	if t.work != nil {
		params = t.work.Mark(params)
	}
	_ = t.h.Caller.Notify(t.ctx, dialect.Op{Kind: dialect.Notify, Method: rule.Method, Params: params})
	return t.ctx.Err() // a failed Notify does not matter: a client that accepts one response receives nothing else
}
