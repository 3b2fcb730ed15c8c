package server

import (
	"cmp"
	"context"
	"encoding/json"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/scan"
)

// A stream is a local stream of items.
type stream struct {
	ongoing
	ctx   context.Context // the context of the hook
	in    *dialect.Inbound
	rule  *load.Subscribe
	serve load.Items
	scope *program.Scope // the variables of the request; Result is the response
}

// stream answers a request with the data of a hook. If rule.First is true, the first value is the response. All other
// values are items. The stream ends when the hook ends or the client ends it.
func (h *handler) stream(ctx context.Context, in *dialect.Inbound, r dialect.Request, name string, rule *load.Subscribe) (json.RawMessage, error) {
	ctx, cancel := context.WithCancel(ctx)
	s := &stream{ctx: ctx, in: in, rule: rule, serve: h.d.Page.Serve.Subscribe[name], scope: h.of(&in.Msg)}
	s.ongoing = ongoing{order: in.Order, stream: true, endedBy: s.isEndedBy, cancel: cancel}
	defer h.remove(&s.ongoing)
	if !rule.First {
		r.Begin = func() error { return h.open(s, nil) }
	}
	err := h.feed(s, r)
	switch {
	case in.Answered && ctx.Err() == nil:
		h.warn(err)
		return nil, h.over(s, err)
	case in.Answered:
		return nil, nil
	case err == nil:
		err = h.open(s, nil)
	}
	return nil, err
}

// feed runs a hook, and sends its data as the items of s. The first data opens s, unless r.Begin has opened it.
func (h *handler) feed(s *stream, r dialect.Request) error {
	progress := h.newProgressSender(s.ctx, &s.in.Msg)
	defer progress.end()
	var failed error
	emit := progress.emitter(&failed, func(ev wire.Event) error {
		if !s.in.Answered {
			return h.open(s, ev.Data)
		}
		return h.item(s, ev.Data)
	})
	r.Stream, r.Emit = true, func(ev wire.Event) error {
		if ev.Kind == wire.Failure && !s.in.Answered {
			return ev.Err
		}
		return emit(ev)
	}
	_, err := h.Responder.Respond(s.ctx, r)
	return cmp.Or(err, failed)
}

// open sends the response to the request for a stream: the first item, or the output of a program. If the program has no output, it
// sends nothing.
func (h *handler) open(s *stream, result json.RawMessage) error {
	s.scope.Result = result
	answered := s.rule.First || s.serve.Result == nil
	if !answered {
		answer, err := s.serve.Result.First(s.in.Msg.Params, s.scope.Value)
		if err != nil {
			return err
		}
		s.scope.Result, answered = answer, answer != nil
	}
	s.in.Answered = true
	h.add(&s.ongoing)
	h.started(s.in, s.scope)
	if !answered {
		return nil
	}
	return s.in.Emit(wire.Event{Kind: wire.Data, Data: s.scope.Result})
}

// item sends one item of a stream, in the form that the dialect file defines.
func (h *handler) item(s *stream, data json.RawMessage) (err error) {
	sc := *s.scope
	sc.Event = data
	params, method := data, s.rule.Item.Method
	if s.serve.Params != nil {
		if params, err = s.serve.Params.First(data, sc.Value); err != nil {
			return err
		}
	}
	if s.serve.Method != nil {
		name, err := s.serve.Method.First(data, sc.Value)
		if err != nil {
			return err
		}
		method = scan.String(name)
	}
	if prog := h.d.Page.Write.Event; prog != nil {
		sc.Method, sc.Params = cmp.Or(method, sc.Method), params
		return h.write(s, prog, &sc)
	}
	return h.Caller.Notify(s.ctx, dialect.Op{Kind: dialect.Notify, Method: method, Params: params, Extra: sc.Extra})
}

// over sends the client a message about the end of the stream if the dialect file defines one. err is the failure of the hook, or
// nil.
func (h *handler) over(s *stream, err error) error {
	w := &h.d.Page.Write
	switch {
	case err != nil && w.Event != nil: // items contain the id of the request, so an error response can end the stream
		return s.in.Emit(wire.Event{Kind: wire.Failure, Final: true, Err: wire.AsError(h.public(err))})
	case err == nil && w.End != nil:
		return h.write(s, w.End, s.scope)
	}
	return nil
}

// write sends the output of a program as a message that belongs to a stream. If the program has no output, it sends
// nothing.
func (h *handler) write(s *stream, prog load.Prog, sc *program.Scope) error {
	msg, err := prog.First(nil, sc.Value)
	if err != nil || msg == nil {
		return err
	}
	return s.in.Emit(wire.Event{Kind: wire.Data, Stream: s.in.Msg.ID, Data: msg})
}

// endedBy reports whether messages with that method end the streams of a rule.
func endedBy(rule *load.Subscribe, method string) bool {
	return rule.End != nil && (rule.End.Call == method || rule.End.Notify == method)
}

// ends ends the streams that a client's message refers to. It reports whether messages with this method end streams.
func (h *handler) ends(in *dialect.Inbound) (mine bool, err error) {
	for _, rule := range h.d.Page.Subscribe {
		mine = mine || endedBy(&rule, in.Msg.Method)
	}
	if !mine {
		return false, nil
	}
	return true, h.end(in, true)
}

// isEndedBy reports whether a client's message ends the stream.
func (s *stream) isEndedBy(m *wire.Message) (bool, error) {
	if !endedBy(s.rule, m.Method) {
		return false, nil
	}
	params, err := s.rule.End.Params.First(s.scope.Result, s.scope.Value)
	return scan.Equal(scan.OrNull(params), scan.OrNull(m.Params)), err
}
