package server

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"sync"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/scan"
)

// wrapped answers a call that wraps that of the hook which token names.
func (h *handler) wrapped(ctx context.Context, in *dialect.Inbound, rule *load.Wrapped, token json.RawMessage) (json.RawMessage, error) {
	sc := h.of(&in.Msg)
	name, ok := scan.Text(token)
	if ok {
		_, ok = h.r.Kind(name)
	}
	if !ok {
		unknown := load.Early{Code: wire.CodeNoMethod}
		if rule.Unknown != nil {
			unknown = *rule.Unknown
		}
		message := unknown.Message
		if message == "" {
			message = "method not found"
		}
		return nil, h.unknown(unknown.Code, message+": "+name, name)
	}
	params, err := rule.Params.First(in.Msg.Params, sc.Value)
	if err != nil {
		return nil, err
	}
	ctx, r := h.run(ctx, sc)
	defer h.ran(r)
	result, err := h.respond(ctx, &in.Msg, dialect.Request{Method: name, Params: params, ID: in.Msg.ID})
	sc.Method, sc.Result = name, result
	switch {
	case r.stopped.Load():
		return h.d.Page.Serve.Stop.Result.First(result, sc.Value)
	case err == nil && rule.Result != nil:
		return rule.Result.First(result, sc.Value)
	case err == nil, rule.Error == nil, ctx.Err() != nil:
		return result, err
	}
	e := wire.AsError(err)
	if e.Kind == dialect.ByPolicy {
		return nil, err
	}
	sc.Error = e.JSON()
	return rule.Error.First(sc.Error, sc.Value)
}

// A teller tells the peer of the progress and the logs of one call.
type teller struct {
	h     *handler
	ctx   context.Context
	m     *wire.Message
	token json.RawMessage // nil: nobody wants to hear of progress

	mu   sync.Mutex
	last float64 // progress that was told
	of   bool    // as fractions
}

func (h *handler) teller(ctx context.Context, m *wire.Message) *teller {
	t := &teller{h: h, ctx: ctx, m: m}
	if prog := h.d.Page.Serve.During.Token; prog != nil {
		if token, err := prog.First(m.Params, h.of(m).Value); err == nil && string(token) != "null" {
			t.token = token
		}
	}
	return t
}

// event tells one event, where the page has a word for it and the peer wants it.
func (t *teller) event(ev wire.Event) error {
	rule := &t.h.d.Page.Serve.During
	switch {
	case ev.Kind == wire.Log && rule.Log != nil:
		return t.say(rule.Log, ev, nil)
	case ev.Kind == wire.Data && rule.Items != nil:
		return t.say(rule.Items, ev, nil)
	case ev.Kind == wire.Progress && rule.Progress != nil && len(t.token) > 0:
		more, ok := t.rising(ev)
		if !ok {
			return nil
		}
		return t.say(rule.Progress, ev, more)
	}
	return nil
}

// step is what progress rises by where a hook tells something, but no higher fraction.
const step = 1e-6

// rising adds to a progress a number that is greater than that of the one before:
// fractions as they come, else how many there have been. ok is false for a fraction
// that is not greater and says nothing else.
func (t *teller) rising(ev wire.Event) (more []byte, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var o scan.Object
	fraction, err := strconv.ParseFloat(string(ev.Fraction), 64)
	switch given := err == nil && len(ev.Fraction) > 0; {
	case given && (t.of || t.last == 0) && (fraction > t.last || !t.of):
		t.last, t.of = fraction, true
	case given && ev.Message == "":
		return nil, false
	case t.of:
		t.last += step
	default:
		t.last++
	}
	o.Add("progress", rounded(t.last))
	if t.of {
		o.Int("total", 1)
	}
	return o.End(), true
}

// rounded returns a number as people write it.
func rounded(x float64) []byte {
	b := strconv.AppendFloat(nil, x, 'f', 6, 64)
	return bytes.TrimRight(bytes.TrimRight(b, "0"), ".")
}

// say sends a notification; more is an object whose members $event has, too.
func (t *teller) say(rule *load.Say, ev wire.Event, more []byte) error {
	sc := t.h.of(t.m)
	var o scan.Object
	o.Members(ev.AppendJSON(nil))
	o.Members(more)
	sc.Event, sc.Token = o.End(), t.token
	if ok, err := rule.When.Holds(sc.Event, sc.Value); err != nil || !ok {
		return err
	}
	params, err := rule.Params.First(sc.Event, sc.Value)
	if err != nil {
		return err
	}
	return t.h.caller.Notify(t.ctx, dialect.Op{Kind: dialect.Notify, Method: rule.Method, Params: params})
}
